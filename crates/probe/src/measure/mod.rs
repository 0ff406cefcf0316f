//! Measuring system calls and programs, and what makes the numbers repeat.
//!
//! Between the clock readings of a window nothing here may run that the window would count. The
//! operations of a window, and the moment when it begins, are in `crates/measured`.
//!
//! - `calls.rs`: the request to measure calls: empty windows, the most windows and operations,
//!   which windows the processor's counters see
//! - `command.rs`: the request to measure a program
//! - `measured_process.rs`: the process that does either: its user, its working directory (made
//!   again until its inode number fits), and the error where it is late
//! - `copies.rs`: further processes that make the same call; when they are surely in their loop
//! - `cpu_affinity.rs`: which processor the measured process and each of its copies gets
//! - `perf_counters.rs`: the processor's events that are counted, and in which groups
//! - `sched_batch.rs`: keeps processes from preempting each other
//! - `timer_ticks.rs`: where a program's runs begin beside the tick, and the ticks in each
//! - `perturbation.rs`: changes without a meaning, to average over: which, and how large

pub mod calls;
pub mod command;
pub mod copies;
pub mod cpu_affinity;
pub mod measured_process;
pub mod perf_counters;
pub mod perturbation;
pub mod sched_batch;
pub mod timer_ticks;
