//! Lines on the guest's console, which the host reads. Each begins with `storm:`.

/// Writes a line to the console, at once.
pub fn say(message: &str) {
    let line = format!("storm: {message}\n");
    // SAFETY: reads the line.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
}
