//! Several processors under QEMU's instruction counter.
//!
//! QEMU runs the processors in turns. Processor 0 has the clock, on 1 runs nothing (who comes right
//! after 0 would get other turns than the rest), and the measured processors are those from 2 on:
//! everything else runs there. See docs/processors.md.
//!
//! - `processors.rs`: which they are; keeps the kernel's own threads on the measured ones
//! - `spinner.rs`: a process for each processor that counts whenever nothing else wants to run
//! - `turns.rs`: how long a turn is
//! - `moment.rs`: goes on at a given moment, to the instruction
//! - `session.rs`: starts all that, calibrates the clock, and says what became of a span of time

pub mod moment;
pub mod processors;
pub mod session;
mod spinner;
pub mod turns;
