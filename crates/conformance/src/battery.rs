//! A battery: the same system calls made under many sets of audit rules, and which of them the
//! kernel recorded each time, with which key.
//!
//! The calls are made by processes that live through all sets, so that nothing but the rules
//! differs. Under a rule that records everything their records are reported whole, which shows what
//! the kernel knows of each call. The steps around the calls are done in this process, the audit
//! daemon, of which the kernel makes no records.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::Path;

use anyhow::{Result, ensure};
use rustix::fs::{major, minor, statfs};

use crate::answers::{Answer, Answers, FileAnswer, SetAnswer};
use crate::argument_memory::Layout;
use crate::audit_daemon::{Audit, Record, listing};
use crate::file_steps;
use crate::job::{Call, Job, RuleSet};
use crate::record_matcher::{RecordMatcher, syscall_key};
use crate::worker::Worker;

/// Records everything.
const LEARN: &str = "-a always,exit -S all\n";
/// Makes auditctl continue after a line that is refused.
const GO_ON: &str = "-c\n";

/// Does a job: writes `files`, a `learned` for each call, and a `set` for each rule set.
pub fn run(job: &Job, answers: &mut Answers<impl Write>) -> Result<()> {
    check(job)?;
    let layout = Layout::of(&job.calls)?;
    let matcher = RecordMatcher::new(layout.signatures(&job.calls)?);
    let mut audit = Audit::begin()?;
    file_steps::carry_out(&job.fixture)?;
    answers
        .write(&Answer::Files { files: job.paths.iter().map(|path| identify(path)).collect() })?;
    audit.clear()?;
    let workers: Result<Vec<Worker>> =
        job.workers.iter().map(|identity| Worker::start(identity, &job.calls)).collect();
    let workers = workers?;
    let mut battery = Battery { calls: &job.calls, matcher, workers, audit, results: Vec::new() };
    battery.learn(answers)?;
    for (index, set) in job.sets.iter().enumerate() {
        let answer = battery.under(index, set)?;
        answers.write(&Answer::Set(answer))?;
    }
    battery.audit.clear()
}

/// Refuses indices of workers and calls that do not exist.
fn check(job: &Job) -> Result<()> {
    let workers = job.calls.iter().all(|call| call.worker < job.workers.len());
    let mut named = job.sets.iter().flat_map(|set| set.calls.iter().flatten());
    let known = workers && named.all(|&call| call < job.calls.len());
    ensure!(known, "a battery that names a worker or call it does not hold");
    Ok(())
}

/// The file at a path.
fn identify(path: &str) -> Option<FileAnswer> {
    let found = fs::symlink_metadata(path).ok()?;
    let entry = entry(Path::new(path)).unwrap_or((found.dev(), found.ino()));
    let kind = if found.is_symlink() { None } else { Some(statfs(path).ok()?.f_type) };
    let pair = |(device, inode): (u64, u64)| (major(device), minor(device), inode);
    Some(FileAnswer { file: pair((found.dev(), found.ino())), entry: pair(entry), kind })
}

/// The device and inode that a directory's entry leads to, under what is mounted there.
fn entry(path: &Path) -> Option<(u64, u64)> {
    let (directory, name) = (path.parent()?, path.file_name()?);
    let mut entries = fs::read_dir(directory).ok()?.flatten();
    let entry = entries.find(|entry| entry.file_name() == name)?;
    Some((fs::metadata(directory).ok()?.dev(), entry.ino()))
}

/// The calls, and the workers that make them.
struct Battery<'a> {
    calls: &'a [Call],
    matcher: RecordMatcher,
    workers: Vec<Worker>,
    audit: Audit,
    /// The result of each call when it was learned.
    results: Vec<i64>,
}

impl Battery<'_> {
    /// Makes all calls with everything recorded, and reports each one's records.
    fn learn(&mut self, answers: &mut Answers<impl Write>) -> Result<()> {
        self.audit.load(LEARN)?;
        for index in 0..self.calls.len() {
            let result = self.make(index)?;
            self.results.push(result);
        }
        let (kept, _) = self.audit.records()?;
        let mut found = self.matcher.events(&kept);
        for (call, &result) in self.results.iter().enumerate() {
            let records = found.remove(&call).unwrap_or_default();
            answers.write(&Answer::Learned { call, result, records })?;
        }
        Ok(())
    }

    /// Makes calls under a set of rules and reports which were recorded.
    fn under(&mut self, index: usize, set: &RuleSet) -> Result<SetAnswer> {
        self.audit.clear()?;
        let (complaints, loaded) = self.audit.load(&format!("{GO_ON}{}", set.rules))?;
        let listing = set.list.then(|| listing(loaded)).transpose()?;
        let all: Vec<usize> = (0..self.calls.len()).collect();
        let mut changed = Vec::new();
        for &call in set.calls.as_ref().unwrap_or(&all) {
            let result = self.make(call)?;
            if result != self.results[call] {
                changed.push((call, result));
            }
        }
        let (kept, lost) = self.audit.records()?;
        let (keys, recorded) = self.recorded(&kept);
        let kinds = self.matcher.kinds(&kept);
        Ok(SetAnswer {
            set: index,
            complaints,
            loaded,
            lost,
            listing,
            keys,
            recorded,
            kinds,
            changed,
        })
    }

    fn make(&mut self, index: usize) -> Result<i64> {
        let call = &self.calls[index];
        file_steps::carry_out(&call.before)?;
        let result = self.workers[call.worker].make(index)?;
        file_steps::carry_out(&call.after)?;
        Ok(result)
    }

    /// The keys among records, as written, and which call was recorded with which of them.
    fn recorded(&self, kept: &[Record]) -> (Vec<String>, Vec<(usize, usize)>) {
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        let mut recorded = Vec::new();
        for record in kept {
            if let Some(call) = self.matcher.call(record) {
                let next = keys.len();
                let key = *keys.entry(syscall_key(record).to_owned()).or_insert(next);
                recorded.push((call, key));
            }
        }
        let mut ordered: Vec<(String, usize)> = keys.into_iter().collect();
        ordered.sort_by_key(|&(_, number)| number);
        (ordered.into_iter().map(|(key, _)| key).collect(), recorded)
    }
}
