//! Child processes and their outputs, and the one loop in which the probe waits.
//!
//! Nothing may wait but by [`wait::wait`], which serves the background meanwhile.
//!
//! `child_process` is a program that is waited for, `outputs` both its outputs, and `output_pipe`
//! one of them, of which the beginning is kept. What a service prints is in `whole_system`.
//! `measured_program` is the other program, `hardcost-measured`: its file and the messages to it.
//! `process_tree` finds the descendants of a process. `job_timeout` limits the whole job.

pub mod child_process;
pub mod cpu_clocks;
pub mod job_timeout;
pub mod measured_program;
pub mod output_pipe;
pub mod outputs;
pub mod process_tree;
pub mod wait;
