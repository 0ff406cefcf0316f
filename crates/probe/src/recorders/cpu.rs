//! The recorder `cpu`: which process had the processor for how long.
//!
//! The kernel knows to the nanosecond how long a process ran. If it keeps an exact clock of that
//! for each process, reading it is one short system call. For a process that ended between two
//! rows, the kernel reports the time up to its last tick at the end of the process. The time after
//! that tick is known only for all processes together that ended in a row, and only if an
//! idle-priority process shows how long no other ran; it is split by the number of ends. The kernel
//! merely samples how much of the sum was in programs and in the kernel, at each tick.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;

use crate::machine::Machine;
use crate::processes::cpu_clocks::clock_of_process;
use crate::protocol::CpuSeen;
use crate::recorders::taskstats::{Taskstats, ThreadExit};
use crate::recorders::time_series::{self, steps, whole};
use rustix::thread::gettid;

/// How many names the series has; the others are summed.
const SHOWN: usize = 16;
const OTHERS: &str = "(others)";
/// The probe's own name.
const PROBE: &str = "hardcost-probe";
/// The unit of `/proc/stat`, in nanoseconds.
const TICK: u64 = 10_000_000;
/// Rows from one reading of the sampled times to the next: the file is long.
const EVERY: usize = 5;

/// A process.
struct Process {
    /// How long it had run when the recording began.
    before: u64,
    /// How long it had run at the last look.
    had: u64,
    /// How long its ended threads had run.
    ended: u64,
    name: String,
    is_idle: bool,
    /// Whether it was born during the recording, and may still execute another program.
    is_young: bool,
    looks: u32,
    is_alive: bool,
}

/// What happened since the row before.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    /// How long each process ran.
    had: Vec<(i32, u64)>,
    /// The processes of ended threads.
    ended: Vec<i32>,
}

/// The processor over time.
pub struct CpuRecorder {
    exits: Option<Taskstats>,
    newest: Option<File>,
    last: i32,
    processes: BTreeMap<i32, Process>,
    rows: Vec<Row>,
    /// When each row was taken, by the same clock as the processes' times.
    moments: Vec<u64>,
    started: std::time::Instant,
    sampled: (u64, u64),
    samples: Vec<(u64, u64)>,
}

impl CpuRecorder {
    /// Begins. Knowing the times of processes that end between two rows needs a setting of the
    /// kernel, which is not changed on a machine that others use too.
    pub fn begin(machine: Machine) -> Self {
        let mut recorder = Self {
            exits: (machine == Machine::Guest).then(Taskstats::listen).flatten(),
            newest: File::open("/proc/loadavg").ok(),
            last: 0,
            processes: BTreeMap::new(),
            rows: Vec::new(),
            moments: Vec::new(),
            started: std::time::Instant::now(),
            sampled: sampled(),
            samples: Vec::new(),
        };
        recorder.last = recorder.newest_id().unwrap_or(0);
        for pid in ids() {
            if let Some(had) = clock_of_process(pid) {
                recorder.processes.insert(pid, Process::new(pid, had));
            }
        }
        recorder
    }

    /// Takes a row.
    pub fn take(&mut self) {
        let mut row = Row::default();
        for exit in self.exits.as_mut().map(Taskstats::take).unwrap_or_default() {
            self.note(&exit, &mut row);
        }
        let newest = self.newest_id();
        let new = match newest {
            Some(newest) if newest >= self.last => self.last + 1..=newest,
            Some(newest) => 1..=newest, // the kernel counts from 1 again
            None => RangeInclusive::new(1, 0),
        };
        self.last = newest.unwrap_or(self.last);
        // This thread is the only one that the kernel would take for its process by its number.
        let own = gettid().as_raw_nonzero().get();
        let is_new = |pid: &i32| *pid != own && !self.processes.contains_key(pid);
        for pid in new.filter(is_new).collect::<Vec<_>>() {
            if clock_of_process(pid).is_some() {
                self.processes.insert(pid, Process { is_young: true, ..Process::new(pid, 0) });
            }
        }
        for (&pid, process) in self.processes.iter_mut().filter(|(_, process)| process.is_alive) {
            match clock_of_process(pid) {
                Some(had) => process.look(pid, had, &mut row),
                None => process.is_alive = false,
            }
        }
        self.rows.push(row);
        self.moments.push(whole(self.started.elapsed()));
        let before = self.samples.last().copied().unwrap_or(self.sampled);
        let looks = self.samples.len() % EVERY == EVERY - 1;
        self.samples.push(if looks { sampled() } else { before });
    }

    /// Notes the end of a thread.
    fn note(&mut self, exit: &ThreadExit, row: &mut Row) {
        // Its process may live on, even if it was not looked at yet.
        let is_alive = exit.thread != exit.process;
        let new = || Process { is_alive, is_young: true, ..Process::new(exit.process, 0) };
        let process = self.processes.entry(exit.process).or_insert_with(new);
        process.ended += exit.ran;
        row.ended.push(exit.process);
        if exit.thread == exit.process {
            process.name = short(&exit.name);
        }
        let had = process.had.max(process.before + process.ended);
        process.add(exit.process, had, row);
    }

    /// The last process id that the kernel gave.
    fn newest_id(&self) -> Option<i32> {
        let mut text = [0; 128];
        let length = self.newest.as_ref()?.read_at(&mut text, 0).ok()?;
        String::from_utf8_lossy(&text[..length]).split_whitespace().last()?.parse().ok()
    }

    /// Drops every other row, after adding its content to the next one.
    pub fn thin(&mut self) {
        let mut before = Row::default();
        for (index, row) in self.rows.iter_mut().enumerate() {
            if index % 2 == 0 {
                before = std::mem::take(row);
            } else {
                row.had.append(&mut before.had);
                row.ended.append(&mut before.ended);
            }
        }
        time_series::thin(&mut self.rows);
        time_series::thin(&mut self.moments);
        time_series::thin(&mut self.samples);
    }

    /// Everything recorded in so many nanoseconds.
    pub fn end(mut self, nanoseconds: u64) -> CpuSeen {
        for (&pid, process) in self.processes.iter_mut().filter(|(_, process)| process.is_alive) {
            process.name = name(pid).unwrap_or(std::mem::take(&mut process.name));
            process.is_idle = is_idle(pid);
        }
        let processors = processors();
        let split = self.split(processors);
        let mut totals = BTreeMap::new();
        for process in self.processes.values().filter(|process| !process.is_idle) {
            let had = process.had - process.before;
            if had > 0 {
                *totals.entry(process.name.clone()).or_default() += had;
            }
        }
        if let Some(last) = self.samples.last_mut() {
            *last = sampled();
        }
        let busy: u64 = totals.values().sum();
        let user: Vec<u64> = self.samples.iter().map(|&(user, _)| user).collect();
        let system: Vec<u64> = self.samples.iter().map(|&(_, system)| system).collect();
        CpuSeen {
            processors,
            idle: (nanoseconds * processors).saturating_sub(busy),
            series: self.series(&totals, processors),
            processes: totals,
            user: steps(self.sampled.0, &user),
            system: steps(self.sampled.1, &system),
            split,
            exact: self.exits.is_some(),
        }
    }

    /// Splits each row's missing time among the processes that ended in it. Returns the sum.
    ///
    /// It is known only if an idle-priority process shows how long no other ran.
    fn split(&mut self, processors: u64) -> u64 {
        let mut all = 0;
        if !self.processes.values().any(|process| process.is_idle) {
            return all;
        }
        for (row, length) in self.rows.iter_mut().zip(steps(0, &self.moments)) {
            let had: u64 = row.had.iter().map(|&(_, had)| had).sum();
            let missing = (length * processors).saturating_sub(had);
            let Some(each) = missing.checked_div(row.ended.len() as u64) else { continue };
            for pid in &row.ended {
                row.had.push((*pid, each));
                self.processes.entry(*pid).and_modify(|process| process.had += each);
                all += each;
            }
        }
        all
    }

    /// The times from row to row: of those that ran longest, and of the others together.
    fn series(
        &self,
        totals: &BTreeMap<String, u64>,
        processors: u64,
    ) -> BTreeMap<String, Vec<u64>> {
        let mut order: Vec<_> = totals.iter().map(|(name, &had)| (had, name)).collect();
        order.sort_by(|one, other| other.cmp(one));
        let shown: Vec<&str> = order.iter().take(SHOWN).map(|(_, name)| name.as_str()).collect();
        let mut series: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let lengths = steps(0, &self.moments);
        for (index, (row, length)) in self.rows.iter().zip(lengths).enumerate() {
            let mut busy = 0;
            for (pid, had) in &row.had {
                let process = &self.processes[pid];
                if !process.is_idle {
                    let name = process.name.as_str();
                    let name = if shown.contains(&name) { name } else { OTHERS };
                    let line = series.entry(name.into());
                    line.or_insert_with(|| vec![0; self.rows.len()])[index] += had;
                    busy += had;
                }
            }
            let idle = series.entry("idle".into()).or_insert_with(|| vec![0; self.rows.len()]);
            idle[index] = (length * processors).saturating_sub(busy);
        }
        series
    }
}

impl Process {
    fn new(pid: i32, before: u64) -> Self {
        Self {
            before,
            had: before,
            ended: 0,
            name: name(pid).unwrap_or_else(|| "(ended)".into()),
            is_idle: is_idle(pid),
            is_young: false,
            looks: 0,
            is_alive: true,
        }
    }

    /// Notes how long a living process has run.
    fn look(&mut self, pid: i32, had: u64, row: &mut Row) {
        self.add(pid, had, row);
        self.looks += 1;
        // The older its name, the less often is it looked up.
        if self.is_young && self.looks.is_power_of_two() {
            self.name = name(pid).unwrap_or(std::mem::take(&mut self.name));
            self.is_idle = is_idle(pid);
        }
    }

    fn add(&mut self, pid: i32, had: u64, row: &mut Row) {
        if had > self.had {
            row.had.push((pid, had - self.had));
            self.had = had;
        }
    }
}

/// The ids of all processes.
fn ids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The name of a process.
fn name(pid: i32) -> Option<String> {
    if u32::try_from(pid) == Ok(std::process::id()) {
        return Some(PROBE.into());
    }
    let text = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(short(text.trim_end())).filter(|name| !name.is_empty())
}

/// A name without what distinguishes similar threads of the kernel, as in `kworker/0:1`.
fn short(name: &str) -> String {
    name.split('/').next().unwrap_or(name).to_owned()
}

/// Whether a process has the scheduling policy for idle work.
fn is_idle(pid: i32) -> bool {
    // SAFETY: touches no memory.
    unsafe { libc::sched_getscheduler(pid) == libc::SCHED_IDLE }
}

/// How many processors there are.
fn processors() -> u64 {
    std::thread::available_parallelism().map_or(1, |number| number.get() as u64)
}

/// How long programs and the kernel ran on all processors, in nanoseconds; sampled.
fn sampled() -> (u64, u64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let fields: Vec<u64> =
        first.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
    match fields[..] {
        [user, nice, system, _idle, _wait, interrupt, soft, ..] => {
            ((user + nice) * TICK, (system + interrupt + soft) * TICK)
        }
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::Pid;

    use super::{CpuRecorder, Process, Row, ThreadExit, short};
    use crate::machine::Machine;

    #[test]
    fn what_runs_is_known_by_its_name() {
        let mut recorder = CpuRecorder::begin(Machine::Host);
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let mut shell = Command::new("sh").args(["-c", script]).spawn().expect("a shell");
        for _ in 0..200 {
            std::thread::sleep(std::time::Duration::from_millis(2));
            recorder.take();
        }
        let rows = recorder.rows.len();
        let seen = recorder.end(1_000_000_000);
        shell.wait().expect("ended");
        assert!(seen.processes["sh"] > 1_000_000, "{seen:?}");
        assert!(seen.series.values().all(|line| line.len() == rows));
        assert!(seen.series["sh"].iter().sum::<u64>() <= seen.processes["sh"]);
    }

    #[test]
    fn a_process_lives_on_whose_thread_ended_before_it_was_looked_at() {
        let mut recorder = CpuRecorder::begin(Machine::Host);
        let mut nap = Command::new("sleep").arg("60").spawn().expect("starts");
        let pid = Pid::from_child(&nap).as_raw_nonzero().get();
        let of = |thread| ThreadExit { thread, process: pid, name: "nap".into(), ran: 1 };
        recorder.note(&of(pid + 1), &mut Row::default());
        recorder.take();
        assert!(recorder.processes[&pid].is_alive && recorder.processes[&pid].looks > 0);
        nap.kill().and_then(|()| nap.wait()).expect("killed");
        recorder.processes.remove(&pid);
        recorder.note(&of(pid), &mut Row::default());
        assert!(!recorder.processes[&pid].is_alive);
    }

    #[test]
    fn rows_that_are_dropped_leave_what_was_in_them() {
        let mut recorder = CpuRecorder::begin(Machine::Host);
        let row = |had: &[(i32, u64)], ended: &[i32]| Row { had: had.into(), ended: ended.into() };
        recorder.rows =
            vec![row(&[(1, 5)], &[3]), row(&[(1, 6)], &[]), row(&[(2, 7)], &[]), row(&[], &[])];
        recorder.thin();
        assert_eq!(recorder.rows, [row(&[(1, 6), (1, 5)], &[3]), row(&[(2, 7)], &[])]);
    }

    #[test]
    fn what_is_missing_of_a_row_is_split_by_the_number_of_ends() {
        let mut recorder = CpuRecorder::begin(Machine::Host);
        let process = |pid, is_idle| (pid, Process { is_idle, ..Process::new(pid, 0) });
        recorder.processes = [process(-1, true), process(-2, false), process(-3, false)].into();
        let first = Row { had: vec![(-1, 40), (-2, 10)], ended: vec![-2, -3] };
        let second = Row { had: vec![(-1, 90)], ended: vec![] };
        (recorder.rows, recorder.moments) = (vec![first, second], vec![100, 200]);
        assert_eq!(recorder.split(1), 50);
        assert_eq!((recorder.processes[&-2].had, recorder.processes[&-3].had), (25, 25));
        assert_eq!(recorder.rows[1].had, [(-1, 90)]);
        recorder.processes.remove(&-1);
        assert_eq!(recorder.split(1), 0);
    }

    #[test]
    fn threads_of_the_kernel_are_known_by_what_they_are_for() {
        assert_eq!(short("kworker/u2:1-events"), "kworker");
        assert_eq!((short("jbd2/pmem0-8").as_str(), short("cp").as_str()), ("jbd2", "cp"));
    }
}
