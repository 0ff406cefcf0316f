//! Call stacks, and the tree of functions below which instructions are counted.
//!
//! Nothing here calls QEMU or reads the guest's memory. Which instruction changes a stack is
//! decided in `code/decoder.rs` and `follower/stack_changes.rs`.
//!
//! `call_stack.rs` is the stack of one process: what a call, a return, an interrupt and a switch
//! change in it. `frames.rs` has the frames of all stacks, and the entries into the kernel below
//! which they begin. `call_tree.rs` has the functions below their callers, with what was counted.

pub mod call_stack;
pub mod call_tree;
pub mod frames;
