//! What the kernel's command line asks of the probe. Words that begin with `hardcost.` are ours.

/// Asks for a stop before the job is read.
const SNAPSHOT: &str = "hardcost.snapshot";
/// Asks for answers by the serial line, although the kernel may allow the ports.
const SERIAL: &str = "hardcost.serial";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootLine {
    /// The machine is to stop before the job is read.
    pub stops_for_snapshot: bool,
    /// Answers are to go by the serial line.
    pub by_serial: bool,
}

impl BootLine {
    /// What the words of `/proc/cmdline` ask for.
    pub fn parse(text: &str) -> Self {
        let has = |wanted: &str| text.split_whitespace().any(|word| word == wanted);
        Self { stops_for_snapshot: has(SNAPSHOT), by_serial: has(SERIAL) }
    }
}

#[cfg(test)]
mod tests {
    use super::BootLine;

    #[test]
    fn only_whole_words_ask_for_something() {
        let none = BootLine { stops_for_snapshot: false, by_serial: false };
        assert_eq!(BootLine::parse("quiet hardcost.snapshots x.hardcost.serial\n"), none);
        let both = BootLine { stops_for_snapshot: true, by_serial: true };
        assert_eq!(BootLine::parse("hardcost.serial quiet hardcost.snapshot\n"), both);
    }
}
