//! Requests for changes, and carrying them out. Their JSON is that of the probe's requests and
//! answers.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hardcost_linux::audit_daemon::Daemon;
use serde::{Deserialize, Serialize};

use crate::changes::sysctl_side_effects::{is_irreversible, settings_changed_by, value_after};
use crate::changes::{audit, kinds, mounts, systemd_units};
use crate::failure::{Failure, Result, at};
use crate::journal::state::Kind;
use crate::safe_files::{self, NewFile};
use crate::state_folder::StateFolder;

/// How many records the kernel may queue if the request does not say.
const BACKLOG: u32 = 8192;

/// A request for a change.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum ChangeRequest {
    /// Make folders and empty files where they are missing.
    Make {
        #[serde(default)]
        directories: Vec<String>,
        #[serde(default)]
        files: Vec<String>,
    },
    /// Write a setting; without a value the present one.
    Write { path: String, value: Option<String> },
    /// Turn audit on, and replace all rules by these.
    Audit { rules: String, backlog_limit: Option<u32> },
    /// Write a file. An existing one keeps its owner, and its mode unless one is given.
    Install { path: String, mode: Option<u32>, base64: String },
    /// Add options to a mount's.
    Mount { path: String, options: Vec<String> },
    /// Start a unit of systemd with its present configuration, or stop it.
    Unit { name: String, active: bool },
}

/// The answer to a request, as the probe gives it.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum ChangeAnswer {
    /// Files exist.
    Made { directories: usize, files: usize, inodes: BTreeMap<String, u64> },
    /// A setting was written.
    Written { path: String, before: Option<String>, after: Option<String> },
    /// Rules are loaded.
    Audit { exit: Option<i32>, stdout: String, stderr: String, loaded: usize },
    /// A file was written.
    Installed { path: String, bytes: usize },
    /// A mount has other options.
    Mounted { path: String, options: Vec<String> },
    /// A unit runs, or does not.
    Unit { name: String, state: String },
}

/// What a request may change: kind and name, and the new content, if known.
pub type AffectedItem = (Kind, String, Option<Vec<u8>>);

/// Requested paths with the symbolic links on the way resolved.
///
/// The path in the journal is the one that is changed, even if links change meanwhile.
#[derive(Debug, Default)]
pub struct ResolvedPaths(BTreeMap<String, String>);

impl ResolvedPaths {
    fn note(&mut self, path: &str) -> Result<String> {
        if let Some(real) = self.0.get(path) {
            return Ok(real.clone());
        }
        let real = safe_files::resolved(path)?;
        self.0.insert(path.to_owned(), real.clone());
        Ok(real)
    }

    fn of(&self, path: &str) -> Result<&Path> {
        let unknown = || Failure::Failed(format!("{path} was not written down"));
        self.0.get(path).map(Path::new).ok_or_else(unknown)
    }
}

impl ChangeRequest {
    /// What the request may change. The first item is undone last.
    pub fn affected_items(&self, resolved_paths: &mut ResolvedPaths) -> Result<Vec<AffectedItem>> {
        Ok(match self {
            Self::Make { directories, files } => {
                let paths: Vec<_> = directories.iter().chain(files).collect();
                let missing = paths.into_iter().filter(|path| !Path::new(path).exists());
                let real =
                    missing.map(|path| resolved_paths.note(path)).collect::<Result<Vec<_>>>()?;
                let mut found: Vec<String> =
                    real.iter().flat_map(|it| missing_parents(it)).collect();
                found.dedup();
                found.extend(real);
                found.into_iter().map(|path| (Kind::File, path, Some(Vec::new()))).collect()
            }
            Self::Write { path, value } if path.starts_with("/sys/") => {
                vec![(Kind::SecurityModule, path.clone(), bytes(value.as_ref()))]
            }
            Self::Write { path, .. } if is_irreversible(path) => {
                return Err(Failure::Refused(format!("{path} can't be put back before a reboot")));
            }
            // Settings changed by this one are put back after it, because putting it back changes
            // them again.
            Self::Write { path, value } => {
                let value = match value {
                    Some(value) => Some(value.clone().into_bytes()),
                    None => kinds::current_state(Kind::Setting, path)?.before,
                };
                let moved = settings_changed_by(path).into_iter().map(|path| {
                    let to = value.as_ref().map(|value| value_after(&path, value));
                    (Kind::Setting, path, to)
                });
                moved.chain([(Kind::Setting, path.clone(), value.clone())]).collect()
            }
            Self::Audit { .. } => {
                audit::check_unlocked()?;
                vec![
                    (Kind::AuditState, "audit".into(), None),
                    (Kind::AuditRules, "audit rules".into(), None),
                ]
            }
            Self::Install { path, base64, .. } => {
                let real = resolved_paths.note(path)?;
                let folder = |path| (Kind::File, path, Some(Vec::new()));
                let parents = missing_parents(&real).into_iter().map(folder);
                parents.chain([(Kind::File, real.clone(), Some(decoded(path, base64)?))]).collect()
            }
            Self::Mount { path, options } => {
                let wanted = format!("{},{}", mounts::shown(path)?, options.join(","));
                vec![(Kind::Mount, path.clone(), Some(wanted.into_bytes()))]
            }
            // Units that trigger a unit are stopped before it, and so come behind it.
            Self::Unit { name, active } => {
                let starters = if *active { Vec::new() } else { systemd_units::starters(name)? };
                let all = [name.clone()].into_iter().chain(starters);
                let state = if *active { "active" } else { "inactive" };
                all.map(|name| (Kind::Service, name, Some(state.into()))).collect()
            }
        })
    }

    /// Carries the request out. `daemon` takes audit's records if no other daemon does. While a
    /// file is written, `token` is in its name.
    pub fn carry_out(
        &self,
        resolved_paths: &ResolvedPaths,
        token: &str,
        daemon: &mut Option<Daemon>,
    ) -> Result<ChangeAnswer> {
        match self {
            Self::Make { directories, files } => make(directories, files, resolved_paths),
            Self::Write { path, value } => write(path, value.as_deref()),
            Self::Audit { rules, backlog_limit } => {
                load(rules, backlog_limit.unwrap_or(BACKLOG), token, daemon)
            }
            Self::Install { path, mode, base64 } => {
                let (content, real) = (decoded(path, base64)?, resolved_paths.of(path)?);
                safe_files::make_folder(real.parent().unwrap_or(Path::new("/")))?;
                let was = kinds::current_state(Kind::File, &real.to_string_lossy())?;
                kinds::write_file(&was, &content, mode.or(was.mode).unwrap_or(0o644), token)?;
                Ok(ChangeAnswer::Installed { path: path.clone(), bytes: content.len() })
            }
            Self::Mount { path, options } => {
                mounts::add(path, options)?;
                let shown = mounts::shown(path)?;
                let options = shown.split(',').map(str::to_owned).collect();
                Ok(ChangeAnswer::Mounted { path: path.clone(), options })
            }
            Self::Unit { name, active } => {
                if !active {
                    for starter in systemd_units::starters(name)? {
                        systemd_units::put(&starter, b"inactive")?;
                    }
                }
                systemd_units::put(name, if *active { b"active" } else { b"inactive" })?;
                let state = String::from_utf8_lossy(&systemd_units::state(name)?).into_owned();
                Ok(ChangeAnswer::Unit { name: name.clone(), state })
            }
        }
    }
}

fn write(path: &str, value: Option<&str>) -> Result<ChangeAnswer> {
    let read = || {
        let text = fs::read_to_string(path).ok()?;
        Some(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
    };
    let before = read();
    let value = value.map(str::to_owned).or_else(|| before.clone()).unwrap_or_default();
    let kind = if path.starts_with("/sys/") { Kind::SecurityModule } else { Kind::Setting };
    kinds::write_setting(kind, path, value.as_bytes())?;
    Ok(ChangeAnswer::Written { path: path.into(), before, after: read() })
}

/// Replaces all rules by auditctl, which checks them.
fn load(
    rules: &str,
    backlog_limit: u32,
    token: &str,
    daemon: &mut Option<Daemon>,
) -> Result<ChangeAnswer> {
    if rules.lines().any(|line| line.split_whitespace().eq(["-e", "2"])) {
        return Err(Failure::Refused("the rules would lock audit (-e 2) until a reboot".into()));
    }
    let failed = |error: std::io::Error| audit::explain(&error);
    audit::put_rules(&[])?;
    let mut audit = audit::open()?;
    let mut settings = audit::settings()?;
    (settings.enabled, settings.backlog_limit) = (1, backlog_limit);
    settings.put(&mut audit).map_err(failed)?;
    if audit.status().map_err(failed)?.daemon == 0 {
        let own = daemon.insert(Daemon::open().map_err(failed)?);
        own.enable(backlog_limit).map_err(failed)?;
    }
    if rules.is_empty() {
        return Ok(ChangeAnswer::Audit {
            exit: Some(0),
            stdout: String::new(),
            stderr: String::new(),
            loaded: 0,
        });
    }
    // SELinux lets auditctl read its own folder and no other. A name that does not end in .rules is
    // not one of the machine's own files.
    let path = StateFolder::rules();
    safe_files::put(&path, &NewFile::of_root(rules.as_bytes(), 0o600), token)?;
    let said = Command::new("auditctl")
        .args([Path::new("-R"), &path])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            Failure::Refused(format!("auditctl: {error}: is the package auditd there?"))
        })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(64 << 10).collect();
    Ok(ChangeAnswer::Audit {
        exit: said.status.code(),
        stdout: text(&said.stdout),
        stderr: text(&said.stderr),
        loaded: audit::count(&audit::rules()?),
    })
}

fn make(
    directories: &[String],
    files: &[String],
    resolved_paths: &ResolvedPaths,
) -> Result<ChangeAnswer> {
    let missing = |paths: &[String]| -> Result<Vec<&Path>> {
        let missing = paths.iter().filter(|path| !Path::new(path).exists());
        missing.map(|path| resolved_paths.of(path)).collect()
    };
    let (folders, mut made) = (missing(directories)?, 0);
    for folder in &folders {
        safe_files::make_folder(folder)?;
    }
    for file in missing(files)? {
        safe_files::make_folder(file.parent().unwrap_or(Path::new("/")))?;
        made += usize::from(safe_files::make_file(file)?);
    }
    // As the kernel takes the paths of rules: a folder's links are followed.
    let found = directories.iter().map(|path| (path, fs::metadata(path)));
    let found = found.chain(files.iter().map(|path| (path, fs::symlink_metadata(path))));
    let inodes =
        found.map(|(path, about)| Ok((path.clone(), about.map_err(at(Path::new(path)))?.ino())));
    let inodes = inodes.collect::<Result<_>>()?;
    Ok(ChangeAnswer::Made { directories: folders.len(), files: made, inodes })
}

fn bytes(value: Option<&String>) -> Option<Vec<u8>> {
    value.map(|value| value.clone().into_bytes())
}

fn decoded(path: &str, base64: &str) -> Result<Vec<u8>> {
    let content = BASE64_STANDARD.decode(base64);
    content.map_err(|why| Failure::Failed(format!("{path}: {why}")))
}

/// The missing folders above a path, the highest first.
fn missing_parents(path: &str) -> Vec<String> {
    let above = Path::new(path).ancestors().skip(1);
    let missing = above.take_while(|folder| !folder.exists());
    let mut found: Vec<_> = missing.map(|folder| folder.display().to_string()).collect();
    found.reverse();
    found
}
