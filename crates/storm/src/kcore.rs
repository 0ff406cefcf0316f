//! Numbers of the running kernel's own, read out of its memory by `/proc/kcore`.

use std::fs::File;
use std::os::unix::fs::FileExt;

// Of an ELF file: where the program headers begin, and how many there are; of each of these: the
// segment's place in the file and in memory, and its length.
const TABLE: usize = 32;
const COUNT: usize = 56;
const HEADER: usize = 64;
const ENTRY: usize = 56;
const OFFSET: usize = 8;
const ADDRESS: usize = 16;
const LENGTH: usize = 40;

/// The 32 bits at an address of the kernel's; `None` where it keeps them to itself.
pub fn word(address: u64) -> Option<u32> {
    let file = File::open("/proc/kcore").ok()?;
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0).ok()?;
    let count = u16::from_le_bytes(header[COUNT..COUNT + 2].try_into().ok()?);
    let mut entries = vec![0; usize::from(count) * ENTRY];
    file.read_exact_at(&mut entries, u64_at(&header, TABLE)?).ok()?;
    let place = entries.chunks_exact(ENTRY).find_map(|entry| {
        let ahead = address.checked_sub(u64_at(entry, ADDRESS)?)?;
        (ahead < u64_at(entry, LENGTH)?).then_some(u64_at(entry, OFFSET)? + ahead)
    })?;
    let mut word = [0; 4];
    file.read_exact_at(&mut word, place).ok()?;
    Some(u32::from_le_bytes(word))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
