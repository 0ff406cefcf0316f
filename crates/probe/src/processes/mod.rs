//! Child processes and their outputs, and the one loop in which the probe waits.
//!
//! Nothing may wait but by [`wait::wait`], which serves the background meanwhile.
//!
//! - `wait.rs`: the loop, and deadlines
//! - `child_process.rs`: a program that is waited for: its environment and end
//! - `outputs.rs`: both outputs of a program, and how much of them is reported
//! - `output_pipe.rs`: one output, of which the beginning is kept; `whole_system/service_log.rs`
//!   keeps the end of a service's
//! - `measured_program.rs`: the file of `hardcost-measured`, and the messages to it
//! - `process_tree.rs`: a process and its descendants, and ending them
//! - `cpu_clocks.rs`: how long processes and threads have run
//! - `job_timeout.rs`: the time limit of the whole job, half a day unless the sender says otherwise

pub mod child_process;
pub mod cpu_clocks;
pub mod job_timeout;
pub mod measured_program;
pub mod output_pipe;
pub mod outputs;
pub mod process_tree;
pub mod wait;
