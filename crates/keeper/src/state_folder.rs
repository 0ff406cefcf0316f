//! The keeper's state folder on the machine, and the systemd unit that starts the keeper at boot.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::failure::{Failure, Result, at};
use crate::journal::entry::{Begin, VERSION};
use crate::journal::file::{Journal, JournalContent, sha256};
use crate::journal::finished_journals::FinishedJournals;
use crate::safe_files::{self, NewFile, SafePath};

const FOLDER: &str = "/var/lib/hardcost";
const UNITS: &str = "/etc/systemd/system";
const UNIT: &str = "hardcost-restore.service";
const WANTED_BY: &str = "multi-user.target.wants";
const PROGRAM: &str = "hardcost-keeper";
/// How often to try for the lock, and how long to wait in between, in milliseconds.
const TRIES: u32 = 600;
const PAUSE: u64 = 50;
/// The number of hexadecimal digits of a machine's hash.
const DIGITS: usize = 32;

/// The state folder, in which one process at a time works.
pub struct StateFolder {
    _lock: File,
    program: PathBuf,
}

impl StateFolder {
    /// Locks the folder; `None` if another process has it. The lock ends with this process.
    pub fn take() -> Result<Option<Self>> {
        let folder = Path::new(FOLDER);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(at(folder))?;
        let path = folder.join("lock");
        let safe_path = SafePath::there(&path)?;
        safe_path.check_is_roots()?;
        let lock = safe_path.open(OFlags::WRONLY | OFlags::CREATE)?;
        for _ in 0..TRIES {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    safe_files::clean_all(folder);
                    return Ok(Some(Self { _lock: lock, program: folder.join(PROGRAM) }));
                }
                Err(rustix::io::Errno::WOULDBLOCK) => sleep(Duration::from_millis(PAUSE)),
                Err(error) => return Err(at(&path)(error.into())),
            }
        }
        Ok(None)
    }

    /// Whether the folder exists.
    pub fn is_there() -> bool {
        Path::new(FOLDER).exists()
    }

    /// The path of the journal.
    pub fn journal() -> PathBuf {
        Path::new(FOLDER).join("journal")
    }

    /// The path of a boot's journal: which boot is not the machine's own, and what was changed for
    /// it.
    pub fn boot_journal() -> PathBuf {
        Path::new(FOLDER).join("boot-journal")
    }

    /// The path of a journal once all of it is undone.
    pub fn last(journal: &Path) -> PathBuf {
        let name = journal.file_name().unwrap_or_default().to_string_lossy();
        journal.with_file_name(format!("last-{name}"))
    }

    /// The path of the list of finished journals.
    fn finished_journals() -> PathBuf {
        Path::new(FOLDER).join("ledger")
    }

    /// The path of audit rules to be loaded. Only root can read it.
    pub fn rules() -> PathBuf {
        Path::new(FOLDER).join("rules")
    }

    /// Has the machine restore itself when it boots, until `clear`. A boot that is not its own ends
    /// after so many seconds of silence.
    fn set_up(&self, silence: f64, token: &str) -> Result<()> {
        let program = &self.program;
        let own = fs::read("/proc/self/exe").map_err(at(Path::new("/proc/self/exe")))?;
        safe_files::put(program, &NewFile::of_root(&own, 0o700), token)?;
        if !Path::new(UNITS).is_dir() {
            return Ok(()); // without systemd nothing starts it
        }
        let unit = format!(
            "[Unit]\nDescription=Undo what an interrupted measurement of hardcost left changed\n\
             ConditionPathExists=|{}\nConditionPathExists=|{}\nAfter=local-fs.target\n\
             [Service]\nType=simple\nExecStart={} attend {silence}\n\
             [Install]\nWantedBy=multi-user.target\n",
            Self::journal().display(),
            Self::boot_journal().display(),
            program.display(),
        );
        let own = NewFile::of_root(unit.as_bytes(), 0o644);
        safe_files::put(&Path::new(UNITS).join(UNIT), &own, token)?;
        let link = wanted_link();
        let folder = link.parent().unwrap_or(Path::new(UNITS));
        safe_files::make_folder(folder)?;
        match symlink(Path::new(UNITS).join(UNIT), &link) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(at(&link)(error)),
            _ => SafePath::there(&link)?.sync(),
        }
    }

    /// Begins a run's journal. Returns its first line, too. A boot that is not the machine's own
    /// ends after so many seconds of silence.
    pub fn begin(&self, path: &Path, run: &str, silence: f64) -> Result<(Journal, String)> {
        let finished = FinishedJournals::open(&Self::finished_journals())?;
        finished.write(&Self::finished_journals())?; // so that the folder keeps its name
        self.set_up(silence, finished.folder_name())?;
        let begin = Begin {
            version: VERSION,
            machine: machine(),
            boot: boot()?,
            run: run.to_owned(),
            folder: Some(finished.folder_name().to_owned()),
            number: Some(finished.next(name(path))),
            token: Some(safe_files::token()?),
        };
        Journal::begin(path, begin)
    }

    /// Puts a journal aside once all of it is undone. Without another journal, removes the rest.
    ///
    /// First it is noted on disk as finished, so it is never undone again, even if it is brought
    /// from elsewhere.
    pub fn finish(&self, journal: &Journal) -> Result<()> {
        let mut finished = FinishedJournals::open(&Self::finished_journals())?;
        finished.finish(journal.read(), name(journal.path()));
        finished.write(&Self::finished_journals())?;
        self.clear(journal.path(), finished.folder_name())
    }

    fn clear(&self, journal: &Path, token: &str) -> Result<()> {
        let last = Self::last(journal);
        match fs::rename(journal, &last) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(at(journal)(error)),
            _ => {}
        }
        if !Self::journal().exists() && !Self::boot_journal().exists() {
            let unit = Path::new(UNITS).join(UNIT);
            safe_files::clean(&unit, token);
            for path in [wanted_link(), unit, self.program.clone(), Self::rules()] {
                safe_files::remove(&path)?;
            }
        }
        SafePath::there(&last)?.sync()
    }

    /// The journal that an interrupted run left. One without a complete line is removed, and a
    /// finished one is put aside.
    pub fn left(&self, path: &Path) -> Result<Option<Journal>> {
        let finished = FinishedJournals::open(&Self::finished_journals())?;
        match Journal::open(path)? {
            Some(journal) if finished.is_finished(journal.read(), name(path)) => {
                self.clear(path, finished.folder_name())?;
                Ok(None)
            }
            None => {
                // It was cut off in its first line: nothing was changed.
                safe_files::remove(path)?;
                self.clear(path, finished.folder_name())?;
                Ok(None)
            }
            journal => Ok(journal),
        }
    }

    /// Whether a journal from the other side is open; `None`: that is not known any more.
    pub fn is_open(given: &JournalContent, content: &[u8], path: &Path) -> Result<Option<bool>> {
        let finished = FinishedJournals::open(&Self::finished_journals())?;
        let last =
            safe_files::look(&Self::last(path))?.map(|found| found.content).unwrap_or_default();
        let whole = usize::try_from(given.size).unwrap_or(usize::MAX).min(content.len());
        let is_finished = given.pending().is_empty()
            || finished.is_finished(given, name(path))
            || last.starts_with(&content[..whole]);
        Ok(if is_finished { Some(false) } else { finished.knows(&given.begin).then_some(true) })
    }
}

/// The name of a journal's file.
fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn wanted_link() -> PathBuf {
    Path::new(UNITS).join(WANTED_BY).join(UNIT)
}

/// A hash that identifies the machine: machine-id(5) asks programs to show no more.
pub fn machine() -> String {
    let id = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    sha256(format!("hardcost {}", id.trim()).as_bytes())[..DIGITS].into()
}

/// The id of the running boot.
pub fn boot() -> Result<String> {
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    Ok(fs::read_to_string(path).map_err(at(path))?.trim().into())
}

/// Refuses to continue without root's rights.
pub fn check_root() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Failure::Unfit("only root can change a machine, and put it back".into()))
}
