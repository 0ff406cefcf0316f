//! The processor's event counters for processes, such as instructions and cycles, by
//! `perf_event_open`.

use std::collections::BTreeMap;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::process::getpid;

use crate::error::{Context, Error, Result};
use crate::protocol::CallCounters;

/// An event that can be counted.
struct Event {
    name: &'static str,
    kind: u32,
    config: u64,
    /// What is not counted, as the kernel's flags.
    without: u64,
}

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const NOT_PROGRAMS: u64 = 1 << 4;
const NOT_KERNEL: u64 = 1 << 5;
const NOT_HYPERVISOR: u64 = 1 << 6;

/// All events. The last ones the kernel counts itself, also on machines without counters.
const EVENTS: [Event; 7] = [
    Event { name: "cycles", kind: HARDWARE, config: 0, without: 0 },
    Event { name: "cycles:u", kind: HARDWARE, config: 0, without: NOT_KERNEL | NOT_HYPERVISOR },
    Event {
        name: "instructions:u",
        kind: HARDWARE,
        config: 1,
        without: NOT_KERNEL | NOT_HYPERVISOR,
    },
    Event {
        name: "instructions:k",
        kind: HARDWARE,
        config: 1,
        without: NOT_PROGRAMS | NOT_HYPERVISOR,
    },
    Event { name: "task-clock", kind: SOFTWARE, config: 1, without: 0 },
    Event { name: "page-faults", kind: SOFTWARE, config: 2, without: 0 },
    Event { name: "context-switches", kind: SOFTWARE, config: 3, without: 0 },
];

/// `struct perf_event_attr` in its first version; the kernel takes the missing fields for 0.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    address: u64,
}

/// Reads the two times and the group's counts at once.
const READ_FORMAT: u64 = 1 | 2 | 8;
const CLOSE_ON_EXEC: usize = 8;
const ANY_PROCESSOR: i32 = -1;
const ENABLE: libc::Ioctl = 0x2400;
const DISABLE: libc::Ioctl = 0x2401;
/// Enables and disables the whole group.
const GROUP: usize = 1;

/// The counters of processes, and of all that these start. For each process they are a group, which
/// the processor counts as a whole or not at all.
pub struct PerfCounters {
    names: Vec<String>,
    /// For each process a counter for each name; the first leads the group.
    groups: Vec<Vec<OwnedFd>>,
}

impl PerfCounters {
    /// Opens counters of processes. They do not count yet.
    pub fn of(names: &[String], processes: &[i32]) -> Result<Self> {
        let events = names.iter().map(|name| find(name)).collect::<Result<Vec<_>>>()?;
        let open = |&process: &i32| open_group(&events, process);
        let groups = processes.iter().map(open).collect::<io::Result<_>>();
        let groups = groups.context(|| format!("counting {}", names.join(", ")))?;
        Ok(Self { names: names.to_vec(), groups })
    }

    /// Starts counting.
    pub fn start(&self) -> Result<()> {
        self.switch(ENABLE)
    }

    /// Stops counting after so many windows, and returns the counts.
    pub fn stop(self, windows: u32) -> Result<CallCounters> {
        self.switch(DISABLE)?;
        let mut counts: BTreeMap<_, _> = self.names.iter().map(|name| (name.clone(), 0)).collect();
        let (mut enabled, mut running) = (0, 0);
        for leader in self.leaders() {
            let read = read_group(leader, self.names.len());
            let read = read.context(|| "reading the processor's counters".into())?;
            enabled += read.enabled;
            running += read.running;
            for (name, count) in self.names.iter().zip(read.counts) {
                counts.entry(name.clone()).and_modify(|sum| *sum += count);
            }
        }
        Ok(CallCounters { windows, counts, enabled, running })
    }

    fn leaders(&self) -> impl Iterator<Item = &OwnedFd> {
        self.groups.iter().filter_map(|group| group.first())
    }

    fn switch(&self, how: libc::Ioctl) -> Result<()> {
        self.leaders().try_for_each(|leader| {
            // SAFETY: touches no memory.
            match unsafe { libc::ioctl(leader.as_raw_fd(), how, GROUP) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()).context(|| "counting".into()),
            }
        })
    }
}

/// The error number with which the kernel refuses to count events of this process and its children;
/// `None`: it counts them.
pub fn refusal(names: &[String]) -> Result<Option<i32>> {
    match PerfCounters::of(names, &[getpid().as_raw_nonzero().get()]) {
        Ok(_) => Ok(None),
        Err(Error::System { source, .. }) if source.raw_os_error().is_some() => {
            Ok(source.raw_os_error())
        }
        Err(error) => Err(error),
    }
}

fn find(name: &str) -> Result<&'static Event> {
    let event = EVENTS.iter().find(|event| event.name == name);
    event.ok_or_else(|| Error::Other(format!("no event is named {name:?}")))
}

/// Opens a counter for each event, all in the group of the first.
fn open_group(events: &[&Event], process: i32) -> io::Result<Vec<OwnedFd>> {
    let mut group: Vec<OwnedFd> = Vec::new();
    for event in events {
        let counter = open(event, process, group.first())?;
        group.push(counter);
    }
    Ok(group)
}

fn open(event: &Event, process: i32, leader: Option<&OwnedFd>) -> io::Result<OwnedFd> {
    let size = u32::try_from(size_of::<Attributes>()).map_err(io::Error::other)?;
    // The others in its group count when the leader does.
    let disabled = if leader.is_none() { DISABLED } else { 0 };
    let attributes = Attributes {
        kind: event.kind,
        size,
        config: event.config,
        period: 0,
        sample_type: 0,
        read_format: READ_FORMAT,
        flags: disabled | INHERIT | event.without,
        wakeup: 0,
        breakpoint: 0,
        address: 0,
    };
    let group = leader.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: reads the attributes alone, which are as long as they say.
    let opened = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            process,
            ANY_PROCESSOR,
            group,
            CLOSE_ON_EXEC,
        )
    };
    match i32::try_from(opened) {
        // SAFETY: it is open, and has no other owner.
        Ok(counter) if counter >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(counter) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The counts of a group.
struct Read {
    /// Nanoseconds in which it should have counted.
    enabled: u64,
    /// Nanoseconds in which it did.
    running: u64,
    counts: Vec<u64>,
}

fn read_group(leader: &OwnedFd, size: usize) -> io::Result<Read> {
    let mut bytes = vec![0; (3 + size) * size_of::<u64>()];
    let count = rustix::io::read(leader, &mut bytes[..])?;
    let words = bytes[..count].chunks_exact(size_of::<u64>());
    let words: Vec<u64> =
        words.filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?))).collect();
    match words[..] {
        [_, enabled, running, ref counts @ ..] if counts.len() == size => {
            Ok(Read { enabled, running, counts: counts.to_vec() })
        }
        _ => Err(io::Error::other("the kernel gave fewer counts than asked for")),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::Pid;

    use super::{PerfCounters, refusal};

    fn names(words: &str) -> Vec<String> {
        words.split('+').map(str::to_owned).collect()
    }

    /// Counts a shell's work, from after its start to before its end.
    fn counted(words: &str, script: &str) -> crate::protocol::CallCounters {
        use std::io::{Read, Write};
        let mut shell = Command::new("sh")
            .args(["-c", &format!("echo up; read go; {script}; echo done; read end")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let (mut input, mut output) =
            (shell.stdin.take().expect("a pipe"), shell.stdout.take().expect("a pipe"));
        output.read_exact(&mut [0; 3]).expect("it is up");
        let pid = Pid::from_child(&shell).as_raw_nonzero().get();
        let counters = PerfCounters::of(&names(words), &[pid]).expect("opened");
        counters.start().expect("counts");
        input.write_all(b"go\n").expect("it reads");
        output.read_exact(&mut [0; 5]).expect("it is done");
        let found = counters.stop(9).expect("counted");
        drop(input);
        shell.wait().expect("ended");
        found
    }

    #[test]
    fn a_process_and_those_that_it_starts_are_counted_in_a_group() {
        let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let words = "task-clock+page-faults+context-switches";
        let (none, own, forked) =
            (counted(words, ":"), counted(words, work), counted(words, &format!("({work})")));
        for some in [&own, &forked] {
            assert!(some.counts["task-clock"] > 3 * none.counts["task-clock"]);
            assert_eq!(some.windows, 9);
            assert_eq!((some.counts.len(), some.running), (3, some.enabled));
            // A process's processor time is the time in which it was counted.
            assert!(some.enabled >= some.counts["task-clock"] / 2, "{some:?}");
        }
        assert!(forked.counts["page-faults"] > own.counts["page-faults"]);
    }

    #[test]
    fn what_the_kernel_does_not_count_is_refused_with_its_number() {
        assert_eq!(refusal(&names("task-clock")).expect("known"), None);
        assert!(refusal(&names("sheep")).is_err());
        let found = refusal(&names("cycles+instructions:u+instructions:k")).expect("known");
        // Some processors can count, others can't.
        let absent = [libc::ENOENT, libc::EOPNOTSUPP, libc::ENODEV, libc::EACCES, libc::EPERM];
        assert!(found.is_none_or(|number| absent.contains(&number)), "{found:?}");
    }
}
