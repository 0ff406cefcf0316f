//! Who ran when, and who woke whom, in a window.
//!
//! A process is known by where the kernel has what it knows of it, its `task_struct`. That of the
//! process which runs is read when it is exchanged for another. That of a process which is woken is
//! recognised by an access to memory near its begin, where its state is, of the function that makes
//! it run: no version of QEMU's plugin API before 4 shows registers.
//!
//! Who is answered by whom is known the same way: a process that asks for permission to open a file
//! writes its question down, and goes on when it reads there what the one that it asked has written.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::guest::Names;
use crate::noteworthy::{Heard, Wanted};
use crate::tree::{Node, ROOT};

/// The most that is noted of a window.
const MOST: usize = 1 << 21;
/// How far from where a process's data begin its state is at most.
const NEAR: u64 = 256;
/// How many accesses to memory are kept of a function that makes a process run.
const ACCESSES: usize = 24;
/// Stands for a process of which nothing is known.
const NOBODY: u32 = 0;

/// What happened.
enum What {
    /// From here on that process runs; what ran before stopped at the place that is noted.
    Runs(u32),
    /// A function begins.
    Begins,
    /// A process was made to run, and it is at one of these places.
    Woke(Vec<u64>),
    /// That process is answered.
    Answers(u32),
    /// The process goes on outside the kernel.
    Leaves,
    /// The process has read the clock.
    Reads,
}

struct Noted {
    when: u64,
    place: Node,
    what: What,
}

/// What was noted of a window.
#[derive(Default)]
pub struct Schedule {
    noted: Vec<Noted>,
    /// Where the kernel has what it knows of each process, in the order in which they ran; two may
    /// have been at one place, one after the other.
    processes: Vec<u64>,
    /// The process that runs, by its number.
    runs: u32,
    /// Where questions were written down: by whom last.
    questions: BTreeMap<u64, u32>,
    /// What each process that answers has noted last: the place of its answer.
    answers: BTreeMap<u32, usize>,
    /// Where answers were written to questions, and have not been read yet: which.
    written: BTreeMap<u64, usize>,
    is_cut: bool,
}

impl Schedule {
    /// A window begins, in that process.
    pub fn begin(&mut self, process: Option<u64>) {
        self.noted.clear();
        self.processes.clear();
        self.questions.clear();
        self.answers.clear();
        self.written.clear();
        self.is_cut = false;
        self.switched(0, process, ROOT, true);
    }

    /// Another process runs; what ran before stopped at `place`.
    pub fn switched(&mut self, when: u64, process: Option<u64>, place: Node, is_new: bool) {
        self.runs = process.map_or(NOBODY, |process| self.number_of(process, is_new));
        self.note(when, place, What::Runs(self.runs));
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

    /// A block begins there that does not just go on with its function.
    pub fn begins(&mut self, wanted: &Wanted, start: u64, when: u64, place: Node) {
        match wanted.heard(start) {
            Some(Heard::Wakes) => self.note(when, place, What::Woke(Vec::new())),
            Some(Heard::Answers) => {
                self.answers.insert(self.runs, self.noted.len());
                self.note(when, place, What::Answers(NOBODY));
            }
            Some(Heard::Asks) => self.note(when, place, What::Begins),
            None if wanted.is_noted(start) => self.note(when, place, What::Begins),
            None => {}
        }
    }

    /// The clock was read where that is noted.
    pub fn reads(&mut self, when: u64) {
        self.note(when, ROOT, What::Reads);
    }

    /// The kernel is left.
    pub fn leaves_kernel(&mut self, when: u64) {
        self.answers.remove(&self.runs);
        self.note(when, ROOT, What::Leaves);
    }

    /// A function whose accesses are heard of reads memory there, or writes to it.
    pub fn access(&mut self, heard: Heard, place: u64, writes: bool) {
        match (heard, writes) {
            (Heard::Wakes, _) => self.access_woken(place),
            (Heard::Answers, true) => self.write_answer(place),
            (Heard::Answers, false) => {}
            (Heard::Asks, true) => self.write_question(place),
            (Heard::Asks, false) => self.read_answer(place),
        }
    }

    /// Who asks writes there. What was answered to an earlier question in the same memory, and nobody
    /// has read, is not for him.
    fn write_question(&mut self, place: u64) {
        self.questions.insert(place, self.runs);
        self.written.remove(&place);
    }

    /// Who answers writes there.
    fn write_answer(&mut self, place: u64) {
        let answer = self.answers.get(&self.runs);
        if let Some(&answer) = answer.filter(|_| self.questions.contains_key(&place)) {
            self.written.insert(place, answer);
        }
    }

    /// Who waits for an answer reads there; if one was written to his question, it is his.
    ///
    /// QEMU 7.2 ascribes to such a function's last instruction what others access later, too: hence
    /// who has not asked is passed over.
    fn read_answer(&mut self, place: u64) {
        let is_his = self.questions.get(&place) == Some(&self.runs);
        let Some(&answer) = self.written.get(&place).filter(|_| is_his) else { return };
        self.written.retain(|_, &mut other| other != answer);
        if let Some(Noted { what: What::Answers(process), .. }) = self.noted.get_mut(answer) {
            *process = self.runs;
        }
    }

    /// What makes a process run accesses memory there.
    fn access_woken(&mut self, place: u64) {
        let latest = self.noted.iter_mut().rev().take(ACCESSES);
        let mut woken = latest.filter_map(|noted| match &mut noted.what {
            What::Woke(places) => Some(places),
            _ => None,
        });
        if let Some(places) = woken.next().filter(|places| places.len() < ACCESSES) {
            places.push(place);
        }
    }

    fn note(&mut self, when: u64, place: Node, what: What) {
        if self.noted.len() < MOST {
            self.noted.push(Noted { when, place, what });
        } else {
            self.is_cut = true;
        }
    }

    /// Writes all that was noted, one thing a line.
    pub fn write(&mut self, names: Option<&Names>, out: &mut String) {
        let state = self.state();
        self.find_others(state);
        let mut woken = self.woken(state);
        // Writing to a string can't fail.
        for &process in &self.processes {
            let name = names.and_then(|names| names.of(process)).unwrap_or_default();
            let _ = writeln!(out, "task {}", name.escape_debug());
        }
        for Noted { when, place, what } in &self.noted {
            let _ = match what {
                What::Runs(task) => writeln!(out, "runs {when} {task} {place}"),
                What::Begins => writeln!(out, "begins {when} {place}"),
                What::Woke(_) => {
                    writeln!(out, "wakes {when} {} {place}", woken.pop().unwrap_or(NOBODY))
                }
                What::Answers(task) => writeln!(out, "answers {when} {task} {place}"),
                What::Leaves => writeln!(out, "leaves {when}"),
                What::Reads => writeln!(out, "reads {when}"),
            };
        }
        if self.is_cut {
            out.push_str("cut\n");
        }
    }

    /// Which access is to a process's state, and how far that is from where its data begin; where
    /// they begin is known of those that ran.
    fn state(&self) -> Option<(usize, u64)> {
        let begins: BTreeSet<u64> = self.processes.iter().copied().collect();
        self.noted.iter().find_map(|noted| match &noted.what {
            What::Woke(places) => places.iter().enumerate().find_map(|(index, place)| {
                let begin = begins.range(..=place).next_back()?;
                Some((index, place - begin)).filter(|&(_, offset)| offset < NEAR)
            }),
            _ => None,
        })
    }

    /// Adds the processes that were woken, and did not run.
    fn find_others(&mut self, state: Option<(usize, u64)>) {
        let Some((index, offset)) = state else { return };
        let begins: BTreeSet<u64> = self.processes.iter().copied().collect();
        let mut others = BTreeSet::new();
        for noted in &self.noted {
            let What::Woke(places) = &noted.what else { continue };
            let known = |place: &u64| begins.contains(&place.wrapping_sub(offset));
            if let Some(place) = places.get(index).filter(|_| !places.iter().any(known)) {
                others.insert(place.wrapping_sub(offset));
            }
        }
        self.processes.extend(others);
    }

    /// The numbers of the processes that were woken, the last first; 0: unknown.
    ///
    /// Of several at one place, one after the other, it is the one that runs next.
    fn woken(&self, state: Option<(usize, u64)>) -> Vec<u32> {
        let offset = state.map(|(_, offset)| offset);
        let mut next: BTreeMap<u64, u32> =
            self.processes.iter().enumerate().map(|(at, &process)| (process, number(at))).collect();
        let mut woken = Vec::new();
        for noted in self.noted.iter().rev() {
            match &noted.what {
                What::Runs(task) => {
                    let index = (*task as usize).checked_sub(1);
                    if let Some(&process) = index.and_then(|index| self.processes.get(index)) {
                        next.insert(process, *task);
                    }
                }
                What::Woke(places) => {
                    let found = offset.and_then(|offset| {
                        let of = |place: &u64| next.get(&place.wrapping_sub(offset)).copied();
                        places.iter().find_map(of)
                    });
                    woken.push(found.unwrap_or(NOBODY));
                }
                _ => {}
            }
        }
        woken
    }
}

/// A process's number, from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(NOBODY)
}

#[cfg(test)]
mod tests {
    use super::Schedule;
    use crate::noteworthy::{Heard, Wanted};
    use crate::tree::ROOT;
    use alloc::string::String;

    const ONE: u64 = 0xffff_8880_0001_0000;
    const TWO: u64 = 0xffff_8880_0002_0000;
    const OTHER: u64 = 0xffff_8880_0003_0000;
    const STATE: u64 = 24;
    const STACK: u64 = 0xffff_c900_0000_1000;

    fn wanted() -> Wanted {
        let mut wanted = Wanted::default();
        for (kind, address) in [
            ("wakes", 0x100),
            ("traced", 0x200),
            ("mark", 0x300),
            ("answers", 0x400),
            ("asks", 0x500),
        ] {
            wanted.take(kind, address).expect("a known kind");
        }
        wanted
    }

    fn written(schedule: &mut Schedule) -> String {
        let mut out = String::new();
        schedule.write(None, &mut out);
        out
    }

    #[test]
    fn who_was_woken_is_known_by_an_access_to_its_state() {
        let (wanted, mut schedule) = (wanted(), Schedule::default());
        schedule.begin(Some(ONE));
        for process in [TWO, OTHER] {
            schedule.begins(&wanted, 0x100, 10, 5);
            schedule.access(Heard::Wakes, STACK, false);
            schedule.access(Heard::Wakes, process + STATE, true);
        }
        schedule.begins(&wanted, 0x200, 20, 6);
        schedule.switched(30, Some(TWO), 7, false);
        schedule.leaves_kernel(40);
        schedule.reads(50);
        let expected = "task \ntask \ntask \nruns 0 1 0\nwakes 10 2 5\nwakes 10 3 5\nbegins 20 6\n\
            runs 30 2 7\nleaves 40\nreads 50\n";
        assert_eq!(written(&mut schedule), expected);
    }

    #[test]
    fn a_new_process_at_a_place_is_another_and_is_the_one_that_was_woken() {
        let (wanted, mut schedule) = (wanted(), Schedule::default());
        schedule.begin(Some(ONE));
        schedule.switched(1, Some(TWO), ROOT, false);
        schedule.switched(2, Some(ONE), ROOT, false);
        schedule.begins(&wanted, 0x100, 3, ROOT);
        schedule.access(Heard::Wakes, TWO + STATE, true);
        schedule.switched(4, Some(TWO), ROOT, true);
        let text = written(&mut schedule);
        assert!(text.contains("wakes 3 3 0\nruns 4 3 0\n"), "{text}");
    }

    const EVENT: u64 = 0xffff_8880_0004_0000;
    const OTHERS: u64 = EVENT + 0x100;

    /// A process asks: it writes its question down.
    fn ask(schedule: &mut Schedule, when: u64, process: u64, event: u64) {
        schedule.switched(when, Some(process), 6, false);
        schedule.begins(&wanted(), 0x500, when + 1, 5);
        schedule.access(Heard::Asks, event, true);
        schedule.access(Heard::Asks, event, false);
    }

    #[test]
    fn who_reads_what_was_written_to_his_question_is_answered() {
        let mut schedule = Schedule::default();
        schedule.begin(Some(ONE));
        ask(&mut schedule, 10, ONE, EVENT);
        ask(&mut schedule, 20, OTHER, OTHERS);
        // Who answers is interrupted by somebody else who does.
        schedule.switched(30, Some(TWO), 6, false);
        schedule.begins(&wanted(), 0x400, 40, 7);
        schedule.switched(50, Some(TWO + 0x100), 7, false);
        schedule.begins(&wanted(), 0x400, 60, 7);
        schedule.access(Heard::Answers, OTHERS, true);
        schedule.switched(70, Some(TWO), 7, false);
        schedule.access(Heard::Answers, EVENT, true);
        schedule.access(Heard::Answers, OTHERS, false);
        schedule.switched(80, Some(OTHER), 7, false);
        schedule.access(Heard::Asks, EVENT, false); // not his question
        schedule.access(Heard::Asks, OTHERS, false);
        schedule.switched(90, Some(ONE), 7, false);
        schedule.access(Heard::Asks, OTHERS, false);
        schedule.access(Heard::Asks, EVENT, false);
        let text = written(&mut schedule);
        assert!(text.contains("begins 11 5\n") && text.contains("begins 21 5\n"), "{text}");
        assert!(text.contains("answers 40 1 7\n") && text.contains("answers 60 2 7\n"), "{text}");
    }

    #[test]
    fn a_question_in_the_memory_of_an_earlier_one_gets_its_own_answer() {
        let mut schedule = Schedule::default();
        schedule.begin(Some(ONE));
        for (when, process) in [(100, ONE), (200, OTHER), (300, ONE)] {
            ask(&mut schedule, when, process, EVENT);
            schedule.switched(when + 10, Some(TWO), 6, false);
            schedule.begins(&wanted(), 0x400, when + 20, 7);
            schedule.access(Heard::Answers, EVENT, true);
            schedule.leaves_kernel(when + 30);
            schedule.switched(when + 40, Some(process), 7, false);
            if process == ONE {
                schedule.access(Heard::Asks, EVENT, false); // the other one is killed meanwhile
            }
        }
        let text = written(&mut schedule);
        for answer in ["answers 120 1 7\n", "answers 220 0 7\n", "answers 320 1 7\n"] {
            assert!(text.contains(answer), "{text}");
        }
    }

    #[test]
    fn an_answer_that_nobody_reads_has_no_number() {
        let mut schedule = Schedule::default();
        schedule.begin(Some(ONE));
        schedule.access(Heard::Answers, EVENT, true);
        schedule.begins(&wanted(), 0x400, 10, 5);
        schedule.access(Heard::Answers, EVENT, true);
        schedule.access(Heard::Asks, EVENT, false); // it did not ask
        schedule.leaves_kernel(20);
        schedule.access(Heard::Asks, OTHERS, true);
        schedule.access(Heard::Answers, OTHERS, true); // it no longer answers
        schedule.access(Heard::Asks, OTHERS, false);
        assert!(written(&mut schedule).contains("answers 10 0 5\n"));
        schedule.begin(Some(TWO));
        schedule.begins(&wanted(), 0x500, 30, 6);
        schedule.access(Heard::Asks, OTHERS, false);
        assert_eq!(written(&mut schedule), "task \nruns 0 1 0\nbegins 30 6\n");
    }

    #[test]
    fn who_is_unknown_has_no_number() {
        let (wanted, mut schedule) = (wanted(), Schedule::default());
        assert!(!wanted.is_empty() && Wanted::default().is_empty());
        schedule.begin(None);
        schedule.begins(&wanted, 0x100, 3, ROOT);
        schedule.access(Heard::Wakes, STACK, false);
        assert_eq!(written(&mut schedule), "runs 0 0 0\nwakes 3 0 0\n");
    }
}
