//! The blocks with a callback, by their numbers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::code::block::{Block, BlockNumber};

/// All blocks. None is freed: QEMU may execute a block until it ends, and does not report when it
/// can't.
#[derive(Default)]
pub struct NumberedBlocks(Vec<&'static Block>);

impl NumberedBlocks {
    /// Adds a block, and gives it a number.
    pub fn add(&mut self, mut block: Block) -> BlockNumber {
        let number = BlockNumber::try_from(2 * (self.0.len() + 1)).unwrap_or(0);
        block.number = number;
        self.0.push(Box::leak(Box::new(block)));
        number
    }

    /// The block of that number.
    pub fn get(&self, number: BlockNumber) -> &'static Block {
        self.0[number as usize / 2 - 1]
    }
}
