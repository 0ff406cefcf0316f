//! Where answers go.

use std::io::Write;

use crate::ascii::write_line;
use crate::error::{Context, Result};
use crate::protocol::Answer;

/// Where answers go.
pub struct Out(Box<dyn Write>);

impl Out {
    /// Answers that go to `out`.
    pub fn new(out: Box<dyn Write>) -> Self {
        Self(out)
    }

    /// Says one thing.
    pub fn say(&mut self, answer: &Answer) -> Result<()> {
        write_line(&mut *self.0, answer).context(|| "writing an answer".into())
    }
}
