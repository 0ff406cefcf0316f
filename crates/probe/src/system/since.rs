//! Since when a watch goes on.

/// What the time-stamp counter said when the watch began; `None` without one.
#[derive(Clone, Copy, Debug)]
pub struct Since(pub Option<u64>);

impl Since {
    /// A reading of the time-stamp counter as ticks since then; `None` without a watch.
    pub fn ticks(self, reading: u64) -> Option<u64> {
        self.0.map(|epoch| reading.wrapping_sub(epoch))
    }
}
