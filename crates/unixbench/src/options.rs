//! The command line.

use std::path::PathBuf;

use crate::clock::Clock;
use crate::loop_limit::LoopLimit;
use crate::test_names::Test;

/// What the program understands.
pub const USAGE: &str = "\
usage: hardcost-unixbench TEST (--loops N | --seconds N) [--copies N|cpus]
                          [--clock tsc|monotonic|parallel] [--folder DIRECTORY]

tests: dhrystone whetstone execl copy-256 copy-1024 copy-4096 pipe context-switch process
       shell-1 shell-8 system-call

A loop of whetstone is a hundred thousand Whetstone instructions; a loop of a copy is one block,
and its operations are KiB; a loop of any other test is one operation. There may be as many copies
as `cpus`. Files are made in the directory (default: the present one) and removed.
";

/// Most copies of a test at once.
const MOST_COPIES: u64 = 1024;

/// The command line's values, checked to be possible.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// Which test.
    pub test: Test,
    /// How much of it.
    pub limit: LoopLimit,
    /// In how many concurrent processes.
    pub copies: usize,
    /// The clock to measure with.
    pub clock: Clock,
    /// The directory for its files.
    pub folder: PathBuf,
}

impl Options {
    /// Parses the words after the program's name, or returns what is wrong with them.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let mut words = words.iter().map(String::as_str);
        let name = words.next().ok_or("no test is named")?;
        let test = Test::named(name).ok_or_else(|| format!("there is no test '{name}'"))?;
        let mut limit = None;
        let (mut copies, mut clock, mut folder) = (1, Clock::Monotonic, PathBuf::from("."));
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
            match option {
                "--loops" => limit = Some(LoopLimit::Loops(number(value)?)),
                "--seconds" => limit = Some(LoopLimit::Seconds(number(value)?)),
                "--copies" if value == "cpus" => copies = processors()?,
                "--copies" => copies = number(value)?,
                "--clock" => {
                    clock = Clock::named(value)
                        .ok_or_else(|| format!("there is no clock '{value}'"))?;
                }
                "--folder" => folder = value.into(),
                _ => return Err(format!("there is no option '{option}'")),
            }
        }
        if copies > MOST_COPIES {
            return Err(format!("{copies} copies are more than {MOST_COPIES}"));
        }
        let limit = limit.ok_or("how much: --loops or --seconds is missing")?;
        let copies = usize::try_from(copies).map_err(|error| error.to_string())?;
        Ok(Self { test, limit, copies, clock, folder })
    }
}

/// The number of processors that this process may use.
fn processors() -> Result<u64, String> {
    let number = std::thread::available_parallelism().map_err(|error| error.to_string())?;
    u64::try_from(number.get()).map_err(|error| error.to_string())
}

/// A positive number.
fn number(word: &str) -> Result<u64, String> {
    word.parse().ok().filter(|&number| number > 0).ok_or_else(|| format!("'{word}' is no number"))
}

#[cfg(test)]
mod tests {
    use super::{Options, USAGE};
    use crate::clock::Clock;
    use crate::loop_limit::LoopLimit;
    use crate::test_names::Test;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_said_is_done_and_the_rest_has_its_default() {
        let options = parse("pipe --loops 7 --copies 3 --clock tsc --folder /x").unwrap();
        assert_eq!((options.test, options.limit), (Test::Pipe, LoopLimit::Loops(7)));
        assert_eq!((options.copies, options.clock), (3, Clock::Tsc));
        assert_eq!(options.folder.to_str(), Some("/x"));
        let options = parse("execl --seconds 2").unwrap();
        assert_eq!((options.limit, options.copies), (LoopLimit::Seconds(2), 1));
        assert!(parse("execl --seconds 2 --copies cpus").unwrap().copies > 0);
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_the_word_at_fault() {
        for (line, fault) in [
            ("", "no test"),
            ("pip --loops 1", "'pip'"),
            ("pipe", "--loops"),
            ("pipe --loops", "--loops needs"),
            ("pipe --loops 0", "'0'"),
            ("pipe --loops -1", "'-1'"),
            ("pipe --loops 1 --copies 9999", "9999"),
            ("pipe --loops 1 --clock sun", "'sun'"),
            ("pipe --loops 1 --fast 1", "'--fast'"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(fault), "{line}: {error}");
        }
    }

    #[test]
    fn the_usage_names_every_test() {
        for test in Test::ALL {
            assert!(USAGE.split_whitespace().any(|word| word == test.name()), "{}", test.name());
        }
    }
}
