//! The line to the host, and the last words on it when a guest has to end.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::OnceLock;

use crate::ascii::write_line;
use crate::bootline::BootLine;
use crate::error::Result;
use crate::line::{self, Line};
use crate::protocol::Answer;

/// The connection to the host, once it is open: a fault may have to be reported at any time.
static LINE: OnceLock<Line> = OnceLock::new();

/// Opens the line to the host.
pub fn open_line(boot_line: &BootLine) -> Result<&'static Line> {
    let opened = Line::open(boot_line)?;
    Ok(LINE.get_or_init(|| opened))
}

/// Reports what is not one request's failure: to the host, and on the console, which is what is
/// left where there is no line to the host, or nobody who listens yet.
#[expect(clippy::disallowed_methods, reason = "the console is what is left where nobody listens")]
pub fn fail(message: String) {
    let _ = writeln!(io::stderr(), "hardcost-probe: {message}");
    tell(&Answer::Error { request: None, message, logs: BTreeMap::new() });
}

/// Reports a request's failure in place of a session that hangs, and ends the machine.
pub fn give_up(request: usize, message: String, logs: BTreeMap<String, String>) -> ! {
    tell(&Answer::Error { request: Some(request), message, logs });
    end()
}

/// Tells the host why all is over.
fn tell(error: &Answer) {
    if let Some(mut line) = LINE.get() {
        let _ = write_line(&mut line, error);
        let _ = write_line(&mut line, &Answer::End);
    }
}

/// Ends the machine, in the first of three ways that works.
pub fn end() -> ! {
    match LINE.get() {
        Some(line) => line.end(),
        None => line::end_without_line(),
    }
    loop {
        // SAFETY: touches no memory.
        unsafe { libc::pause() };
    }
}
