//! The running boot, and a boot with further words on its command line.
//!
//! Nothing here may make such a boot the machine's default.
//!
//! `one_time_boot` is the other boot, from its order to the way back. `grub` writes the entry for
//! it. `running_boot` reads about the boot that runs, and reboots.

pub mod grub;
pub mod one_time_boot;
pub mod running_boot;
