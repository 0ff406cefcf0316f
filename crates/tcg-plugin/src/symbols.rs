//! What the plugin is told of the guest's code: one thing a line, numbers in hexadecimal.
//!
//! - `reading ADDRESS`: where a program of ours reads the clock
//! - `window NUMBER`: one of the windows that are wanted, from 0; if none is named, all are
//! - `kernel ADDRESS NAME`: a function of the kernel, which ends where the next begins
//! - `data ADDRESS NAME`: a variable of the kernel
//! - `vdso ADDRESS ADDRESS`: from where to where the kernel's code in programs reaches
//! - `program NAME`: of this process the functions follow
//! - `function ADDRESS SIZE NAME`: one of them
//! - `traced ADDRESS`, `mark ADDRESS`: see [`Wanted`]
//! - `wakes ADDRESS`, `answers ADDRESS`, `asks ADDRESS`: see [`Heard`]

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::noteworthy::{Heard, Wanted};

/// A function of the kernel by its number, from 0.
pub type KernelFunction = u32;

/// What is in no function of the kernel's.
pub const UNKNOWN: KernelFunction = 0;

/// What a function of the kernel is to whoever follows the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing in particular.
    Plain,
    /// Where an exception begins.
    Exception,
    /// Where an interrupt begins.
    Interrupt,
    /// Where one process is exchanged for another.
    Switch,
    /// Where the other process goes on.
    Switched,
    /// Where a new process begins.
    NewTask,
    /// What is called when the handler of a signal is to run.
    Signal,
    /// What is called when the handler has returned.
    SignalReturn,
    /// What is called when a program has become another.
    Exec,
    /// What is called when a process gets another name.
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
    /// Which windows are wanted, by their numbers; if there is none here, all are.
    windows: BTreeSet<u64>,
    starts: Vec<u64>,
    /// From where to where the kernel's function reaches that was asked for last, and which it is.
    latest: Cell<(u64, u64, usize)>,
    /// Where functions of programs begin or end, of whichever program.
    borders: Vec<u64>,
    functions: Vec<KernelFunction>,
    roles: BTreeMap<u64, Role>,
    /// Stubs of interrupts: many small ones in a row.
    stubs: Vec<(u64, u64)>,
    data: BTreeMap<String, u64>,
    vdso: (u64, u64),
    programs: BTreeMap<String, BTreeMap<u64, ProgramFunction>>,
    /// The kernel's scheduler.
    scheduler: KernelFunction,
    /// What exchanges one process for another.
    switch: KernelFunction,
    /// What stands for indirect calls.
    thunks: Vec<KernelFunction>,
    /// The names of all functions, the kernel's and the programs', by number.
    pub names: Vec<String>,
    /// What is to be noted of the schedule.
    pub wanted: Wanted,
}

impl Symbols {
    /// Reads what the plugin is told; `None` where that is not as it should be.
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
                _ => symbols.wanted.take(kind, hexadecimal(rest)?)?,
            }
        }
        symbols.take_kernel(kernel)?;
        symbols.take_borders();
        Some(symbols)
    }

    /// Takes over the kernel's functions, in the order of their addresses.
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

    /// Whether the code at two places is of one function, in whichever process that runs.
    pub fn is_of_one(&self, place: u64, other: u64) -> bool {
        let before = |place| self.borders.partition_point(|&border| border <= place);
        match (is_kernel(place), is_kernel(other)) {
            (true, true) => self.kernel(place) == self.kernel(other),
            (false, false) => before(place) == before(other),
            _ => false,
        }
    }

    /// Whether a function begins or ends there.
    pub fn is_border(&self, place: u64) -> bool {
        let borders = if is_kernel(place) { &self.starts } else { &self.borders };
        borders.binary_search(&place).is_ok()
    }

    /// Whether a program of ours reads the clock there.
    pub fn is_reading(&self, place: u64) -> bool {
        self.readings.contains(&place)
    }

    /// Whether a window is wanted.
    pub fn is_window(&self, number: u64) -> bool {
        self.windows.is_empty() || self.windows.contains(&number)
    }

    /// The kernel's function that is there.
    pub fn kernel(&self, place: u64) -> KernelFunction {
        self.index(place).map_or(UNKNOWN, |index| self.functions[index])
    }

    /// Which of the kernel's functions is there. Most that is asked for is near what was asked last.
    fn index(&self, place: u64) -> Option<usize> {
        let (from, to, index) = self.latest.get();
        if (from..to).contains(&place) {
            return Some(index);
        }
        let next = self.starts.partition_point(|&start| start <= place);
        let index = next.checked_sub(1)?;
        let to = self.starts.get(next).copied().unwrap_or(u64::MAX);
        self.latest.set((self.starts[index], to, index));
        Some(index)
    }

    /// What the function that begins there is to whoever follows the calls; the scheduler's code is
    /// alike wherever it goes on.
    pub fn role(&self, place: u64) -> Role {
        if self.stubs.iter().any(|&(from, to)| (from..to).contains(&place)) {
            return Role::Interrupt;
        }
        match self.roles.get(&place) {
            Some(&role) => role,
            None if self.scheduler != UNKNOWN && self.kernel(place) == self.scheduler => {
                Role::Switched
            }
            None => Role::Plain,
        }
    }

    /// Whether the kernel's function that is there stands for an indirect call, and makes it by a
    /// return to an address that it has put on the stack.
    pub fn is_thunk(&self, place: u64) -> bool {
        self.thunks.contains(&self.kernel(place))
    }

    /// Where a variable of the kernel is, or how far into what each processor has.
    pub fn data(&self, name: &str) -> Option<u64> {
        self.data.get(name).copied()
    }

    /// Whether that is code which the kernel lends to programs.
    pub fn is_vdso(&self, place: u64) -> bool {
        (self.vdso.0..self.vdso.1).contains(&place)
    }

    /// The name of a program's function that is there, as a number; `UNKNOWN` of none.
    pub fn program(&self, name: &str, place: u64) -> u32 {
        let before = self.programs.get(name).and_then(|all| all.range(..=place).next_back());
        match before {
            Some((start, function)) if place - start < function.size => function.name,
            _ => UNKNOWN,
        }
    }

    /// Whether that is code of programs that have no functions: whatever it calls is one frame.
    pub fn is_anonymous(&self, place: u64) -> bool {
        self.programs.is_empty() && !is_kernel(place) && !self.is_vdso(place)
    }

    /// Whether a program's function begins there.
    pub fn begins(&self, name: &str, place: u64) -> bool {
        self.programs.get(name).is_some_and(|all| all.contains_key(&place))
    }

    /// Which accesses to memory are heard of, of the function whose code is there.
    pub fn heard(&self, place: u64) -> Option<Heard> {
        self.index(place).and_then(|index| self.wanted.heard(self.starts[index]))
    }

    /// Whether a name is that of a function, not of a file that has many.
    pub fn is_function(&self, name: u32) -> bool {
        name != UNKNOWN && !self.names[name as usize].starts_with('[')
    }

    /// Whether that is code which exchanges one process for another.
    pub fn is_switch(&self, place: u64) -> bool {
        self.switch != UNKNOWN && self.kernel(place) == self.switch
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

fn address_and_name(text: &str) -> Option<(u64, &str)> {
    let (address, name) = text.split_once(' ')?;
    Some((hexadecimal(address)?, name))
}

/// What the kernel's function of that name is to whoever follows the calls.
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
pub fn is_kernel(place: u64) -> bool {
    place >> 63 == 1
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
        let kernel = |place| &*symbols.names[symbols.kernel(place) as usize];
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
        let program = |name, place| &*symbols.names[symbols.program(name, place) as usize];
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
