//! What is wanted of a machine, and how it is done: in the probe's words for the same.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hardcost_linux::daemon::Daemon;
use serde::{Deserialize, Serialize};

use crate::auditing;
use crate::coupled::{is_final, moved_by, moved_to};
use crate::desk::Desk;
use crate::entry::Kind;
use crate::failure::{Failure, Result, at};
use crate::files::{self, New};
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

/// What may be changed: its kind and name, and the content that it gets, where that is known.
pub type Touched = (Kind, String, Option<Vec<u8>>);

/// The paths that files have without links on the way, by the paths that were asked for.
///
/// What is written down is what is changed then, wherever links lead by that time.
#[derive(Debug, Default)]
pub struct Reals(BTreeMap<String, String>);

impl Reals {
    fn note(&mut self, path: &str) -> Result<String> {
        if let Some(real) = self.0.get(path) {
            return Ok(real.clone());
        }
        let real = files::resolved(path)?;
        self.0.insert(path.to_owned(), real.clone());
        Ok(real)
    }

    fn of(&self, path: &str) -> Result<&Path> {
        let unknown = || Failure::Failed(format!("{path} was not written down"));
        self.0.get(path).map(Path::new).ok_or_else(unknown)
    }
}

impl Wanted {
    /// What it may change, the first to be undone last.
    pub fn touches(&self, reals: &mut Reals) -> Result<Vec<Touched>> {
        Ok(match self {
            Self::Make { directories, files } => {
                let paths: Vec<_> = directories.iter().chain(files).collect();
                let missing = paths.into_iter().filter(|path| !Path::new(path).exists());
                let real = missing.map(|path| reals.note(path)).collect::<Result<Vec<_>>>()?;
                let mut found: Vec<String> =
                    real.iter().flat_map(|it| missing_parents(it)).collect();
                found.dedup();
                found.extend(real);
                found.into_iter().map(|path| (Kind::File, path, Some(Vec::new()))).collect()
            }
            Self::Write { path, value } if path.starts_with("/sys/") => {
                vec![(Kind::SecurityModule, path.clone(), bytes(value.as_ref()))]
            }
            Self::Write { path, .. } if is_final(path) => {
                return Err(Failure::Refused(format!("{path} can't be put back before a reboot")));
            }
            // Those that it moves are put back after it, since putting it back moves them again.
            Self::Write { path, value } => {
                let value = match value {
                    Some(value) => Some(value.clone().into_bytes()),
                    None => thing::look(Kind::Setting, path)?.before,
                };
                let moved = moved_by(path).into_iter().map(|path| {
                    let to = value.as_ref().map(|value| moved_to(&path, value));
                    (Kind::Setting, path, to)
                });
                moved.chain([(Kind::Setting, path.clone(), value.clone())]).collect()
            }
            Self::Audit { .. } => {
                auditing::check_unlocked()?;
                vec![
                    (Kind::AuditState, "audit".into(), None),
                    (Kind::AuditRules, "audit rules".into(), None),
                ]
            }
            Self::Install { path, base64, .. } => {
                let real = reals.note(path)?;
                let folder = |path| (Kind::File, path, Some(Vec::new()));
                let parents = missing_parents(&real).into_iter().map(folder);
                parents.chain([(Kind::File, real.clone(), Some(decoded(path, base64)?))]).collect()
            }
            Self::Mount { path, options } => {
                let wanted = format!("{},{}", mounts::shown(path)?, options.join(","));
                vec![(Kind::Mount, path.clone(), Some(wanted.into_bytes()))]
            }
            // What starts a unit again is started before it, and so stands behind it.
            Self::Unit { name, active } => {
                let starters = if *active { Vec::new() } else { units::starters(name)? };
                let all = [name.clone()].into_iter().chain(starters);
                let state = if *active { "active" } else { "inactive" };
                all.map(|name| (Kind::Service, name, Some(state.into()))).collect()
            }
        })
    }

    /// Does it. `daemon` takes audit's records where nobody else does; a file is named by `token`
    /// while it is written.
    pub fn carry_out(
        &self,
        reals: &Reals,
        token: &str,
        daemon: &mut Option<Daemon>,
    ) -> Result<Done> {
        match self {
            Self::Make { directories, files } => make(directories, files, reals),
            Self::Write { path, value } => write(path, value.as_deref()),
            Self::Audit { rules, backlog_limit } => {
                load(rules, backlog_limit.unwrap_or(BACKLOG), token, daemon)
            }
            Self::Install { path, mode, base64 } => {
                let (content, real) = (decoded(path, base64)?, reals.of(path)?);
                files::make_folder(real.parent().unwrap_or(Path::new("/")))?;
                let was = thing::look(Kind::File, &real.to_string_lossy())?;
                thing::fill(&was, &content, mode.or(was.mode).unwrap_or(0o644), token)?;
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
    let kind = if path.starts_with("/sys/") { Kind::SecurityModule } else { Kind::Setting };
    thing::write_setting(kind, path, value.as_bytes())?;
    Ok(Done::Written { path: path.into(), before, after: read() })
}

/// Loads rules in the place of all others, by auditctl, which judges them.
fn load(rules: &str, backlog_limit: u32, token: &str, daemon: &mut Option<Daemon>) -> Result<Done> {
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
    files::put(&path, &New::of_root(rules.as_bytes(), 0o600), token)?;
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

fn make(directories: &[String], files: &[String], reals: &Reals) -> Result<Done> {
    let missing = |paths: &[String]| -> Result<Vec<&Path>> {
        let missing = paths.iter().filter(|path| !Path::new(path).exists());
        missing.map(|path| reals.of(path)).collect()
    };
    let (folders, mut made) = (missing(directories)?, 0);
    for folder in &folders {
        files::make_folder(folder)?;
    }
    for file in missing(files)? {
        files::make_folder(file.parent().unwrap_or(Path::new("/")))?;
        made += usize::from(files::make_file(file)?);
    }
    // As the kernel takes the paths of its rules: a folder's lead where its links do.
    let found = directories.iter().map(|path| (path, fs::metadata(path)));
    let found = found.chain(files.iter().map(|path| (path, fs::symlink_metadata(path))));
    let inodes =
        found.map(|(path, about)| Ok((path.clone(), about.map_err(at(Path::new(path)))?.ino())));
    let inodes = inodes.collect::<Result<_>>()?;
    Ok(Done::Made { directories: folders.len(), files: made, inodes })
}

fn bytes(value: Option<&String>) -> Option<Vec<u8>> {
    value.map(|value| value.clone().into_bytes())
}

fn decoded(path: &str, base64: &str) -> Result<Vec<u8>> {
    let content = BASE64_STANDARD.decode(base64);
    content.map_err(|why| Failure::Failed(format!("{path}: {why}")))
}

/// The folders above a path that are not there, the highest first.
fn missing_parents(path: &str) -> Vec<String> {
    let above = Path::new(path).ancestors().skip(1);
    let missing = above.take_while(|folder| !folder.exists());
    let mut found: Vec<_> = missing.map(|folder| folder.display().to_string()).collect();
    found.reverse();
    found
}
