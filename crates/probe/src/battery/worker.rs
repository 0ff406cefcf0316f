//! The processes that make the calls, from both sides.
//!
//! A worker is told the index of a call by four bytes and answers with eight, the result.

use std::ffi::{CString, c_int};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{setsid, umask};
use serde::{Deserialize, Serialize};

use super::gate;
use super::job::{Call, Identity};
use super::memory::{Layout, START};
use crate::error::{Context, Result};
use crate::ports;
use crate::sys::{self, word};

/// The verb by which a worker is started.
pub const VERB: &str = "battery";
/// Where a worker has its socket: far above what calls open.
const SOCKET: c_int = 1000;
/// What calls may refer to by descriptor begins here.
const HELD: c_int = 1001;
/// What calls open lies from here to below the socket.
const FIRST_OPENED: usize = 3;

/// What a worker is told first.
#[derive(Debug, Deserialize, Serialize)]
struct Order {
    identity: Identity,
    calls: Vec<Call>,
}

/// A worker, seen from the probe. It ends when this goes away.
pub struct Worker {
    socket: UnixStream,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    pub fn start(identity: &Identity, calls: &[Call]) -> Result<Self> {
        let (near, far) = UnixStream::pair().context(|| "a pair of sockets".into())?;
        spawn(identity, &far).context(|| format!("starting worker {}", identity.pid))?;
        drop(far);
        let order = Order { identity: identity.clone(), calls: calls.to_vec() };
        let mut line = serde_json::to_vec(&order)?;
        line.push(b'\n');
        let mut worker = Self { socket: near };
        worker.socket.write_all(&line).context(|| "instructing a worker".into())?;
        match worker.hear()? {
            0 => Ok(worker),
            number => {
                let number = i32::try_from(number).unwrap_or(libc::EIO);
                Err(io::Error::from_raw_os_error(number))
                    .context(|| format!("worker {identity:?} is not what it is to be"))
            }
        }
    }

    /// Has a call made, and returns its result: what the kernel answered, or the status of the
    /// child that made it.
    pub fn make(&mut self, call: usize) -> Result<i64> {
        let index = u32::try_from(call).map_err(io::Error::other).context(|| "a call".into())?;
        self.socket.write_all(&index.to_ne_bytes()).context(|| "telling a worker".into())?;
        self.hear()
    }

    fn hear(&mut self) -> Result<i64> {
        let mut answer = [0; 8];
        self.socket.read_exact(&mut answer).context(|| "hearing from a worker".into())?;
        Ok(i64::from_ne_bytes(answer))
    }
}

/// Starts the program of a worker under its process id, with `socket` as its standard input.
fn spawn(identity: &Identity, socket: &UnixStream) -> io::Result<()> {
    let program = CString::new(identity.program.as_str())?;
    let verb = CString::new(VERB)?;
    let arguments = [program.as_ptr(), verb.as_ptr(), ptr::null()];
    let environment = [ptr::null::<libc::c_char>()];
    // SAFETY: all zeroes is a valid value.
    let mut how: libc::clone_args = unsafe { std::mem::zeroed() };
    how.exit_signal = u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?;
    how.set_tid = &raw const identity.pid as u64;
    how.set_tid_size = 1;
    let size = size_of::<libc::clone_args>();
    // SAFETY: without shared memory and with no stack of its own, the child goes on on a copy.
    let child = unsafe { sys::syscall(libc::SYS_clone3, [&raw const how as usize, size]) };
    match child {
        Ok(0) => {}
        Ok(_) => return Ok(()),
        Err(fault) => return Err(io::Error::other(fault.to_string())),
    }
    // SAFETY: the child makes system calls alone; the strings outlive them.
    unsafe {
        let _ = sys::syscall(libc::SYS_dup2, [word(socket.as_raw_fd()), 0]);
        let arguments = [program.as_ptr() as usize, arguments.as_ptr() as usize];
        let all = [arguments[0], arguments[1], environment.as_ptr() as usize];
        let _ = sys::syscall(libc::SYS_execve, all);
    }
    sys::exit(127)
}

/// Is a worker, over the socket that is its standard input, until the probe closes that.
pub fn run() -> c_int {
    let Ok((mut socket, order)) = take_order() else {
        eprintln!("hardcost-probe {VERB} is for hardcost-probe's own use");
        return 2;
    };
    let prepared = prepare(&order);
    let told =
        prepared.as_ref().map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |_| 0);
    let sent = socket.write_all(&i64::from(told).to_ne_bytes());
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

/// Takes the socket to its place and reads what to do.
fn take_order() -> Result<(UnixStream, Order)> {
    let moved = rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), SOCKET)
        .context(|| "standard input".into())?;
    let null = File::options().read(true).write(true).open("/dev/null");
    let null = null.context(|| "/dev/null".into())?;
    rustix::stdio::dup2_stdin(&null).context(|| "/dev/null".into())?;
    rustix::stdio::dup2_stdout(&null).context(|| "/dev/null".into())?;
    rustix::stdio::dup2_stderr(&null).context(|| "/dev/null".into())?;
    drop(null);
    close_from(FIRST_OPENED);
    let socket = UnixStream::from(moved);
    let mut line = Vec::new();
    let reader = socket.try_clone().context(|| "a socket".into())?;
    BufReader::new(reader).read_until(b'\n', &mut line).context(|| "reading".into())?;
    let order = serde_json::from_slice(&line)?;
    close_from(FIRST_OPENED);
    Ok((socket, order))
}

/// Closes what calls opened.
fn close_from(first: usize) {
    let below_socket = word(SOCKET) - 1;
    // SAFETY: nothing of ours lies there.
    let _ = unsafe { sys::syscall(libc::SYS_close_range, [first, below_socket]) };
}

/// Becomes who it is to be, with the calls' memory in place.
fn prepare(order: &Order) -> io::Result<Layout> {
    let layout = Layout::of(&order.calls).map_err(|error| io::Error::other(error.to_string()))?;
    let size = layout.bytes.len().max(1);
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a fresh mapping where nothing else lies, and as many bytes as it has.
    unsafe {
        let memory = mmap_anonymous(START as *mut _, size, protection, flags)?;
        ptr::copy_nonoverlapping(layout.bytes.as_ptr(), memory.cast(), layout.bytes.len());
    }
    assume(&order.identity)?;
    Ok(layout)
}

fn assume(identity: &Identity) -> io::Result<()> {
    ports::release();
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
    for (number, arguments) in steps {
        // SAFETY: reads the groups alone.
        unsafe { sys::syscall(number, arguments) }.map_err(|_| io::ErrorKind::PermissionDenied)?;
    }
    Ok(())
}

/// Opens what calls refer to by descriptor, from `HELD` on: a datagram socket of the Internet, one
/// of the system's own, and what is named; for writing too where that can be.
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

/// Makes a call and leaves things as they were.
fn make(call: &Call, arguments: &[usize; 6]) -> i64 {
    let result = if call.child {
        in_child(call, arguments)
    } else {
        // SAFETY: the calls are chosen so that they leave this process as it is.
        unsafe { gate::call(call.arch, call.number, arguments) }
    };
    if call.closes {
        close_from(FIRST_OPENED);
    }
    result
}

/// Has a child make a call, and returns the child's wait status: 0 where the call succeeded.
fn in_child(call: &Call, arguments: &[usize; 6]) -> i64 {
    // SAFETY: the child makes the call and ends.
    match unsafe { sys::fork() } {
        Ok(0) => {
            // SAFETY: whatever the call does happens to the child alone.
            let result = unsafe { gate::call(call.arch, call.number, arguments) };
            sys::exit(if result < 0 { result.to_ne_bytes()[0].wrapping_neg() } else { 0 })
        }
        Ok(child) => sys::wait(child).map_or(-1, i64::from),
        Err(_) => -1,
    }
}
