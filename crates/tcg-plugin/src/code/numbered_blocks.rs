//! The blocks that are heard of, by their numbers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::decode::{Block, BlockNumber};

/// All blocks. They stay as long as QEMU may execute them, which nobody says.
#[derive(Default)]
pub struct Blocks(Vec<&'static Block>);

impl Blocks {
    /// Takes a block, and gives it a number.
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
