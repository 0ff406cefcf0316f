//! The probe as process 1 of a guest: start, stop for the snapshot, connection to the host, and
//! end.
//!
//! Only `init` starts a session. None of this runs on a machine that others use.
//!
//! - `init.rs`: the start up to the session: mounts, standard streams, loopback
//! - `boot_parameters.rs`: the words `hardcost.*` of the command line
//! - `entropy.rs`: random numbers for a kernel without a source of them
//! - `host_connection.rs`: how the job comes in and answers go out, by ports, serial line or file
//! - `qemu_ports.rs`: QEMU's devices for that; `fw_cfg.rs`: the format of files that QEMU passes
//! - `snapshot_stop.rs`: stops the machine with all timers silenced, and how long to wait before
//! - `event_timer.rs`: the HPET; `device_registers.rs`: registers by their physical address
//! - `parallel/`: several processors: their clock, their turns, who runs where
//! - `busy_loop.rs`: keeps the processor from being idle
//! - `root_disk.rs`: modules, a root on a disk, when it is writable; the program for `exec`
//! - `selinux.rs`: the policy, labels and domain of a Debian guest
//! - `systemd.rs`: hands over to systemd; which units are masked
//! - `shutdown.rs`: the end, and the report of why it comes early

pub mod boot_parameters;
pub mod busy_loop;
mod device_registers;
pub mod entropy;
mod event_timer;
pub mod fw_cfg;
pub mod host_connection;
pub mod init;
pub mod parallel;
pub mod qemu_ports;
pub mod root_disk;
pub mod selinux;
pub mod shutdown;
pub mod snapshot_stop;
pub mod systemd;
