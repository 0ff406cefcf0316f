//! What the kernel's command line asks of the probe. Words that begin with `hardcost.` are ours.

use std::fs;

/// Asks for a stop before the job is read.
const SNAPSHOT: &str = "hardcost.snapshot";
/// Asks for answers by the serial line, although the kernel may allow the ports.
const SERIAL: &str = "hardcost.serial";

/// Has systemd start the whole system.
const SYSTEMD: &str = "hardcost.init=systemd";
/// Asks for a process that keeps the processor from being idle.
const SPIN: &str = "hardcost.spin";
/// The disk that holds the root: its device and its kind of file system, with a comma between.
const ROOT: &str = "hardcost.root=";
/// The disk that holds Linux's source, in the same form.
const TREE: &str = "hardcost.tree=";

/// A disk to be mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its device, such as `/dev/pmem0`.
    pub device: String,
    /// What `mount` calls the kind of its file system.
    pub file_system: String,
}

/// What starts a system's services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Init {
    /// The probe, those that its job names.
    #[default]
    Probe,
    /// systemd, all but those.
    Systemd,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootLine {
    /// The machine is to stop before the job is read.
    pub stops_for_snapshot: bool,
    /// Answers are to go by the serial line.
    pub by_serial: bool,
    /// The processor is never to be idle during the job.
    pub spins: bool,
    /// What starts the system.
    pub init: Init,
    /// The root is on this disk, not in memory.
    pub root: Option<Disk>,
    /// This disk holds Linux's source.
    pub tree: Option<Disk>,
}

impl BootLine {
    /// What the running kernel's command line asks for.
    pub fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/cmdline").unwrap_or_default())
    }

    /// Whether the guest is a whole system, in which services run: only that has a disk for a root.
    pub const fn runs_services(&self) -> bool {
        self.root.is_some()
    }

    /// What the words of `/proc/cmdline` ask for.
    pub fn parse(text: &str) -> Self {
        let has = |wanted: &str| text.split_whitespace().any(|word| word == wanted);
        let disk = |key: &str| {
            let words = text.split_whitespace();
            let (device, kind) =
                words.filter_map(|word| word.strip_prefix(key)).next_back()?.split_once(',')?;
            Some(Disk { device: device.into(), file_system: kind.into() })
        };
        Self {
            stops_for_snapshot: has(SNAPSHOT),
            by_serial: has(SERIAL),
            spins: has(SPIN),
            init: if has(SYSTEMD) { Init::Systemd } else { Init::Probe },
            root: disk(ROOT),
            tree: disk(TREE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BootLine, Disk};

    #[test]
    fn only_whole_words_ask_for_something() {
        let none = BootLine::default();
        assert_eq!(BootLine::parse("quiet hardcost.snapshots x.hardcost.serial\n"), none);
        let both = BootLine { stops_for_snapshot: true, by_serial: true, ..none };
        assert_eq!(BootLine::parse("hardcost.serial quiet hardcost.snapshot\n"), both);
    }

    #[test]
    fn a_disk_is_a_device_and_a_kind_of_file_system() {
        let disk = |device: &str| Some(Disk { device: device.into(), file_system: "ext4".into() });
        let line = BootLine::parse("hardcost.root=/dev/pmem0p1,ext4 hardcost.tree=/dev/pmem1,ext4");
        assert_eq!((line.root, line.tree), (disk("/dev/pmem0p1"), disk("/dev/pmem1")));
        assert_eq!(BootLine::parse("hardcost.root=/dev/pmem0 root=x").root, None);
    }
}
