//! When a recording began.

/// The time-stamp counter when the recording began; `None` without one.
#[derive(Clone, Copy, Debug)]
pub struct RecordingEpoch(pub Option<u64>);

impl RecordingEpoch {
    /// A reading of the time-stamp counter, as ticks since then; `None` without a recording.
    pub fn ticks(self, reading: u64) -> Option<u64> {
        self.0.map(|epoch| reading.wrapping_sub(epoch))
    }
}
