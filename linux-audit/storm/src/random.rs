//! Reproducible random numbers: `SplitMix64`.

/// A source of random numbers; the same seed gives the same numbers.
pub struct Random(u64);

impl Random {
    /// A source for one process in one round.
    pub fn new(seed: u64, role: u64, round: u64) -> Self {
        let mut random = Self(seed ^ role.rotate_left(24) ^ round.rotate_left(48));
        random.next();
        random
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.next() % u64::from(limit)).unwrap_or(0)
    }

    /// Whether an event with a probability of `percent` per cent happens.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let last = u32::try_from(from.len()).unwrap_or(u32::MAX);
        from[self.below(last) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let numbers = |seed| {
            let mut random = Random::new(seed, 1, 2);
            [random.next(), random.next()]
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
    }

    #[test]
    fn a_number_is_below_its_limit() {
        let mut random = Random::new(1, 1, 1);
        assert!((0..1000).all(|_| random.below(3) < 3));
    }
}
