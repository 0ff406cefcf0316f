//! Where the keeper's things lie on the machine, and what starts it there.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::failure::{Failure, Result, at};
use crate::journal::{Journal, sha256, sync_folder};

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
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(at(&path))?;
        for _ in 0..TRIES {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Self { _lock: lock, program: folder.join(PROGRAM) })),
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

    /// A file for audit rules that are to be loaded; only root can read it.
    pub fn rules() -> PathBuf {
        Path::new(FOLDER).join("rules")
    }

    /// Has the machine restore itself when it boots, until `clear`; a boot that is not its own ends
    /// once nobody was heard for so many seconds.
    pub fn set_up(&self, silence: f64) -> Result<()> {
        let program = &self.program;
        let own = fs::read("/proc/self/exe").map_err(at(Path::new("/proc/self/exe")))?;
        write(program, &own, 0o700)?;
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
        write(&Path::new(UNITS).join(UNIT), unit.as_bytes(), 0o644)?;
        let link = wanted_link();
        let folder = link.parent().unwrap_or(Path::new(UNITS));
        fs::create_dir_all(folder).map_err(at(folder))?;
        match symlink(Path::new(UNITS).join(UNIT), &link) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(at(&link)(error)),
            _ => sync_folder(&link),
        }
    }

    /// Puts a journal of which all is undone aside; without another one, removes the rest.
    pub fn clear(&self, journal: &Path) -> Result<()> {
        let last = Self::last(journal);
        if journal.exists() {
            fs::rename(journal, &last).map_err(at(journal))?;
        }
        if !Self::journal().exists() && !Self::boot_journal().exists() {
            let unit = Path::new(UNITS).join(UNIT);
            for path in [wanted_link(), unit, self.program.clone(), Self::rules()] {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(at(&path)(error));
                    }
                    _ => {}
                }
            }
        }
        sync_folder(&last)
    }

    /// The journal that an interrupted run left; one without a whole line is removed.
    pub fn left(&self, path: &Path) -> Result<Option<Journal>> {
        let journal = Journal::open(path)?;
        if journal.is_none() {
            // It was cut off in its first line: nothing was changed.
            let _ = fs::remove_file(path);
            self.clear(path)?;
        }
        Ok(journal)
    }
}

fn wanted_link() -> PathBuf {
    Path::new(UNITS).join(WANTED_BY).join(UNIT)
}

/// Writes a small file so that it is there whole, or not at all, whatever happens.
pub fn write(path: &Path, content: &[u8], mode: u32) -> Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside).map_err(at(&beside))?;
    file.set_permissions(Permissions::from_mode(mode)).map_err(at(&beside))?;
    file.write_all(content).map_err(at(&beside))?;
    file.sync_all().map_err(at(&beside))?;
    fs::rename(&beside, path).map_err(at(path))?;
    sync_folder(path)
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
