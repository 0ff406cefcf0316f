//! The end of a guest, and the report to the host of why it ends early.
//!
//! After a failure reported here no request is done any more.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::OnceLock;

use crate::error::Result;
use crate::guest::boot_parameters::BootParameters;
use crate::guest::host_connection::{self, HostConnection};
use crate::protocol::Answer;
use crate::protocol::ascii_json::write_line;

/// The connection to the host, once it is open: a fault may have to be reported at any time.
static CONNECTION: OnceLock<HostConnection> = OnceLock::new();

/// Opens the connection to the host.
pub fn open_connection(boot_parameters: &BootParameters) -> Result<&'static HostConnection> {
    let opened = HostConnection::open(boot_parameters)?;
    Ok(CONNECTION.get_or_init(|| opened))
}

/// Reports what is not one request's failure: to the host, and on the console, since the connection
/// may not be open yet.
#[expect(clippy::disallowed_methods, reason = "the connection may not be open yet")]
pub fn report_failure(message: String) {
    let _ = writeln!(io::stderr(), "hardcost-probe: {message}");
    send_error(&Answer::Error { request: None, message, logs: BTreeMap::new() });
}

/// Reports a request's failure for a session that hangs, and ends the machine.
pub fn abort_job(request: usize, message: String, logs: BTreeMap<String, String>) -> ! {
    send_error(&Answer::Error { request: Some(request), message, logs });
    end_machine()
}

/// Sends the host the reason, and the end of the session.
fn send_error(error: &Answer) {
    if let Some(mut connection) = CONNECTION.get() {
        let _ = write_line(&mut connection, error);
        let _ = write_line(&mut connection, &Answer::End);
    }
}

/// Ends the machine, in the first of three ways that works.
pub fn end_machine() -> ! {
    match CONNECTION.get() {
        Some(connection) => connection.end(),
        None => host_connection::restart(),
    }
    loop {
        // SAFETY: touches no memory.
        unsafe { libc::pause() };
    }
}
