//! The guest's code as QEMU translates it: instructions, blocks, and how far each block ran.
//!
//! Nothing here follows the guest from one block to the next: that is `follower`.
//!
//! - `decoder.rs`: whether an instruction calls, returns or may fail, and which calls count as none
//!   (those that fill the buffer of return addresses); leaves out one whose end is in another page
//! - `block.rs`: what the decoder says, added up for a block
//! - `block_counters.rs`: how far a block ran, by counters that the guest's code adds to
//! - `skipped_blocks.rs`: which blocks get no callback; `follower/skipped_code.rs` works out what
//!   ran in them
//! - `numbered_blocks.rs`: the blocks with a callback, by number

pub mod block;
pub mod block_counters;
pub mod decoder;
pub mod numbered_blocks;
pub mod skipped_blocks;
