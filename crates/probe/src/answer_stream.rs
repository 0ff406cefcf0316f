//! The stream of answers, one line each.

use std::io::Write;

use crate::error::{Context, Result};
use crate::protocol::Answer;
use crate::protocol::ascii_json::write_line;

/// The stream of answers.
pub struct AnswerStream(Box<dyn Write>);

impl AnswerStream {
    /// A stream that writes to `out`.
    pub fn new(out: Box<dyn Write>) -> Self {
        Self(out)
    }

    /// Writes one answer.
    pub fn write(&mut self, answer: &Answer) -> Result<()> {
        write_line(&mut *self.0, answer).context(|| "writing an answer".into())
    }
}
