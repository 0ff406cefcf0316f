//! The memory that calls refer to, and their arguments as the kernel receives them.
//!
//! The daemon and its workers lay out the same calls at the same addresses, so both know each
//! argument.

use std::collections::HashMap;

use anyhow::{Result, bail, ensure};

use crate::job::{Arch, Argument, Call, Content};

/// The first address: below 4 GiB, so that 32-bit calls can point there too.
pub const START: usize = 0x2000_0000;
const ALIGNMENT: usize = 16;
/// The largest size, in bytes.
const LIMIT: usize = 1 << 20;
/// The number of arguments that a record shows.
const SHOWN: usize = 4;

/// What distinguishes a call's record from all others: entry, number and the first arguments.
pub type CallSignature = (Arch, i64, [u64; SHOWN]);

/// The calls' memory and arguments.
#[derive(Debug, Default)]
pub struct Layout {
    /// The bytes from `START` on.
    pub bytes: Vec<u8>,
    /// The arguments of each call.
    pub arguments: Vec<[usize; 6]>,
}

impl Layout {
    /// Lays out the memory of all calls.
    pub fn of(calls: &[Call]) -> Result<Self> {
        let mut layout = Self::default();
        for call in calls {
            let mut all = [0; 6];
            ensure!(call.arguments.len() <= all.len(), "a call with more than six arguments");
            for (slot, argument) in all.iter_mut().zip(&call.arguments) {
                *slot = layout.value(argument, call.arch)?;
            }
            layout.arguments.push(all);
        }
        ensure!(layout.bytes.len() <= LIMIT, "the calls need more than {LIMIT} bytes");
        Ok(layout)
    }

    /// The call of each signature. No two may be equal: their records would look the same.
    pub fn signatures(&self, calls: &[Call]) -> Result<HashMap<CallSignature, usize>> {
        let mut signatures = HashMap::new();
        for (index, (call, arguments)) in calls.iter().zip(&self.arguments).enumerate() {
            let mut shown = [0; SHOWN];
            for (slot, &argument) in shown.iter_mut().zip(arguments) {
                let argument = argument as u64;
                *slot = if call.arch == Arch::B32 { argument & 0xffff_ffff } else { argument };
            }
            if let Some(other) = signatures.insert((call.arch, call.number, shown), index) {
                bail!("the records of calls {other} and {index} look the same");
            }
        }
        Ok(signatures)
    }

    /// The value of an argument for the kernel; lays out what it points to.
    fn value(&mut self, argument: &Argument, arch: Arch) -> Result<usize> {
        let content = match argument {
            Argument::Number(number) => {
                return Ok(usize::from_ne_bytes(number.to_ne_bytes()));
            }
            Argument::Address(content) => content,
        };
        let bytes = match content {
            Content::Text(text) => [text.as_bytes(), &[0]].concat(),
            Content::Bytes(bytes) => bytes.clone(),
            Content::Space(size) => vec![0; *size],
            Content::Words(words) => {
                let width = if arch == Arch::B32 { 4 } else { 8 };
                let mut bytes = Vec::new();
                for word in words {
                    bytes.extend(&self.value(word, arch)?.to_le_bytes()[..width]);
                }
                bytes
            }
        };
        let address = START + self.bytes.len();
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        Ok(address)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arch, Argument, Call, Content, Layout, START};

    fn call(arch: Arch, arguments: Vec<Argument>) -> Call {
        Call {
            worker: 0,
            arch,
            number: 1,
            arguments,
            child: false,
            closes: false,
            before: vec![],
            after: vec![],
        }
    }

    #[test]
    fn words_have_the_size_of_the_architecture() {
        let words = || {
            let text = Argument::Address(Content::Text("ab".into()));
            Argument::Address(Content::Words(vec![text, Argument::Number(-1)]))
        };
        let calls = [call(Arch::B32, vec![words()]), call(Arch::B64, vec![words()])];
        let layout = Layout::of(&calls).expect("small");
        assert_eq!(&layout.bytes[..4], b"ab\0\0");
        assert_eq!(layout.arguments[0][0], START + 16);
        assert_eq!(layout.bytes[16..24], [0, 0, 0, 0x20, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(layout.arguments[1][0], START + 48);
        assert_eq!(layout.bytes[48..56], (START as u64 + 32).to_le_bytes());
        assert_eq!(layout.bytes[56..64], [0xff; 8]);
    }

    #[test]
    fn calls_whose_records_look_the_same_are_refused() {
        let same = [call(Arch::B64, vec![]), call(Arch::B64, vec![])];
        assert!(Layout::of(&same).expect("small").signatures(&same).is_err());
        let other = [call(Arch::B64, vec![]), call(Arch::B32, vec![])];
        assert_eq!(Layout::of(&other).expect("small").signatures(&other).expect("differ").len(), 2);
    }
}
