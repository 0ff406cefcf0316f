//! The values of the kernel's own variables, read from its memory by `/proc/kcore`.
//!
//! A request by netlink has side effects: a process that asks audit for its state while the queue
//! is full sleeps for up to a minute, and takes a wake-up that was meant for another.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// Offsets in an ELF header: the start of the program headers, and their number.
const TABLE: usize = 32;
const COUNT: usize = 56;
const HEADER: usize = 64;
/// In a program header: its size, and the segment's offset in the file, address and length.
const ENTRY: usize = 56;
const OFFSET: usize = 8;
const ADDRESS: usize = 16;
const LENGTH: usize = 40;

/// The kernel's memory.
pub struct Kcore {
    file: File,
    /// Address, length, and file offset of each segment.
    segments: Vec<(u64, u64, u64)>,
}

impl Kcore {
    /// Opens it; `None` if the kernel has none, or denies access.
    #[must_use]
    pub fn open() -> Option<Self> {
        let file = File::open("/proc/kcore").ok()?;
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0).ok()?;
        let table = u64_at(&header, TABLE)?;
        let count = usize::from(u16::from_le_bytes(header.get(COUNT..COUNT + 2)?.try_into().ok()?));
        let mut entries = vec![0; count * ENTRY];
        file.read_exact_at(&mut entries, table).ok()?;
        let segments = entries
            .chunks_exact(ENTRY)
            .map(|entry| {
                let [memory, length, place] = [ADDRESS, LENGTH, OFFSET].map(|at| u64_at(entry, at));
                Some((memory?, length?, place?))
            })
            .collect::<Option<_>>()?;
        Some(Self { file, segments })
    }

    /// The 32 bits at an address.
    #[must_use]
    pub fn word(&self, address: u64) -> Option<u32> {
        let within = |&&(memory, length, _): &&(u64, u64, u64)| {
            address.checked_sub(memory).is_some_and(|ahead| ahead < length)
        };
        let (memory, _, place) = self.segments.iter().find(within)?;
        let mut word = [0; 4];
        self.file.read_exact_at(&mut word, place.checked_add(address - memory)?).ok()?;
        Some(u32::from_le_bytes(word))
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The addresses of the kernel's symbols of these names; `None` if one is hidden.
#[must_use]
pub fn addresses<const N: usize>(names: [&str; N]) -> Option<[u64; N]> {
    addresses_in(&fs::read_to_string("/proc/kallsyms").ok()?, names)
}

fn addresses_in<const N: usize>(text: &str, names: [&str; N]) -> Option<[u64; N]> {
    let mut found = [0; N];
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(address), Some(_), Some(name), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue; // a module's symbol has a fourth word
        };
        if let Some(index) = names.iter().position(|&wanted| wanted == name) {
            found[index] = u64::from_str_radix(address, 16).ok()?;
        }
    }
    found.iter().all(|&address| address != 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::{Kcore, addresses_in};

    const TEXT: &str = "\
ffffffff81000000 T _text
ffffffff82c0ffee b audit_queue
ffffffffc0123456 b audit_lost\t[module]
ffffffff82c01234 b audit_lost
";

    #[test]
    fn symbols_are_found_and_those_of_modules_are_not_taken_for_them() {
        let found = addresses_in(TEXT, ["audit_lost", "audit_queue"]);
        assert_eq!(found, Some([0xffff_ffff_82c0_1234, 0xffff_ffff_82c0_ffee]));
    }

    #[test]
    fn a_symbol_that_is_missing_or_hidden_is_none() {
        assert_eq!(addresses_in(TEXT, ["audit_queue", "nothing"]), None);
        let hidden = "0000000000000000 b audit_queue\n";
        assert_eq!(addresses_in(hidden, ["audit_queue"]), None);
    }

    #[test]
    fn an_address_that_is_nowhere_has_no_word() {
        if let Some(kcore) = Kcore::open() {
            assert_eq!(kcore.word(0), None);
            assert_eq!(kcore.word(u64::MAX), None);
        }
    }
}
