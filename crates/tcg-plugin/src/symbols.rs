//! The symbols of the guest's code, as hardcost lists them: one a line, numbers in hexadecimal.
//!
//! - `reading ADDRESS`: where one of our programs reads the clock
//! - `window NUMBER`: a window to count in, from 0; without any, all windows
//! - `kernel ADDRESS NAME`: a function of the kernel, which ends where the next begins
//! - `data ADDRESS NAME`: a variable of the kernel
//! - `vdso ADDRESS ADDRESS`: begin and end of the kernel's code in programs
//! - `program NAME`: the functions that follow are of this process
//! - `function ADDRESS SIZE NAME`: one of them
//! - `traced ADDRESS`, `mark ADDRESS`: see [`TracePoints`]
//! - `wakes ADDRESS`, `answers ADDRESS`, `asks ADDRESS`: see [`AccessPurpose`]

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::trace_points::{AccessPurpose, TracePoints};

/// A function of the kernel by its number, from 0.
pub type KernelFunction = u32;

/// The number of code that is in no function of the kernel.
pub const UNKNOWN: KernelFunction = 0;

/// What a function of the kernel means for a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing in particular.
    Plain,
    /// Where an exception begins.
    Exception,
    /// Where an interrupt begins.
    Interrupt,
    /// Where the kernel switches from one process to another.
    Switch,
    /// Where the other process resumes.
    Switched,
    /// Where a new process begins.
    NewTask,
    /// Called when a signal's handler is to run.
    Signal,
    /// Called when the handler has returned.
    SignalReturn,
    /// Called when the program has become another.
    Exec,
    /// Called when a process gets another name.
    Name,
}

/// A function of a program.
struct ProgramFunction {
    size: u64,
    name: u32,
}

/// The symbols of a guest.
#[derive(Default)]
pub struct Symbols {
    readings: BTreeSet<u64>,
    /// The numbers of the windows to count in; if empty, all.
    windows: BTreeSet<u64>,
    starts: Vec<u64>,
    /// Begin, end and index of the kernel's function that was looked up last.
    latest: Cell<(u64, u64, usize)>,
    /// Where functions of programs begin or end, of all programs.
    borders: Vec<u64>,
    functions: Vec<KernelFunction>,
    roles: BTreeMap<u64, Role>,
    /// Begin and end of the interrupt stubs: many small ones in a row.
    stubs: Vec<(u64, u64)>,
    data: BTreeMap<String, u64>,
    vdso: (u64, u64),
    programs: BTreeMap<String, BTreeMap<u64, ProgramFunction>>,
    /// The kernel's scheduler.
    scheduler: KernelFunction,
    /// The function that switches from one process to another.
    switch: KernelFunction,
    /// The thunks of indirect calls.
    thunks: Vec<KernelFunction>,
    /// The names of all functions, the kernel's and the programs', by number.
    pub names: Vec<String>,
    /// What is noted for a trace.
    pub trace_points: TracePoints,
}

impl Symbols {
    /// Reads the list; `None` if it is not well-formed.
    pub fn read(text: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(text).ok()?;
        let mut symbols = Self { names: Vec::from([String::from("[unknown]")]), ..Self::default() };
        let mut kernel = Vec::new();
        let mut program = None;
        let mut numbers = BTreeMap::new();
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ')?;
            match kind {
                "reading" => drop(symbols.readings.insert(hexadecimal(rest)?)),
                "window" => drop(symbols.windows.insert(hexadecimal(rest)?)),
                "kernel" => kernel.push(address_and_name(rest)?),
                "data" => {
                    let (address, name) = address_and_name(rest)?;
                    symbols.data.insert(name.into(), address);
                }
                "vdso" => {
                    let (from, to) = rest.split_once(' ')?;
                    symbols.vdso = (hexadecimal(from)?, hexadecimal(to)?);
                }
                "program" => program = Some(symbols.programs.entry(rest.into()).or_default()),
                "function" => {
                    let (address, rest) = rest.split_once(' ')?;
                    let (size, name) = address_and_name(rest)?;
                    let next = u32::try_from(symbols.names.len()).ok()?;
                    let number = *numbers.entry(name).or_insert(next);
                    if number == next {
                        symbols.names.push(name.into());
                    }
                    let function = ProgramFunction { size, name: number };
                    program.as_mut()?.insert(hexadecimal(address)?, function);
                }
                _ => symbols.trace_points.take(kind, hexadecimal(rest)?)?,
            }
        }
        symbols.take_kernel(kernel)?;
        symbols.take_borders();
        Some(symbols)
    }

    /// Adds the kernel's functions, in the order of their addresses.
    fn take_kernel(&mut self, mut kernel: Vec<(u64, &str)>) -> Option<()> {
        kernel.sort_by_key(|&(address, _)| address);
        for (index, &(address, name)) in kernel.iter().enumerate() {
            self.starts.push(address);
            self.functions.push(u32::try_from(self.names.len()).ok()?);
            self.names.push(name.into());
            if matches!(name, "irq_entries_start" | "spurious_entries_start") {
                let end = kernel.get(index + 1).map_or(address, |&(next, _)| next);
                self.stubs.push((address, end));
            }
            if name == "__schedule" || name.starts_with("__schedule.") {
                self.scheduler = *self.functions.last()?;
            }
            if name.starts_with("__x86_indirect_") {
                self.thunks.push(*self.functions.last()?);
            }
            let role = role(name);
            if role == Role::Switch {
                self.switch = *self.functions.last()?;
            }
            if role != Role::Plain {
                self.roles.insert(address, role);
            }
        }
        Some(())
    }

    /// Notes where functions of programs begin and end.
    fn take_borders(&mut self) {
        let all = self.programs.values().flatten();
        self.borders = all.flat_map(|(&start, one)| [start, start + one.size]).collect();
        self.borders.extend([self.vdso.0, self.vdso.1]);
        self.borders.sort_unstable();
        self.borders.dedup();
    }

    /// Whether the code at two addresses is of one function, in all processes.
    pub fn is_of_one(&self, address: u64, other: u64) -> bool {
        let before = |address| self.borders.partition_point(|&border| border <= address);
        match (is_kernel(address), is_kernel(other)) {
            (true, true) => self.kernel(address) == self.kernel(other),
            (false, false) => before(address) == before(other),
            _ => false,
        }
    }

    /// Whether a function begins or ends there.
    pub fn is_border(&self, address: u64) -> bool {
        let borders = if is_kernel(address) { &self.starts } else { &self.borders };
        borders.binary_search(&address).is_ok()
    }

    /// Whether one of our programs reads the clock there.
    pub fn is_reading(&self, address: u64) -> bool {
        self.readings.contains(&address)
    }

    /// Whether to count in a window.
    pub fn is_window(&self, number: u64) -> bool {
        self.windows.is_empty() || self.windows.contains(&number)
    }

    /// The kernel's function at an address.
    pub fn kernel(&self, address: u64) -> KernelFunction {
        self.index(address).map_or(UNKNOWN, |index| self.functions[index])
    }

    /// The index of the kernel's function at an address. Most lookups are near the last one.
    fn index(&self, address: u64) -> Option<usize> {
        let (from, to, index) = self.latest.get();
        if (from..to).contains(&address) {
            return Some(index);
        }
        let next = self.starts.partition_point(|&start| start <= address);
        let index = next.checked_sub(1)?;
        let to = self.starts.get(next).copied().unwrap_or(u64::MAX);
        self.latest.set((self.starts[index], to, index));
        Some(index)
    }

    /// The role of the code at an address. A process may resume anywhere in the scheduler.
    pub fn role(&self, address: u64) -> Role {
        if self.stubs.iter().any(|&(from, to)| (from..to).contains(&address)) {
            return Role::Interrupt;
        }
        match self.roles.get(&address) {
            Some(&role) => role,
            None if self.scheduler != UNKNOWN && self.kernel(address) == self.scheduler => {
                Role::Switched
            }
            None => Role::Plain,
        }
    }

    /// Whether the kernel's function at an address is a thunk of indirect calls: it pushes the
    /// target and returns to it.
    pub fn is_thunk(&self, address: u64) -> bool {
        self.thunks.contains(&self.kernel(address))
    }

    /// The address of a variable of the kernel, or its offset in each processor's data.
    pub fn data(&self, name: &str) -> Option<u64> {
        self.data.get(name).copied()
    }

    /// Whether that is the kernel's code in programs (vDSO).
    pub fn is_vdso(&self, address: u64) -> bool {
        (self.vdso.0..self.vdso.1).contains(&address)
    }

    /// The name of a program's function at an address, by its number; `UNKNOWN` if there is none.
    pub fn program(&self, name: &str, address: u64) -> u32 {
        let before = self.programs.get(name).and_then(|all| all.range(..=address).next_back());
        match before {
            Some((start, function)) if address - start < function.size => function.name,
            _ => UNKNOWN,
        }
    }

    /// Whether that is code of a program without known functions, which is one frame with all that
    /// it calls.
    pub fn is_anonymous(&self, address: u64) -> bool {
        self.programs.is_empty() && !is_kernel(address) && !self.is_vdso(address)
    }

    /// Whether a program's function begins there.
    pub fn begins(&self, name: &str, address: u64) -> bool {
        self.programs.get(name).is_some_and(|all| all.contains_key(&address))
    }

    /// Why accesses to memory are observed of the kernel's function at an address.
    pub fn access_purpose(&self, address: u64) -> Option<AccessPurpose> {
        self.index(address).and_then(|index| self.trace_points.access_purpose(self.starts[index]))
    }

    /// Whether a name is that of a function, not of a file with many functions.
    pub fn is_function(&self, name: u32) -> bool {
        name != UNKNOWN && !self.names[name as usize].starts_with('[')
    }

    /// Whether that is code that switches from one process to another.
    pub fn is_switch(&self, address: u64) -> bool {
        self.switch != UNKNOWN && self.kernel(address) == self.switch
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

fn address_and_name(text: &str) -> Option<(u64, &str)> {
    let (address, name) = text.split_once(' ')?;
    Some((hexadecimal(address)?, name))
}

/// The role of the kernel's function of that name.
fn role(name: &str) -> Role {
    match name {
        "__switch_to_asm" => Role::Switch,
        "finish_task_switch" | "schedule_tail" => Role::Switched,
        "ret_from_fork" | "ret_from_fork_asm" => Role::NewTask,
        "signal_setup_done" => Role::Signal,
        "__x64_sys_rt_sigreturn" | "__do_sys_rt_sigreturn" | "__ia32_compat_sys_rt_sigreturn" => {
            Role::SignalReturn
        }
        "finalize_exec" => Role::Exec,
        "__set_task_comm" => Role::Name,
        _ if name.starts_with("asm_exc_") && name != "asm_exc_nmi" => Role::Exception,
        _ if name.starts_with("asm_sysvec_") || name == "asm_exc_nmi" => Role::Interrupt,
        "asm_common_interrupt" | "asm_spurious_interrupt" => Role::Interrupt,
        _ => Role::Plain,
    }
}

/// Whether an address is one of the kernel's.
pub fn is_kernel(address: u64) -> bool {
    address >> 63 == 1
}

#[cfg(test)]
mod tests {
    use super::{Role, Symbols, UNKNOWN};

    const TEXT: &[u8] = b"reading 401000\n\
        kernel ffffffff81000100 second\n\
        kernel ffffffff81000000 asm_exc_page_fault\n\
        kernel ffffffff81000200 irq_entries_start\n\
        kernel ffffffff81000300 __switch_to_asm\n\
        data 17bc0 current_task\n\
        vdso 7ffff7fc9000 7ffff7fcb000\n\
        program a b\n\
        function 401000 10 main\n\
        function 401010 8 a function\n";

    #[test]
    fn what_is_at_an_address_is_found() {
        let symbols = Symbols::read(TEXT).expect("symbols");
        let kernel = |address| &*symbols.names[symbols.kernel(address) as usize];
        assert_eq!(kernel(0xffff_ffff_8100_00ff), "asm_exc_page_fault");
        assert_eq!(kernel(0xffff_ffff_8100_0100), "second");
        assert_eq!(kernel(0xffff_ffff_8000_0000), "[unknown]");
        assert_eq!(symbols.role(0xffff_ffff_8100_0000), Role::Exception);
        assert_eq!(symbols.role(0xffff_ffff_8100_0001), Role::Plain);
        assert_eq!(symbols.role(0xffff_ffff_8100_0248), Role::Interrupt);
        assert_eq!(symbols.role(0xffff_ffff_8100_0300), Role::Switch);
        assert_eq!(symbols.data("current_task"), Some(0x17bc0));
        assert!(symbols.is_vdso(0x7fff_f7fc_9000) && !symbols.is_vdso(0x7fff_f7fc_b000));
        assert!(symbols.is_reading(0x40_1000) && !symbols.is_reading(0x40_1001));
        let program = |name, address| &*symbols.names[symbols.program(name, address) as usize];
        assert_eq!(program("a b", 0x40_100f), "main");
        assert_eq!(program("a b", 0x40_1010), "a function");
        assert_eq!(symbols.program("a b", 0x40_1018), UNKNOWN);
        assert_eq!(symbols.program("c", 0x40_1000), UNKNOWN);
    }

    #[test]
    fn what_is_not_as_it_should_be_is_refused() {
        for text in
            [&b"else 1\n"[..], b"reading xyz\n", b"kernel 1\n", b"function 1 1 a\n", b"\xff"]
        {
            assert!(Symbols::read(text).is_none());
        }
    }
}
