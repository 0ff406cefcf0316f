//! What is requested of a run, as words of the kernel's command line: `storm.NAME=VALUE`.

/// Durations, the random seed, and other parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// How many rounds: each once with enough memory, and once while allocations fail.
    pub rounds: u64,
    /// How long each half of a round lasts, in seconds.
    pub seconds: u64,
    pub seed: u64,
    /// How memory fails when the very first rule is added.
    pub first: First,
    /// Whether to print rules and decisions in full, for use on another kernel.
    pub in_full: bool,
    /// Addresses of the kernel's counts of rules and of signal rules; 0 if unknown.
    pub counters: [u64; 2],
    /// Address of its count of rules missing from its index; 0 if it has no index.
    pub missing: u64,
}

/// How memory fails when the first rule is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// It does not.
    Plenty,
    /// One allocation fails.
    One,
    /// All fail after some bytes.
    All,
}

impl Options {
    pub fn parse(line: &str) -> Self {
        let word = |name: &str| {
            let mut found = line.split_ascii_whitespace().filter_map(|word| {
                word.strip_prefix("storm.")?.strip_prefix(name)?.strip_prefix('=')
            });
            found.next_back().unwrap_or("")
        };
        let number = |name, otherwise| word(name).parse().unwrap_or(otherwise);
        let address = |name| u64::from_str_radix(word(name), 16).unwrap_or(0);
        Self {
            rounds: number("rounds", 1),
            seconds: number("seconds", 10),
            seed: number("seed", 1),
            first: match word("first") {
                "one" => First::One,
                "all" => First::All,
                _ => First::Plenty,
            },
            in_full: word("full") == "1",
            counters: [address("rules"), address("signals")],
            missing: address("missing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{First, Options};

    #[test]
    fn words_of_the_boot_line_are_read_and_others_are_not() {
        let read = Options::parse("quiet storm.rounds=3 storm.first=all storm.rules=ff rounds=9");
        assert_eq!((read.rounds, read.first, read.counters), (3, First::All, [255, 0]));
        assert_eq!((read.seconds, read.seed), (10, 1));
    }
}
