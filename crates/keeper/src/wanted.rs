//! What is wanted of a machine, and how it is done: in the probe's words for the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hardcost_linux::daemon::Daemon;
use hardcost_linux::made;
use serde::{Deserialize, Serialize};

use crate::auditing;
use crate::coupled::{is_final, moved_by};
use crate::desk::{self, Desk};
use crate::entry::Kind;
use crate::failure::{Failure, Result};
use crate::{mounts, thing, units};

/// How many records the kernel may queue where nobody says.
const BACKLOG: u32 = 8192;

/// A change that is wanted.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Wanted {
    /// Folders and empty files where they are missing.
    Make {
        #[serde(default)]
        directories: Vec<String>,
        #[serde(default)]
        files: Vec<String>,
    },
    /// A setting; without a value the one that it has.
    Write { path: String, value: Option<String> },
    /// Audit on, with these rules in the place of all others.
    Audit { rules: String, backlog_limit: Option<u32> },
    /// A file's content; what is there keeps its owner, and its mode unless there is another.
    Install { path: String, mode: Option<u32>, base64: String },
    /// Options on top of those that a mount has.
    Mount { path: String, options: Vec<String> },
    /// A unit of systemd that runs, with the configuration that it has then, or does not.
    Unit { name: String, active: bool },
}

/// What was done, as the probe says it too.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Done {
    /// Files are there.
    Made { directories: usize, files: usize, inodes: BTreeMap<String, u64> },
    /// A setting was written.
    Written { path: String, before: Option<String>, after: Option<String> },
    /// Rules are loaded.
    Audit { exit: Option<i32>, stdout: String, stderr: String, loaded: usize },
    /// A file was written.
    Installed { path: String, bytes: usize },
    /// A mount has other options.
    Mounted { path: String, options: Vec<String> },
    /// A unit runs, or not.
    Unit { name: String, state: String },
}

impl Wanted {
    /// What it may change, the first to be undone last.
    pub fn touches(&self) -> Result<Vec<(Kind, String)>> {
        let file = |path: &String| (Kind::File, path.clone());
        Ok(match self {
            Self::Make { directories, files } => {
                let mut paths: Vec<_> = directories.iter().chain(files).collect();
                let parents = paths.iter().flat_map(|path| missing_parents(path));
                let mut found: Vec<_> = parents.map(|path| (Kind::File, path)).collect();
                found.dedup();
                paths.retain(|path| !Path::new(path).exists());
                found.extend(paths.into_iter().map(file));
                found
            }
            Self::Write { path, .. } if path.starts_with("/sys/") => {
                vec![(Kind::SecurityModule, path.clone())]
            }
            Self::Write { path, .. } if is_final(path) => {
                return Err(Failure::Refused(format!("{path} can't be put back before a reboot")));
            }
            // Those that it moves are put back after it, since putting it back moves them again.
            Self::Write { path, .. } => {
                let all = moved_by(path).into_iter().chain([path.clone()]);
                all.map(|path| (Kind::Setting, path)).collect()
            }
            Self::Audit { .. } => {
                auditing::check_unlocked()?;
                vec![(Kind::AuditState, "audit".into()), (Kind::AuditRules, "audit rules".into())]
            }
            Self::Install { path, .. } => {
                let parents = missing_parents(path).into_iter();
                parents.chain([path.clone()]).map(|path| (Kind::File, path)).collect()
            }
            Self::Mount { path, .. } => vec![(Kind::Mount, path.clone())],
            // What starts a unit again is started before it, and so stands behind it.
            Self::Unit { name, active } => {
                let starters = if *active { Vec::new() } else { units::starters(name)? };
                let all = [name.clone()].into_iter().chain(starters);
                all.map(|name| (Kind::Service, name)).collect()
            }
        })
    }

    /// Does it. `daemon` takes audit's records where nobody else does.
    pub fn carry_out(&self, daemon: &mut Option<Daemon>) -> Result<Done> {
        match self {
            Self::Make { directories, files } => make(directories, files),
            Self::Write { path, value } => write(path, value.as_deref()),
            Self::Audit { rules, backlog_limit } => {
                load(rules, backlog_limit.unwrap_or(BACKLOG), daemon)
            }
            Self::Install { path, mode, base64 } => {
                let content = BASE64_STANDARD.decode(base64);
                let content = content.map_err(|why| Failure::Failed(format!("{path}: {why}")))?;
                made::parents(path).map_err(|error| failed(&error))?;
                let was = thing::look(Kind::File, path)?;
                thing::fill(&was, content.clone(), mode.or(was.mode).unwrap_or(0o644))?;
                Ok(Done::Installed { path: path.clone(), bytes: content.len() })
            }
            Self::Mount { path, options } => {
                mounts::add(path, options)?;
                let shown = mounts::shown(path)?;
                let options = shown.split(',').map(str::to_owned).collect();
                Ok(Done::Mounted { path: path.clone(), options })
            }
            Self::Unit { name, active } => {
                if !active {
                    for starter in units::starters(name)? {
                        units::put(&starter, b"inactive")?;
                    }
                }
                units::put(name, if *active { b"active" } else { b"inactive" })?;
                let state = String::from_utf8_lossy(&units::state(name)?).into_owned();
                Ok(Done::Unit { name: name.clone(), state })
            }
        }
    }
}

fn write(path: &str, value: Option<&str>) -> Result<Done> {
    let read = || {
        let text = fs::read_to_string(path).ok()?;
        Some(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
    };
    let before = read();
    let value = value.map(str::to_owned).or_else(|| before.clone()).unwrap_or_default();
    thing::write_setting(path, value.as_bytes())?;
    Ok(Done::Written { path: path.into(), before, after: read() })
}

/// Loads rules in the place of all others, by auditctl, which judges them.
fn load(rules: &str, backlog_limit: u32, daemon: &mut Option<Daemon>) -> Result<Done> {
    if rules.lines().any(|line| line.split_whitespace().eq(["-e", "2"])) {
        return Err(Failure::Refused("the rules would lock audit (-e 2) until a reboot".into()));
    }
    let failed = |error: std::io::Error| auditing::explain(&error);
    auditing::put_rules(&[])?;
    let mut audit = auditing::open()?;
    let mut settings = auditing::settings()?;
    (settings.enabled, settings.backlog_limit) = (1, backlog_limit);
    settings.put(&mut audit).map_err(failed)?;
    if audit.status().map_err(failed)?.daemon == 0 {
        let own = daemon.insert(Daemon::open().map_err(failed)?);
        own.enable(backlog_limit).map_err(failed)?;
    }
    if rules.is_empty() {
        return Ok(Done::Audit {
            exit: Some(0),
            stdout: String::new(),
            stderr: String::new(),
            loaded: 0,
        });
    }
    // SELinux lets auditctl read its own folder and no other; a name that does not end in .rules is
    // none of the machine's own.
    let path = Desk::rules();
    desk::write(&path, rules.as_bytes(), 0o600)?;
    let said = Command::new("auditctl")
        .args([Path::new("-R"), &path])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            Failure::Refused(format!("auditctl: {error}: is the package auditd there?"))
        })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(64 << 10).collect();
    Ok(Done::Audit {
        exit: said.status.code(),
        stdout: text(&said.stdout),
        stderr: text(&said.stderr),
        loaded: auditing::count(&auditing::rules()?),
    })
}

fn make(directories: &[String], files: &[String]) -> Result<Done> {
    let made = made::make(directories, files).map_err(|error| failed(&error))?;
    Ok(Done::Made { directories: made.directories, files: made.files, inodes: made.inodes })
}

fn failed(error: &io::Error) -> Failure {
    Failure::Failed(error.to_string())
}

/// The folders above a path that are not there, the highest first.
fn missing_parents(path: &str) -> Vec<String> {
    let above = Path::new(path).ancestors().skip(1);
    let missing = above.take_while(|folder| !folder.exists());
    let mut found: Vec<_> = missing.map(|folder| folder.display().to_string()).collect();
    found.reverse();
    found
}
