//! Call stacks, and the tree of functions below which instructions are counted.
//!
//! Nothing here calls QEMU or reads the guest's memory.
//!
//! `call_stack` is the stack of one process. `frames` has the frames of all stacks, and `call_tree`
//! the functions below their callers, with what was counted.

pub mod call_stack;
pub mod call_tree;
pub mod frames;
