//! Scheduler events of a window: which process ran when, and which one woke or answered which.
//!
//! A process is identified by the address of its `task_struct`. For the running process it is read
//! at each switch. For a woken process it follows from an access to memory near its begin, where
//! the state is, by the function that wakes it: no version of QEMU's plugin API before 4 shows
//! registers.
//!
//! Answers are found the same way: a process that asks for permission to open a file writes its
//! question, and resumes when it reads there kind the answering process has written.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::process_names::ProcessNames;
use crate::stacks::call_tree::{Node, ROOT};
use crate::trace_points::{AccessPurpose, TracePoints};

/// The most events that are events in a window.
const MOST: usize = 1 << 21;
/// The largest offset of the state in a `task_struct`.
const LARGEST_OFFSET: u64 = 256;
/// How many accesses to memory are kept of a function that wakes a process.
const ACCESSES: usize = 24;
/// The number of an unknown process.
const UNKNOWN: u32 = 0;

/// What happened.
enum EventKind {
    /// From here on that process runs. The one before stopped at the node that is events.
    Runs(u32),
    /// A function begins.
    Begins,
    /// A process was woken. One of these accesses was to its state.
    Woke(Vec<u64>),
    /// That process is answered.
    Answers(u32),
    /// The process leaves the kernel.
    Leaves,
    /// The process has read the clock.
    Reads,
}

struct Event {
    when: u64,
    node: Node,
    kind: EventKind,
}

/// The events of a window.
#[derive(Default)]
pub struct SchedulerEvents {
    events: Vec<Event>,
    /// The address of each process's `task_struct`, in the order in which they first ran. Two may
    /// have had one address, one after the other.
    processes: Vec<u64>,
    /// The number of the running process.
    runs: u32,
    /// The addresses of questions, each with the process that wrote it last.
    questions: BTreeMap<u64, u32>,
    /// For each process that answers, the index of its last answer.
    answers: BTreeMap<u32, usize>,
    /// The addresses of answers that are not read yet, each with the answer's index.
    written: BTreeMap<u64, usize>,
    is_cut: bool,
}

impl SchedulerEvents {
    /// A window begins, in that process.
    pub fn begin(&mut self, process: Option<u64>) {
        self.events.clear();
        self.processes.clear();
        self.questions.clear();
        self.answers.clear();
        self.written.clear();
        self.is_cut = false;
        self.switched(0, process, ROOT, true);
    }

    /// Another process runs. The one before stopped at `node`.
    pub fn switched(&mut self, when: u64, process: Option<u64>, node: Node, is_new: bool) {
        self.runs = process.map_or(UNKNOWN, |process| self.number_of(process, is_new));
        self.note(when, node, EventKind::Runs(self.runs));
    }

    /// A process's number.
    fn number_of(&mut self, process: u64, is_new: bool) -> u32 {
        let known = self.processes.iter().rposition(|&other| other == process);
        let index = known.filter(|_| !is_new).unwrap_or_else(|| {
            self.processes.push(process);
            self.processes.len() - 1
        });
        number(index)
    }

    /// A block begins, of a function that was not running just before.
    pub fn begins(&mut self, trace_points: &TracePoints, start: u64, when: u64, node: Node) {
        match trace_points.access_purpose(start) {
            Some(AccessPurpose::Wakes) => self.note(when, node, EventKind::Woke(Vec::new())),
            Some(AccessPurpose::Answers) => {
                self.answers.insert(self.runs, self.events.len());
                self.note(when, node, EventKind::Answers(UNKNOWN));
            }
            Some(AccessPurpose::Asks) => self.note(when, node, EventKind::Begins),
            None if trace_points.is_noted(start) => self.note(when, node, EventKind::Begins),
            None => {}
        }
    }

    /// A program read the clock for the trace.
    pub fn reads(&mut self, when: u64) {
        self.note(when, ROOT, EventKind::Reads);
    }

    /// The kernel is left.
    pub fn leaves_kernel(&mut self, when: u64) {
        self.answers.remove(&self.runs);
        self.note(when, ROOT, EventKind::Leaves);
    }

    /// A function whose accesses are observed reads or writes memory.
    pub fn access(&mut self, purpose: AccessPurpose, address: u64, writes: bool) {
        match (purpose, writes) {
            (AccessPurpose::Wakes, _) => self.access_woken(address),
            (AccessPurpose::Answers, true) => self.write_answer(address),
            (AccessPurpose::Answers, false) => {}
            (AccessPurpose::Asks, true) => self.write_question(address),
            (AccessPurpose::Asks, false) => self.read_answer(address),
        }
    }

    /// A question is written. An unread answer to an earlier question in the same memory is not for
    /// this one.
    fn write_question(&mut self, address: u64) {
        self.questions.insert(address, self.runs);
        self.written.remove(&address);
    }

    /// An answer is written.
    fn write_answer(&mut self, address: u64) {
        let answer = self.answers.get(&self.runs);
        if let Some(&answer) = answer.filter(|_| self.questions.contains_key(&address)) {
            self.written.insert(address, answer);
        }
    }

    /// A process reads where it asked. If an answer is there, it is for this process.
    ///
    /// QEMU 7.2 attributes later accesses of other functions to such a function's last instruction.
    /// So a process that has not asked is ignored.
    fn read_answer(&mut self, address: u64) {
        let is_his = self.questions.get(&address) == Some(&self.runs);
        let Some(&answer) = self.written.get(&address).filter(|_| is_his) else { return };
        self.written.retain(|_, &mut other| other != answer);
        if let Some(Event { kind: EventKind::Answers(process), .. }) = self.events.get_mut(answer) {
            *process = self.runs;
        }
    }

    /// A function that wakes a process accesses memory.
    fn access_woken(&mut self, address: u64) {
        let latest = self.events.iter_mut().rev().take(ACCESSES);
        let mut woken = latest.filter_map(|events| match &mut events.kind {
            EventKind::Woke(addresses) => Some(addresses),
            _ => None,
        });
        if let Some(addresses) = woken.next().filter(|addresses| addresses.len() < ACCESSES) {
            addresses.push(address);
        }
    }

    fn note(&mut self, when: u64, node: Node, kind: EventKind) {
        if self.events.len() < MOST {
            self.events.push(Event { when, node, kind });
        } else {
            self.is_cut = true;
        }
    }

    /// Writes all events, one a line.
    pub fn write(&mut self, names: Option<&ProcessNames>, out: &mut String) {
        let state = self.state();
        self.find_others(state);
        let mut woken = self.woken(state);
        // Writing to a string can't fail.
        for &process in &self.processes {
            let name = names.and_then(|names| names.of(process)).unwrap_or_default();
            let _ = writeln!(out, "task {}", name.escape_debug());
        }
        for Event { when, node, kind } in &self.events {
            let _ = match kind {
                EventKind::Runs(task) => writeln!(out, "runs {when} {task} {node}"),
                EventKind::Begins => writeln!(out, "begins {when} {node}"),
                EventKind::Woke(_) => {
                    writeln!(out, "wakes {when} {} {node}", woken.pop().unwrap_or(UNKNOWN))
                }
                EventKind::Answers(task) => writeln!(out, "answers {when} {task} {node}"),
                EventKind::Leaves => writeln!(out, "leaves {when}"),
                EventKind::Reads => writeln!(out, "reads {when}"),
            };
        }
        if self.is_cut {
            out.push_str("cut\n");
        }
    }

    /// Which access is to a process's state, and the state's offset. The addresses of processes
    /// that ran are known.
    fn state(&self) -> Option<(usize, u64)> {
        let begins: BTreeSet<u64> = self.processes.iter().copied().collect();
        self.events.iter().find_map(|events| match &events.kind {
            EventKind::Woke(addresses) => {
                addresses.iter().enumerate().find_map(|(index, address)| {
                    let begin = begins.range(..=address).next_back()?;
                    Some((index, address - begin)).filter(|&(_, offset)| offset < LARGEST_OFFSET)
                })
            }
            _ => None,
        })
    }

    /// Adds the processes that were woken and did not run.
    fn find_others(&mut self, state: Option<(usize, u64)>) {
        let Some((index, offset)) = state else { return };
        let begins: BTreeSet<u64> = self.processes.iter().copied().collect();
        let mut others = BTreeSet::new();
        for events in &self.events {
            let EventKind::Woke(addresses) = &events.kind else { continue };
            let known = |address: &u64| begins.contains(&address.wrapping_sub(offset));
            if let Some(address) = addresses.get(index).filter(|_| !addresses.iter().any(known)) {
                others.insert(address.wrapping_sub(offset));
            }
        }
        self.processes.extend(others);
    }

    /// The numbers of the woken processes, the last first; 0: unknown.
    ///
    /// If several had one address, one after the other, it is the one that runs next.
    fn woken(&self, state: Option<(usize, u64)>) -> Vec<u32> {
        let offset = state.map(|(_, offset)| offset);
        let mut next: BTreeMap<u64, u32> =
            self.processes.iter().enumerate().map(|(at, &process)| (process, number(at))).collect();
        let mut woken = Vec::new();
        for events in self.events.iter().rev() {
            match &events.kind {
                EventKind::Runs(task) => {
                    let index = (*task as usize).checked_sub(1);
                    if let Some(&process) = index.and_then(|index| self.processes.get(index)) {
                        next.insert(process, *task);
                    }
                }
                EventKind::Woke(addresses) => {
                    let found = offset.and_then(|offset| {
                        let of = |address: &u64| next.get(&address.wrapping_sub(offset)).copied();
                        addresses.iter().find_map(of)
                    });
                    woken.push(found.unwrap_or(UNKNOWN));
                }
                _ => {}
            }
        }
        woken
    }
}

/// A process's number, from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::SchedulerEvents;
    use crate::stacks::call_tree::ROOT;
    use crate::trace_points::{AccessPurpose, TracePoints};
    use alloc::string::String;

    const ONE: u64 = 0xffff_8880_0001_0000;
    const TWO: u64 = 0xffff_8880_0002_0000;
    const OTHER: u64 = 0xffff_8880_0003_0000;
    const STATE: u64 = 24;
    const STACK: u64 = 0xffff_c900_0000_1000;

    fn trace_points() -> TracePoints {
        let mut trace_points = TracePoints::default();
        for (kind, address) in [
            ("wakes", 0x100),
            ("traced", 0x200),
            ("mark", 0x300),
            ("answers", 0x400),
            ("asks", 0x500),
        ] {
            trace_points.take(kind, address).expect("a known kind");
        }
        trace_points
    }

    fn written(schedule: &mut SchedulerEvents) -> String {
        let mut out = String::new();
        schedule.write(None, &mut out);
        out
    }

    #[test]
    fn who_was_woken_is_known_by_an_access_to_its_state() {
        let (trace_points, mut schedule) = (trace_points(), SchedulerEvents::default());
        schedule.begin(Some(ONE));
        for process in [TWO, OTHER] {
            schedule.begins(&trace_points, 0x100, 10, 5);
            schedule.access(AccessPurpose::Wakes, STACK, false);
            schedule.access(AccessPurpose::Wakes, process + STATE, true);
        }
        schedule.begins(&trace_points, 0x200, 20, 6);
        schedule.switched(30, Some(TWO), 7, false);
        schedule.leaves_kernel(40);
        schedule.reads(50);
        let expected = "task \ntask \ntask \nruns 0 1 0\nwakes 10 2 5\nwakes 10 3 5\nbegins 20 6\n\
            runs 30 2 7\nleaves 40\nreads 50\n";
        assert_eq!(written(&mut schedule), expected);
    }

    #[test]
    fn a_new_process_at_a_place_is_another_and_is_the_one_that_was_woken() {
        let (trace_points, mut schedule) = (trace_points(), SchedulerEvents::default());
        schedule.begin(Some(ONE));
        schedule.switched(1, Some(TWO), ROOT, false);
        schedule.switched(2, Some(ONE), ROOT, false);
        schedule.begins(&trace_points, 0x100, 3, ROOT);
        schedule.access(AccessPurpose::Wakes, TWO + STATE, true);
        schedule.switched(4, Some(TWO), ROOT, true);
        let text = written(&mut schedule);
        assert!(text.contains("wakes 3 3 0\nruns 4 3 0\n"), "{text}");
    }

    const EVENT: u64 = 0xffff_8880_0004_0000;
    const OTHERS: u64 = EVENT + 0x100;

    /// A process asks: it writes its question.
    fn ask(schedule: &mut SchedulerEvents, when: u64, process: u64, event: u64) {
        schedule.switched(when, Some(process), 6, false);
        schedule.begins(&trace_points(), 0x500, when + 1, 5);
        schedule.access(AccessPurpose::Asks, event, true);
        schedule.access(AccessPurpose::Asks, event, false);
    }

    #[test]
    fn a_process_that_reads_the_answer_to_its_question_is_answered() {
        let mut schedule = SchedulerEvents::default();
        schedule.begin(Some(ONE));
        ask(&mut schedule, 10, ONE, EVENT);
        ask(&mut schedule, 20, OTHER, OTHERS);
        // The answering process is interrupted by another one that answers.
        schedule.switched(30, Some(TWO), 6, false);
        schedule.begins(&trace_points(), 0x400, 40, 7);
        schedule.switched(50, Some(TWO + 0x100), 7, false);
        schedule.begins(&trace_points(), 0x400, 60, 7);
        schedule.access(AccessPurpose::Answers, OTHERS, true);
        schedule.switched(70, Some(TWO), 7, false);
        schedule.access(AccessPurpose::Answers, EVENT, true);
        schedule.access(AccessPurpose::Answers, OTHERS, false);
        schedule.switched(80, Some(OTHER), 7, false);
        schedule.access(AccessPurpose::Asks, EVENT, false); // not its question
        schedule.access(AccessPurpose::Asks, OTHERS, false);
        schedule.switched(90, Some(ONE), 7, false);
        schedule.access(AccessPurpose::Asks, OTHERS, false);
        schedule.access(AccessPurpose::Asks, EVENT, false);
        let text = written(&mut schedule);
        assert!(text.contains("begins 11 5\n") && text.contains("begins 21 5\n"), "{text}");
        assert!(text.contains("answers 40 1 7\n") && text.contains("answers 60 2 7\n"), "{text}");
    }

    #[test]
    fn a_question_in_the_memory_of_an_earlier_one_gets_its_own_answer() {
        let mut schedule = SchedulerEvents::default();
        schedule.begin(Some(ONE));
        for (when, process) in [(100, ONE), (200, OTHER), (300, ONE)] {
            ask(&mut schedule, when, process, EVENT);
            schedule.switched(when + 10, Some(TWO), 6, false);
            schedule.begins(&trace_points(), 0x400, when + 20, 7);
            schedule.access(AccessPurpose::Answers, EVENT, true);
            schedule.leaves_kernel(when + 30);
            schedule.switched(when + 40, Some(process), 7, false);
            if process == ONE {
                schedule.access(AccessPurpose::Asks, EVENT, false); // the other one is killed meanwhile
            }
        }
        let text = written(&mut schedule);
        for answer in ["answers 120 1 7\n", "answers 220 0 7\n", "answers 320 1 7\n"] {
            assert!(text.contains(answer), "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_never_read_has_no_number() {
        let mut schedule = SchedulerEvents::default();
        schedule.begin(Some(ONE));
        schedule.access(AccessPurpose::Answers, EVENT, true);
        schedule.begins(&trace_points(), 0x400, 10, 5);
        schedule.access(AccessPurpose::Answers, EVENT, true);
        schedule.access(AccessPurpose::Asks, EVENT, false); // it did not ask
        schedule.leaves_kernel(20);
        schedule.access(AccessPurpose::Asks, OTHERS, true);
        schedule.access(AccessPurpose::Answers, OTHERS, true); // it no longer answers
        schedule.access(AccessPurpose::Asks, OTHERS, false);
        assert!(written(&mut schedule).contains("answers 10 0 5\n"));
        schedule.begin(Some(TWO));
        schedule.begins(&trace_points(), 0x500, 30, 6);
        schedule.access(AccessPurpose::Asks, OTHERS, false);
        assert_eq!(written(&mut schedule), "task \nruns 0 1 0\nbegins 30 6\n");
    }

    #[test]
    fn who_is_unknown_has_no_number() {
        let (trace_points, mut schedule) = (trace_points(), SchedulerEvents::default());
        assert!(!trace_points.is_empty() && TracePoints::default().is_empty());
        schedule.begin(None);
        schedule.begins(&trace_points, 0x100, 3, ROOT);
        schedule.access(AccessPurpose::Wakes, STACK, false);
        assert_eq!(written(&mut schedule), "runs 0 0 0\nwakes 3 0 0\n");
    }
}
