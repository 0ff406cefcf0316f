//! The boot parameters for the probe: words of the kernel's command line that begin with
//! `hardcost.`.

use std::fs;

/// Stop before the job is read.
const SNAPSHOT: &str = "hardcost.snapshot";
/// Answer by the serial port, even if the kernel allows I/O ports.
const SERIAL: &str = "hardcost.serial";

/// Let systemd start the whole system.
const SYSTEMD: &str = "hardcost.init=systemd";
/// Run a process that keeps the processor from being idle.
const SPIN: &str = "hardcost.spin";
/// How many processors are measured, beside two others.
const PROCESSORS: &str = "hardcost.processors=";
/// The disk with the root: device and file system, separated by a comma.
const ROOT: &str = "hardcost.root=";
/// The disk with Linux's source, in the same form.
const TREE: &str = "hardcost.tree=";

/// A disk to be mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its device, such as `/dev/pmem0`.
    pub device: String,
    /// Its file system, as `mount` names it.
    pub file_system: String,
}

/// What starts a system's services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Init {
    /// The probe, those that the job names.
    #[default]
    Probe,
    /// systemd, all but those.
    Systemd,
}

/// The probe's boot parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootParameters {
    /// Whether to stop before the job is read.
    pub stops_for_snapshot: bool,
    /// Whether to answer by the serial port.
    pub by_serial: bool,
    /// Whether the processor must never be idle during the job.
    pub spins: bool,
    /// How many processors are measured, where there are several.
    pub processors: Option<usize>,
    /// What starts the system.
    pub init: Init,
    /// The disk with the root; none: the root is in memory.
    pub root: Option<Disk>,
    /// The disk with Linux's source.
    pub tree: Option<Disk>,
}

impl BootParameters {
    /// The running kernel's boot parameters.
    pub fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/cmdline").unwrap_or_default())
    }

    /// Whether the guest is a whole system with services: only that has its root on a disk.
    pub const fn runs_services(&self) -> bool {
        self.root.is_some()
    }

    /// The parameters in the text of `/proc/cmdline`.
    pub fn parse(text: &str) -> Self {
        let has = |wanted: &str| text.split_whitespace().any(|word| word == wanted);
        let value = |key: &str| {
            text.split_whitespace().filter_map(|word| word.strip_prefix(key)).next_back()
        };
        let disk = |key: &str| {
            let (device, kind) = value(key)?.split_once(',')?;
            Some(Disk { device: device.into(), file_system: kind.into() })
        };
        Self {
            stops_for_snapshot: has(SNAPSHOT),
            by_serial: has(SERIAL),
            spins: has(SPIN),
            processors: value(PROCESSORS).and_then(|number| number.parse().ok()),
            init: if has(SYSTEMD) { Init::Systemd } else { Init::Probe },
            root: disk(ROOT),
            tree: disk(TREE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BootParameters, Disk};

    #[test]
    fn only_whole_words_ask_for_something() {
        let none = BootParameters::default();
        assert_eq!(BootParameters::parse("quiet hardcost.snapshots x.hardcost.serial\n"), none);
        let both = BootParameters { stops_for_snapshot: true, by_serial: true, ..none };
        assert_eq!(BootParameters::parse("hardcost.serial quiet hardcost.snapshot\n"), both);
    }

    #[test]
    fn a_disk_is_a_device_and_a_kind_of_file_system() {
        let disk = |device: &str| Some(Disk { device: device.into(), file_system: "ext4".into() });
        let parameters =
            BootParameters::parse("hardcost.root=/dev/pmem0p1,ext4 hardcost.tree=/dev/pmem1,ext4");
        assert_eq!((parameters.root, parameters.tree), (disk("/dev/pmem0p1"), disk("/dev/pmem1")));
        assert_eq!(BootParameters::parse("hardcost.root=/dev/pmem0 root=x").root, None);
    }
}
