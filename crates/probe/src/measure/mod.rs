//! Measuring system calls and programs, and what makes the numbers repeat.
//!
//! Between the clock readings of a window nothing here may run that the window would count.
//!
//! `calls` and `command` are the requests to measure a system call and a program.
//! `measured_process` is the process that does either, `copies` are further ones beside it.
//! `sched_batch` keeps processes from preempting each other, `cpu_affinity` from changing
//! processors. `timer_ticks` counts the ticks within a program's run. `perturbation` makes changes
//! without a meaning, to average over.

pub mod calls;
pub mod command;
pub mod copies;
pub mod cpu_affinity;
pub mod measured_process;
pub mod perf_counters;
pub mod perturbation;
pub mod sched_batch;
pub mod timer_ticks;
