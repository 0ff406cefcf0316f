//! The guest's code as QEMU translates it: instructions, blocks, and how far each block ran.
//!
//! Nothing here follows the guest from one block to the next: that is `follower`.
//!
//! `decoder` says of each instruction whether it calls, returns or may fail, and leaves out one
//! whose end lies in another page. `block` adds up what it says, and `block_counters` finds how far
//! a block ran. `skipped_blocks` decides which blocks get no callback; `numbered_blocks` finds the
//! others by their numbers.

pub mod block;
pub mod block_counters;
pub mod decoder;
pub mod numbered_blocks;
pub mod skipped_blocks;
