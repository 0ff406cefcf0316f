//! The running boot, and a boot with further words on its command line.
//!
//! Nothing here may make such a boot the machine's default.
//!
//! - `one_time_boot.rs`: the other boot, from its order to the way back; its words (`panic=30`),
//!   its time limits, and the logs of a boot that failed
//! - `grub.rs`: the text of the entry that is booted once, copied from the machine's own (GRUB's
//!   files and `loader/entries`), and which of GRUB's folders and file systems are known
//! - `running_boot.rs`: the running boot's command line and uptime, and rebooting

pub mod grub;
pub mod one_time_boot;
pub mod running_boot;
