//! An interner: equal values get one number.
//!
//! It keeps hashes and numbers only. The caller keeps the values in a list.

use core::hash::{Hash, Hasher};

use hashbrown::HashTable;

/// The numbers of the values in a list that the caller keeps.
#[derive(Default)]
pub struct Interner(HashTable<Known>);

/// A value's hash, and its number.
#[derive(Clone, Copy)]
struct Known {
    mixed: u32,
    number: u32,
}

impl Known {
    fn hash(self) -> u64 {
        u64::from(self.mixed).wrapping_mul(FACTOR)
    }
}

impl Interner {
    /// The number of a value. A value without one gets `next`. `is` says whether the value of a
    /// number equals this one.
    pub fn intern(&mut self, value: impl Hash, next: u32, is: impl Fn(u32) -> bool) -> u32 {
        let mut mixer = Mixer(0);
        value.hash(&mut mixer);
        let known = Known { mixed: mixer.mixed(), number: next };
        let is_alike = |other: &Known| other.mixed == known.mixed && is(other.number);
        let found = self.0.entry(known.hash(), is_alike, |other| other.hash()).or_insert(known);
        found.get().number
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// An odd number whose bits are spread: 2^64 by the golden ratio.
pub const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A fast hash. No input is chosen by an attacker to make it slow.
struct Mixer(u64);

impl Mixer {
    fn mixed(&self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.mix(byte.into());
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word.unsigned_abs() as u64); // the discriminant of an enum
    }
}

#[cfg(test)]
mod tests {
    use super::Interner;
    use alloc::vec::Vec;

    #[test]
    fn equal_values_have_one_number() {
        let mut numbers = Interner::default();
        let mut all: Vec<(u32, u64)> = Vec::new();
        for round in 0..3 {
            for part in 0..5_000 {
                let value = (part % 7, u64::from(part) << 40);
                let next = u32::try_from(all.len()).expect("few");
                let number = numbers.intern(value, next, |number| all[number as usize] == value);
                assert_eq!(number, part, "in round {round}");
                if number == next {
                    all.push(value);
                }
            }
        }
        numbers.clear();
        assert_eq!(numbers.intern((1_u32, 1_u64), 9, |_| false), 9);
    }
}
