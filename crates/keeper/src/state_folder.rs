//! Where the keeper's things lie on the machine, and what starts it there.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::entry::{Begin, VERSION};
use crate::failure::{Failure, Result, at};
use crate::files::{self, New, Place};
use crate::journal::{Journal, Read, sha256};
use crate::ledger::Ledger;

const FOLDER: &str = "/var/lib/hardcost";
const UNITS: &str = "/etc/systemd/system";
const UNIT: &str = "hardcost-restore.service";
const WANTED_BY: &str = "multi-user.target.wants";
const PROGRAM: &str = "hardcost-keeper";
/// How often to try for the lock, and how long to wait in between, in milliseconds.
const TRIES: u32 = 600;
const PAUSE: u64 = 50;
/// Hexadecimal digits of what stands for a machine.
const DIGITS: usize = 32;

/// The keeper's folder, which one process at a time works in.
pub struct Desk {
    _lock: File,
    program: PathBuf,
}

impl Desk {
    /// Takes the folder; `None` if somebody else has it. The lock ends with this process.
    pub fn take() -> Result<Option<Self>> {
        let folder = Path::new(FOLDER);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(at(folder))?;
        let path = folder.join("lock");
        let place = Place::there(&path)?;
        place.check_is_roots()?;
        let lock = place.open(OFlags::WRONLY | OFlags::CREATE)?;
        for _ in 0..TRIES {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    files::clean_all(folder);
                    return Ok(Some(Self { _lock: lock, program: folder.join(PROGRAM) }));
                }
                Err(rustix::io::Errno::WOULDBLOCK) => sleep(Duration::from_millis(PAUSE)),
                Err(error) => return Err(at(&path)(error.into())),
            }
        }
        Ok(None)
    }

    /// Whether anybody has worked there.
    pub fn is_there() -> bool {
        Path::new(FOLDER).exists()
    }

    /// The journal's file.
    pub fn journal() -> PathBuf {
        Path::new(FOLDER).join("journal")
    }

    /// The file of the journal of a boot: what it took, and that it is not the machine's own.
    pub fn boot_journal() -> PathBuf {
        Path::new(FOLDER).join("boot-journal")
    }

    /// Where a journal goes once all of it is undone.
    pub fn last(journal: &Path) -> PathBuf {
        let name = journal.file_name().unwrap_or_default().to_string_lossy();
        journal.with_file_name(format!("last-{name}"))
    }

    /// The file that says which journals are finished.
    fn ledger() -> PathBuf {
        Path::new(FOLDER).join("ledger")
    }

    /// A file for audit rules that are to be loaded; only root can read it.
    pub fn rules() -> PathBuf {
        Path::new(FOLDER).join("rules")
    }

    /// Has the machine restore itself when it boots, until `clear`; a boot that is not its own ends
    /// once nobody was heard for so many seconds.
    fn set_up(&self, silence: f64, desk: &str) -> Result<()> {
        let program = &self.program;
        let own = fs::read("/proc/self/exe").map_err(at(Path::new("/proc/self/exe")))?;
        files::put(program, &New::of_root(&own, 0o700), desk)?;
        if !Path::new(UNITS).is_dir() {
            return Ok(()); // without systemd nobody starts it
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
        let own = New::of_root(unit.as_bytes(), 0o644);
        files::put(&Path::new(UNITS).join(UNIT), &own, desk)?;
        let link = wanted_link();
        let folder = link.parent().unwrap_or(Path::new(UNITS));
        files::make_folder(folder)?;
        match symlink(Path::new(UNITS).join(UNIT), &link) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(at(&link)(error)),
            _ => Place::there(&link)?.sync(),
        }
    }

    /// Begins a journal of a run; returns its first line too. A boot that is not the machine's own
    /// ends once nobody was heard for so many seconds.
    pub fn begin(&self, path: &Path, run: &str, silence: f64) -> Result<(Journal, String)> {
        let ledger = Ledger::open(&Self::ledger())?;
        ledger.write(&Self::ledger())?; // so that the folder keeps its name
        self.set_up(silence, ledger.desk())?;
        let begin = Begin {
            version: VERSION,
            machine: machine(),
            boot: boot()?,
            run: run.to_owned(),
            desk: Some(ledger.desk().to_owned()),
            number: Some(ledger.next(name(path))),
            token: Some(files::token()?),
        };
        Journal::begin(path, begin)
    }

    /// Puts a journal of which all is undone aside; without another one, removes the rest.
    ///
    /// That it is finished is on disk before: it is never undone again, whoever brings it.
    pub fn finish(&self, journal: &Journal) -> Result<()> {
        let mut ledger = Ledger::open(&Self::ledger())?;
        ledger.finish(journal.read(), name(journal.path()));
        ledger.write(&Self::ledger())?;
        self.clear(journal.path(), ledger.desk())
    }

    fn clear(&self, journal: &Path, desk: &str) -> Result<()> {
        let last = Self::last(journal);
        match fs::rename(journal, &last) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(at(journal)(error)),
            _ => {}
        }
        if !Self::journal().exists() && !Self::boot_journal().exists() {
            let unit = Path::new(UNITS).join(UNIT);
            files::clean(&unit, desk);
            for path in [wanted_link(), unit, self.program.clone(), Self::rules()] {
                files::remove(&path)?;
            }
        }
        Place::there(&last)?.sync()
    }

    /// The journal that an interrupted run left; one without a whole line is removed, and one that
    /// is finished is put aside.
    pub fn left(&self, path: &Path) -> Result<Option<Journal>> {
        let ledger = Ledger::open(&Self::ledger())?;
        match Journal::open(path)? {
            Some(journal) if ledger.is_finished(journal.read(), name(path)) => {
                self.clear(path, ledger.desk())?;
                Ok(None)
            }
            None => {
                // It was cut off in its first line: nothing was changed.
                files::remove(path)?;
                self.clear(path, ledger.desk())?;
                Ok(None)
            }
            journal => Ok(journal),
        }
    }

    /// Whether a journal that somebody else kept is open; `None`: nobody knows any more.
    pub fn is_open(given: &Read, content: &[u8], path: &Path) -> Result<Option<bool>> {
        let ledger = Ledger::open(&Self::ledger())?;
        let last = files::look(&Self::last(path))?.map(|found| found.content).unwrap_or_default();
        let whole = usize::try_from(given.size).unwrap_or(usize::MAX).min(content.len());
        let is_finished = given.pending().is_empty()
            || ledger.is_finished(given, name(path))
            || last.starts_with(&content[..whole]);
        Ok(if is_finished { Some(false) } else { ledger.knows(&given.begin).then_some(true) })
    }
}

/// The name of a journal's file.
fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn wanted_link() -> PathBuf {
    Path::new(UNITS).join(WANTED_BY).join(UNIT)
}

/// What stands for the machine among all others: machine-id(5) asks to show no more than a hash.
pub fn machine() -> String {
    let id = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    sha256(format!("hardcost {}", id.trim()).as_bytes())[..DIGITS].into()
}

/// The id of the running boot.
pub fn boot() -> Result<String> {
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    Ok(fs::read_to_string(path).map_err(at(path))?.trim().into())
}

/// Refuses to go on without root's rights.
pub fn check_root() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Failure::Unfit("only root can change a machine, and put it back".into()))
}
