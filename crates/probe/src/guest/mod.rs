//! The probe as process 1 of a guest: start, stop for the snapshot, connection to the host, and
//! end.
//!
//! Only `init` starts a session. None of this runs on a machine that others use.
//!
//! `init` is the start, up to the session. `host_connection` is how the job comes in and answers go
//! out: `qemu_ports` has QEMU's devices for it, and `fw_cfg` the format of files that QEMU passes.
//! `snapshot_stop` stops the machine, `busy_loop` keeps its processor busy. `root_disk`, `selinux`
//! and `systemd` are for guests with a root on a disk. `shutdown` is the end, and the report of why
//! it comes early.

pub mod boot_parameters;
pub mod busy_loop;
pub mod entropy;
pub mod fw_cfg;
pub mod host_connection;
pub mod init;
pub mod qemu_ports;
pub mod root_disk;
pub mod selinux;
pub mod shutdown;
pub mod snapshot_stop;
pub mod systemd;
