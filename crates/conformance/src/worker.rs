//! The processes that make the calls: the daemon's side ([`Worker`]) and the worker's ([`run`]).
//!
//! The daemon sends the index of a call in four bytes, and the worker answers with the result in
//! eight.

use std::ffi::{CString, c_int};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::time::Duration;

use anyhow::{Context, Result};
use hardcost_linux::syscall_entry::by_syscall;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{setsid, umask};
use serde::{Deserialize, Serialize};

use crate::argument_memory::{Layout, START};
use crate::job::{Call, Identity};
use crate::syscall_entry;

/// The verb that starts a worker.
pub const VERB: &str = "worker";
/// The descriptor of a worker's socket: far above those that calls open.
const SOCKET: c_int = 1000;
/// The first descriptor that calls may refer to.
const HELD: c_int = 1001;
/// How long a worker may take to make a call; none of them waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first descriptor that calls open; the last is below the socket.
const FIRST_OPENED: libc::c_uint = 3;

/// The first message to a worker.
#[derive(Debug, Deserialize, Serialize)]
struct Order {
    identity: Identity,
    calls: Vec<Call>,
}

/// A worker, seen from the daemon. The worker ends when this is dropped.
pub struct Worker {
    socket: UnixStream,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    pub fn start(identity: &Identity, calls: &[Call]) -> Result<Self> {
        let (near, far) = UnixStream::pair().context("a pair of sockets")?;
        spawn(identity, &far).with_context(|| format!("starting worker {}", identity.pid))?;
        drop(far);
        let order = Order { identity: identity.clone(), calls: calls.to_vec() };
        let mut line = serde_json::to_vec(&order)?;
        line.push(b'\n');
        near.set_read_timeout(Some(PATIENCE)).context("a pair of sockets")?;
        let mut worker = Self { socket: near };
        worker.socket.write_all(&line).context("instructing a worker")?;
        match worker.receive()? {
            0 => Ok(worker),
            number => {
                let number = i32::try_from(number).unwrap_or(libc::EIO);
                Err(io::Error::from_raw_os_error(number))
                    .with_context(|| format!("worker {identity:?} is not what it is to be"))
            }
        }
    }

    /// Has a call made, and returns its result: what the kernel answered, or the status of the
    /// child that made it.
    pub fn make(&mut self, call: usize) -> Result<i64> {
        let index = u32::try_from(call).map_err(io::Error::other).context("a call")?;
        self.socket.write_all(&index.to_ne_bytes()).context("writing to a worker")?;
        self.receive()
    }

    fn receive(&mut self) -> Result<i64> {
        let mut answer = [0; 8];
        self.socket.read_exact(&mut answer).context("hearing from a worker")?;
        Ok(i64::from_ne_bytes(answer))
    }
}

/// Starts the program of a worker under its process id, with `socket` as its standard input. It is
/// a child of this process's parent, whose number is the same in every guest.
fn spawn(identity: &Identity, socket: &UnixStream) -> io::Result<()> {
    let program = CString::new(identity.program.as_str())?;
    let verb = CString::new(VERB)?;
    let arguments = [program.as_ptr(), verb.as_ptr(), ptr::null()];
    let environment = [ptr::null::<libc::c_char>()];
    // SAFETY: all zeroes is a valid value.
    let mut how: libc::clone_args = unsafe { std::mem::zeroed() };
    how.flags = u64::try_from(libc::CLONE_PARENT).map_err(io::Error::other)?;
    how.set_tid = &raw const identity.pid as u64;
    how.set_tid_size = 1;
    let asked = [&raw const how as usize, size_of::<libc::clone_args>(), 0, 0, 0, 0];
    // SAFETY: the child shares no memory and has no stack of its own, so it continues on a copy.
    match unsafe { by_syscall(libc::SYS_clone3, &asked) } {
        0 => {}
        refused if refused < 0 => return Err(error(refused)),
        _ => return Ok(()),
    }
    // SAFETY: the child makes system calls alone; the strings outlive them.
    unsafe {
        libc::dup2(socket.as_raw_fd(), 0);
        libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
        libc::_exit(127)
    }
}

/// The error in the kernel's negative answer.
fn error(answer: i64) -> io::Error {
    i32::try_from(-answer).map_or_else(io::Error::other, io::Error::from_raw_os_error)
}

/// Does a worker's work, over the socket that is its standard input, until the daemon closes that.
pub fn run() -> c_int {
    let Ok((mut socket, order)) = take_order() else {
        eprintln!("{VERB} is for this program's own use");
        return 2;
    };
    let prepared = prepare(&order);
    let outcome =
        prepared.as_ref().map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |_| 0);
    let sent = socket.write_all(&i64::from(outcome).to_ne_bytes());
    let (Ok(layout), Ok(())) = (prepared, sent) else {
        return 1;
    };
    let mut index = [0; 4];
    while socket.read_exact(&mut index).is_ok() {
        let index = u32::from_ne_bytes(index) as usize;
        let (Some(call), Some(arguments)) = (order.calls.get(index), layout.arguments.get(index))
        else {
            return 1;
        };
        let result = make(call, arguments);
        if socket.write_all(&result.to_ne_bytes()).is_err() {
            return 1;
        }
    }
    0
}

/// Moves the socket to its descriptor and reads the order.
fn take_order() -> Result<(UnixStream, Order)> {
    let moved =
        rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), SOCKET).context("standard input")?;
    let null = File::options().read(true).write(true).open("/dev/null");
    let null = null.context("/dev/null")?;
    rustix::stdio::dup2_stdin(&null).context("/dev/null")?;
    rustix::stdio::dup2_stdout(&null).context("/dev/null")?;
    rustix::stdio::dup2_stderr(&null).context("/dev/null")?;
    drop(null);
    close_from(FIRST_OPENED);
    let socket = UnixStream::from(moved);
    let mut line = Vec::new();
    let reader = socket.try_clone().context("a socket")?;
    BufReader::new(reader).read_until(b'\n', &mut line).context("reading")?;
    let order = serde_json::from_slice(&line)?;
    close_from(FIRST_OPENED);
    Ok((socket, order))
}

/// Closes what calls opened.
fn close_from(first: libc::c_uint) {
    // SAFETY: no value of this process owns a descriptor in this range.
    unsafe { libc::close_range(first, SOCKET.unsigned_abs() - 1, 0) };
}

/// Takes on the worker's identity, with the calls' memory in place.
fn prepare(order: &Order) -> io::Result<Layout> {
    let layout = Layout::of(&order.calls).map_err(|error| io::Error::other(error.to_string()))?;
    let size = layout.bytes.len().max(1);
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping where there is none yet, and as many bytes as it has.
    unsafe {
        let memory = mmap_anonymous(START as *mut _, size, protection, flags)?;
        ptr::copy_nonoverlapping(layout.bytes.as_ptr(), memory.cast(), layout.bytes.len());
    }
    assume(&order.identity)?;
    Ok(layout)
}

fn assume(identity: &Identity) -> io::Result<()> {
    umask(0o022.into());
    setsid()?;
    if let Some(auid) = identity.auid {
        fs::write("/proc/self/loginuid", auid.to_string())?;
    }
    let [uid, gid] = [identity.uid, identity.gid].map(|ids| ids.map(|id| id as usize));
    let groups = identity.groups.as_ptr() as usize;
    let steps = [
        (libc::SYS_setgroups, [identity.groups.len(), groups, 0]),
        (libc::SYS_setresgid, gid),
        (libc::SYS_setfsgid, [identity.fsgid.unwrap_or(identity.gid[1]) as usize, 0, 0]),
        (libc::SYS_setresuid, uid),
        (libc::SYS_setfsuid, [identity.fsuid.unwrap_or(identity.uid[1]) as usize, 0, 0]),
        (libc::SYS_personality, [identity.personality as usize, 0, 0]),
    ];
    open_held(&identity.held)?;
    for (number, [first, second, third]) in steps {
        // SAFETY: reads the groups alone.
        match unsafe { by_syscall(number, &[first, second, third, 0, 0, 0]) } {
            refused if (-4095..0).contains(&refused) => return Err(error(refused)),
            _ => {}
        }
    }
    Ok(())
}

/// Opens what calls refer to by descriptor, from `HELD` on: a datagram socket of the Internet, a
/// Unix datagram socket, and the named files, for writing too where that is allowed.
fn open_held(paths: &[String]) -> io::Result<()> {
    let mut next = HELD;
    let mut hold = |opened: OwnedFd| -> io::Result<()> {
        std::mem::forget(rustix::io::fcntl_dupfd_cloexec(&opened, next)?);
        next += 1;
        Ok(())
    };
    hold(socket(AddressFamily::INET, SocketType::DGRAM, None)?)?;
    hold(socket(AddressFamily::UNIX, SocketType::DGRAM, None)?)?;
    for path in paths {
        let writable = File::options().read(true).write(true).open(path);
        hold(writable.or_else(|_| File::open(path))?.into())?;
    }
    Ok(())
}

/// Makes a call, and closes what it opened if the job says so.
fn make(call: &Call, arguments: &[usize; 6]) -> i64 {
    let result = if call.child {
        in_child(call, arguments)
    } else {
        // SAFETY: the calls are chosen so that they leave this process as it is.
        unsafe { syscall_entry::call(call.arch, call.number, arguments) }
    };
    if call.closes {
        close_from(FIRST_OPENED);
    }
    result
}

/// Has a child make a call, and returns the child's wait status: 0 where the call succeeded.
fn in_child(call: &Call, arguments: &[usize; 6]) -> i64 {
    // SAFETY: the child shares no memory and has no stack of its own, so it continues on a copy; it
    // makes the call and ends.
    let child = unsafe { by_syscall(libc::SYS_clone, &[libc::SIGCHLD as usize, 0, 0, 0, 0, 0]) };
    if child == 0 {
        // SAFETY: whatever the call does happens to the child alone.
        let result = unsafe { syscall_entry::call(call.arch, call.number, arguments) };
        let status = if result < 0 { result.to_ne_bytes()[0].wrapping_neg() } else { 0 };
        // SAFETY: ends the process, and touches no memory.
        unsafe { libc::_exit(status.into()) }
    }
    let Ok(child) = libc::pid_t::try_from(child) else { return -1 };
    let mut status = 0;
    // SAFETY: writes to `status` alone. If the child could not be made there is none to wait for.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    if ended == child { status.into() } else { -1 }
}
