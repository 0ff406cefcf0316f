//! The name of the running process, read from the guest's memory.
//!
//! Each processor's data has a pointer to the `task_struct` of its process (`current_task`), which
//! holds the name. The name's offset depends on the kernel: it is where the first process of all is
//! called `swapper`.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::symbols::Symbols;

/// Where the kernel maps all memory, and its own image, unless a symbol says otherwise.
const ALL_MEMORY: u64 = 0xffff_8880_0000_0000;
const IMAGE: u64 = 0xffff_ffff_8000_0000;
/// The largest offset of the name in a `task_struct`.
const LARGEST: usize = 16 << 10;
/// The size of a pointer, in bytes.
const POINTER: u64 = 8;
const FIRST: &[u8] = b"swapper";
/// The longest name, in bytes.
const LONGEST: usize = 15;

/// Reads memory at a physical address; whether that worked.
pub type Read = fn(u64, &mut [u8]) -> bool;

/// Where to find names.
pub struct ProcessNames {
    read: Read,
    /// Where the kernel maps all memory.
    memory: u64,
    /// The address of each processor's pointer to its process.
    current: Vec<u64>,
    /// The offset of the name in a `task_struct`.
    offset: u64,
}

impl ProcessNames {
    /// Finds the addresses for so many processors; `None` if a symbol is missing.
    pub fn find(symbols: &Symbols, read: Read, processors: usize) -> Option<Self> {
        let mut names = Self { read, memory: ALL_MEMORY, current: Vec::new(), offset: 0 };
        if let Some(address) = symbols.data("page_offset_base") {
            names.memory = names.number(address)?;
        }
        let own = symbols.data("current_task").or_else(|| symbols.data("pcpu_hot"))?;
        let offsets = symbols.data("__per_cpu_offset");
        for processor in 0..processors as u64 {
            names.current.push(if own >= IMAGE {
                own
            } else {
                names.number(offsets? + POINTER * processor)?.wrapping_add(own)
            });
        }
        let mut first = vec![0; LARGEST];
        names.bytes(symbols.data("init_task")?, &mut first).then_some(())?;
        let found = first.windows(FIRST.len()).position(|part| part == FIRST)?;
        names.offset = found as u64;
        Some(names)
    }

    /// The name of the process that runs on a processor.
    pub fn current(&self, processor: usize) -> Option<String> {
        self.of(self.process(processor)?)
    }

    /// The address of that process's `task_struct`.
    pub fn process(&self, processor: usize) -> Option<u64> {
        self.number(*self.current.get(processor)?)
    }

    /// The name of the process with that `task_struct`.
    pub fn of(&self, process: u64) -> Option<String> {
        let mut name = [0; LONGEST];
        self.bytes(process.wrapping_add(self.offset), &mut name).then_some(())?;
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(LONGEST);
        Some(String::from_utf8_lossy(&name[..length]).into_owned())
    }

    fn number(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.bytes(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
    }

    fn bytes(&self, address: u64, into: &mut [u8]) -> bool {
        let base = if address >= IMAGE { IMAGE } else { self.memory };
        address.checked_sub(base).is_some_and(|physical| (self.read)(physical, into))
    }
}

#[cfg(test)]
mod tests {
    use super::ProcessNames;
    use crate::symbols::Symbols;
    use alloc::vec::Vec;

    /// A guest in which the first process is at 0x1000, another at 0x5000, and that one runs.
    fn read(physical: u64, into: &mut [u8]) -> bool {
        let parts: [(u64, &[u8]); 7] = [
            (0x0100, &0xffff_c000_0000_0000_u64.to_le_bytes()),
            (0x0200, &0x1_0000_u64.to_le_bytes()),
            (0x0208, &0x2_0000_u64.to_le_bytes()),
            (0x1234, b"swapper/0\0"),
            (0x1_0040, &0xffff_c000_0000_5000_u64.to_le_bytes()),
            (0x2_0040, &0xffff_c000_0000_1000_u64.to_le_bytes()),
            (0x5234, b"fifteen letters"),
        ];
        for (index, byte) in into.iter_mut().enumerate() {
            let address = physical + index as u64;
            let at = |(start, bytes): &(u64, &[u8])| {
                bytes.get(usize::try_from(address.checked_sub(*start)?).ok()?).copied()
            };
            *byte = parts.iter().find_map(at).unwrap_or(0);
        }
        physical < 1 << 20
    }

    #[test]
    fn the_name_of_the_process_that_runs_is_found() {
        let symbols = Symbols::read(
            b"data ffffffff80000100 page_offset_base\n\
              data ffffffff80000200 __per_cpu_offset\n\
              data ffffffff80001000 init_task\n\
              data ffffbfffffff0040 current_task\n",
        );
        // The pointer is at 0x10040 of all memory: per_cpu_offset is added to it.
        let symbols = symbols.expect("symbols");
        let mut names = ProcessNames::find(&symbols, read, 2).expect("names");
        names.current = Vec::from([0xffff_c000_0001_0040, 0xffff_c000_0002_0040]);
        assert_eq!(names.current(0).as_deref(), Some("fifteen letters"));
        assert_eq!(names.current(1).as_deref(), Some("swapper/0"));
        assert_eq!(names.current(2), None);
    }

    #[test]
    fn without_what_it_takes_there_are_no_names() {
        let symbols = Symbols::read(b"data ffffffff80001000 init_task\n").expect("symbols");
        assert!(ProcessNames::find(&symbols, read, 1).is_none());
    }
}
