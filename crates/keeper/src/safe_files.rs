//! Files in folders that others can change: no symbolic link is followed, and no name is guessable.
//!
//! A folder is opened once, without following links, and everything is done in that descriptor. A
//! file is written under an unpredictable name, which no other process can have taken.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid, XattrFlags, fchmod, fchown,
    fgetxattr, flistxattr, fsetxattr, fstat, fsync, mkdirat, openat, openat2, readlinkat, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

use crate::failure::{Failure, Result, at};
use crate::journal::state::Bytes;

/// The largest file that is changed.
const MOST_BYTES: u64 = 16 << 20;
/// The largest extended attribute of Linux.
const LONGEST_LABEL: usize = 64 << 10;
/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
/// The permission bits that let others than the owner change a folder.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// How the names of half-written files begin.
const HALF_WRITTEN: &str = ".hardcost-";
/// All permission bits of others than the owner.
const RIGHTS_OF_OTHERS: u32 = 0o077;

/// The state of a file or folder.
#[derive(Debug)]
pub struct FileState {
    /// Empty for a folder.
    pub content: Vec<u8>,
    pub owner: u32,
    pub group: u32,
    pub mode: u32,
    /// The extended attributes; none if the file system has none.
    pub labels: BTreeMap<String, Bytes>,
}

/// The state that a file is to get; no owner: root.
#[derive(Debug)]
pub struct NewFile<'a> {
    pub content: &'a [u8],
    pub owner: Option<u32>,
    pub group: Option<u32>,
    pub mode: u32,
    pub labels: &'a BTreeMap<String, Bytes>,
}

impl<'a> NewFile<'a> {
    /// A file of root.
    pub fn of_root(content: &'a [u8], mode: u32) -> Self {
        const NONE: &BTreeMap<String, Bytes> = &BTreeMap::new();
        Self { content, owner: None, group: None, mode, labels: NONE }
    }
}

/// A path whose folder was opened without following links.
#[derive(Debug)]
pub struct SafePath {
    folder: OwnedFd,
    name: OsString,
    path: PathBuf,
}

impl SafePath {
    /// The safe path of `path`; `None` if its folder is missing.
    pub fn of(path: &Path) -> Result<Option<Self>> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Failure::Refused(format!("{} names no file", path.display())));
        };
        match open_folder(above) {
            Ok(folder) => Ok(Some(Self { folder, name: name.into(), path: path.into() })),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(Failure::Refused(format!(
                "{}: what lies on the way is a symbolic link, or no folder: none is followed",
                path.display()
            ))),
            Err(error) => Err(at(above)(error.into())),
        }
    }

    /// The safe path of a path whose folder must exist.
    pub fn there(path: &Path) -> Result<Self> {
        Self::of(path)?.ok_or_else(|| at(path)(Errno::NOENT.into()))
    }

    /// Refuses a folder that others than root can read or write.
    pub fn check_is_roots(&self) -> Result<()> {
        let about = fstat(&self.folder).map_err(|error| self.failed(error))?;
        if about.st_uid == 0 && about.st_mode & RIGHTS_OF_OTHERS == 0 {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        Err(Failure::Unfit(format!("{} is not root's alone (mode 0700)", folder.display())))
    }

    /// The status of the file; `None`: there is none.
    pub fn about(&self) -> Result<Option<Stat>> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(about)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Opens the file, unless it is a symbolic link. A new file is root's alone.
    pub fn open(&self, flags: OFlags) -> Result<File> {
        self.try_open(flags).map_err(|error| self.failed(error))
    }

    /// The same, with the system's error.
    pub fn try_open(&self, flags: OFlags) -> rustix::io::Result<File> {
        let always = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        openat(&self.folder, &self.name, flags | always, mode).map(File::from)
    }

    /// Removes the file, if it exists; a folder only if it is empty.
    pub fn remove(&self) -> Result<()> {
        let Some(about) = self.about()? else { return Ok(()) };
        let is_folder = FileType::from_raw_mode(about.st_mode).is_dir();
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match unlinkat(&self.folder, &self.name, flags) {
            Ok(()) | Err(Errno::NOENT) => self.sync(),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Waits until the name is on disk.
    pub fn sync(&self) -> Result<()> {
        fsync(&self.folder).map_err(|error| self.failed(error))
    }

    /// A half-written file's name in the same folder.
    fn beside(&self, token: &str) -> Result<Self> {
        let name: OsString = format!("{HALF_WRITTEN}{token}").into();
        let folder = self.folder.try_clone().map_err(at(&self.path))?;
        Ok(Self { folder, path: self.path.with_file_name(&name), name })
    }

    fn failed(&self, error: Errno) -> Failure {
        at(&self.path)(error.into())
    }
}

/// The state of a file or folder; `None`: it does not exist.
pub fn look(path: &Path) -> Result<Option<FileState>> {
    let Some(safe_path) = SafePath::of(path)? else { return Ok(None) };
    let Some(about) = safe_path.about()? else { return Ok(None) };
    // Only files and folders are opened: opening a device may have an effect.
    check_usual(path, &about)?;
    let file = safe_path.open(OFlags::RDONLY)?;
    let about = fstat(&file).map_err(|error| safe_path.failed(error))?;
    check_usual(path, &about)?;
    let mut content = Vec::new();
    if !FileType::from_raw_mode(about.st_mode).is_dir() {
        (&file).take(MOST_BYTES + 1).read_to_end(&mut content).map_err(at(path))?;
    }
    Ok(Some(FileState {
        content,
        owner: about.st_uid,
        group: about.st_gid,
        mode: about.st_mode & 0o7777,
        labels: labels(&file, path)?,
    }))
}

fn check_usual(path: &Path, about: &Stat) -> Result<()> {
    let path = path.display();
    match FileType::from_raw_mode(about.st_mode) {
        FileType::Directory => Ok(()),
        FileType::RegularFile if about.st_size.unsigned_abs() <= MOST_BYTES => Ok(()),
        FileType::Symlink => Err(Failure::Refused(format!(
            "{path} is a symbolic link, which is not followed: name the file that it leads to"
        ))),
        _ => Err(Failure::Refused(format!("{path} is no file of a usual size"))),
    }
}

fn labels(file: &File, path: &Path) -> Result<BTreeMap<String, Bytes>> {
    let mut names = vec![0; LONGEST_LABEL];
    let Ok(length) = flistxattr(file, &mut names[..]) else { return Ok(BTreeMap::new()) };
    let mut found = BTreeMap::new();
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; LONGEST_LABEL];
        let size = fgetxattr(file, name, &mut value[..]).map_err(|error| at(path)(error.into()))?;
        value.truncate(size);
        found.insert(String::from_utf8_lossy(name).into_owned(), Bytes(Some(value)));
    }
    Ok(found)
}

/// Writes a file in one step: a reader gets the old one or the new one.
///
/// Until then its name ends in `token`.
pub fn put(path: &Path, new: &NewFile<'_>, token: &str) -> Result<()> {
    let safe_path = SafePath::there(path)?;
    let beside = safe_path.beside(token)?;
    beside.remove()?; // the keeper's own, of an interrupted attempt
    let filled = fill(&beside, new).and_then(|()| {
        renameat(&beside.folder, &beside.name, &safe_path.folder, &safe_path.name)
            .map_err(|error| safe_path.failed(error))
    });
    if filled.is_err() {
        let _ = beside.remove(); // the first failure is the one to report
    }
    filled.and_then(|()| safe_path.sync())
}

fn fill(beside: &SafePath, new: &NewFile<'_>) -> Result<()> {
    let failed = |error: Errno| beside.failed(error);
    let mut file = beside.open(OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
    file.write_all(new.content).map_err(at(&beside.path))?;
    let (owner, group) = (new.owner.unwrap_or(0), new.group.unwrap_or(0));
    fchown(&file, Some(Uid::from_raw(owner)), Some(Gid::from_raw(group))).map_err(failed)?;
    fchmod(&file, Mode::from_raw_mode(new.mode)).map_err(failed)?;
    for (name, value) in new.labels {
        let value = value.0.as_deref().unwrap_or_default();
        fsetxattr(&file, name.as_str(), value, XattrFlags::empty()).map_err(failed)?;
    }
    file.sync_all().map_err(at(&beside.path))
}

/// Removes what an interrupted `put` with that token has left beside a file.
pub fn clean(path: &Path, token: &str) {
    if let Ok(Some(safe_path)) = SafePath::of(path) {
        let _ = safe_path.beside(token).and_then(|beside| beside.remove()); // it is rarely there
    }
}

/// Removes what any interrupted `put` has left in a folder that is the keeper's alone.
pub fn clean_all(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(HALF_WRITTEN.as_bytes()) {
            let _ = remove(&entry.path()); // it is rarely there
        }
    }
}

/// Removes a file, or an empty folder.
pub fn remove(path: &Path) -> Result<()> {
    SafePath::of(path)?.map_or(Ok(()), |safe_path| safe_path.remove())
}

/// Whether a path is a folder that is not empty.
pub fn is_filled(path: &Path) -> bool {
    let opened = SafePath::of(path).ok().flatten().and_then(|safe_path| {
        step(&safe_path.folder, &safe_path.name).and_then(rustix::fs::Dir::new).ok()
    });
    opened.is_some_and(|entries| {
        let real = |name: &[u8]| name != b"." && name != b"..";
        entries.flatten().any(|entry| real(entry.file_name().to_bytes()))
    })
}

/// Makes a folder, and those above it, where they are missing.
pub fn make_folder(path: &Path) -> Result<()> {
    let mut all: Vec<_> = path.ancestors().collect();
    all.pop(); // the root exists
    for folder in all.into_iter().rev() {
        let safe_path = SafePath::there(folder)?;
        match mkdirat(&safe_path.folder, &safe_path.name, Mode::from_raw_mode(0o755)) {
            Ok(()) => safe_path.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(safe_path.failed(error)),
        }
    }
    Ok(())
}

/// Makes an empty file if there is none. Returns whether it was made.
pub fn make_file(path: &Path) -> Result<bool> {
    let safe_path = SafePath::there(path)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(&safe_path.folder, &safe_path.name, flags, Mode::from_raw_mode(0o644)) {
        Ok(_) => safe_path.sync().map(|()| true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(safe_path.failed(error)),
    }
}

/// Opens a folder without following symbolic links.
fn open_folder(path: &Path) -> rustix::io::Result<OwnedFd> {
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), links) {
        // A kernel before 5.6, or an older filter of system calls.
        Err(Errno::NOSYS | Errno::PERM) => walk(path),
        opened => opened,
    }
}

/// The same, folder by folder.
fn walk(path: &Path) -> rustix::io::Result<OwnedFd> {
    let mut folder = root()?;
    for part in path.components() {
        match part {
            Component::RootDir | Component::CurDir => {}
            Component::Normal(name) => folder = step(&folder, name)?,
            Component::ParentDir | Component::Prefix(_) => return Err(Errno::INVAL),
        }
    }
    Ok(folder)
}

fn root() -> rustix::io::Result<OwnedFd> {
    openat(CWD, "/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn step(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

/// The path with those links on the way resolved that only root can have made, such as `/var/run`.
///
/// Any other link on the way is refused. The last name itself is not resolved.
pub fn resolved(path: &str) -> Result<String> {
    let failed = |error: Errno| at(Path::new(path))(error.into());
    let refused = |why: String| Failure::Refused(format!("{path}: {why}"));
    let mut rest: Vec<OsString> = parts(Path::new(path)).map_err(refused)?;
    let last = rest.pop().ok_or_else(|| refused("it names no file".into()))?;
    rest.reverse(); // the next one is at the end
    let (mut folder, mut walked, mut roots, mut links) =
        (root().map_err(failed)?, PathBuf::from("/"), true, 0);
    while let Some(name) = rest.pop() {
        roots &= only_root(&folder).map_err(failed)?;
        let next = walked.join(&name);
        match statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {
                walked = next;
                walked.extend(rest.drain(..).rev());
            }
            Ok(about) if FileType::from_raw_mode(about.st_mode).is_symlink() => {
                links += 1;
                if !roots || about.st_uid != 0 || links > MOST_LINKS {
                    let why = "is a symbolic link that others than root can place";
                    return Err(refused(format!("{} {why}: it is not followed", next.display())));
                }
                let target = readlinkat(&folder, &name, Vec::new()).map_err(failed)?;
                let target = PathBuf::from(OsString::from(target.to_string_lossy().as_ref()));
                // From the root again, since `..` leads out of a link's target.
                let whole = lexical(&walked.join(target));
                rest.extend(parts(&whole).map_err(refused)?.into_iter().rev());
                (folder, walked, roots) = (root().map_err(failed)?, PathBuf::from("/"), true);
            }
            Ok(_) => {
                folder = step(&folder, &name).map_err(failed)?;
                walked = next;
            }
            Err(error) => return Err(failed(error)),
        }
    }
    let whole = walked.join(last);
    whole.to_str().map(str::to_owned).ok_or_else(|| refused("it is no text".into()))
}

/// The names in a path.
fn parts(path: &Path) -> std::result::Result<Vec<OsString>, String> {
    if !path.is_absolute() {
        return Err("it does not begin at the root".into());
    }
    let names = path.components().filter(|part| !matches!(part, Component::RootDir));
    names
        .map(|part| match part {
            Component::Normal(name) => Ok(name.to_owned()),
            _ => Err("it has .. on the way".into()),
        })
        .collect()
}

/// A path without `..`, if all names before that are folders and no links.
fn lexical(path: &Path) -> PathBuf {
    let mut whole = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::Normal(name) => whole.push(name),
            _ => {}
        }
    }
    whole
}

/// Whether only root can create names in a folder.
pub fn only_root(folder: impl AsFd) -> rustix::io::Result<bool> {
    let about = fstat(folder)?;
    Ok(about.st_uid == 0 && about.st_mode & WRITABLE_BY_OTHERS == 0)
}

/// An unguessable text.
pub fn token() -> Result<String> {
    let path = Path::new("/proc/sys/kernel/random/uuid");
    Ok(fs::read_to_string(path).map_err(at(path))?.trim().replace('-', ""))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    use super::{NewFile, SafePath, look, make_folder, put, remove, resolved, walk};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("keeper-{name}.{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn text(path: &Path) -> String {
        path.to_str().unwrap().to_owned()
    }

    /// The user who runs the test owns what it writes, and can't give it away.
    fn new(content: &'static [u8], folder: &Path) -> NewFile<'static> {
        let about = fs::metadata(folder).unwrap();
        let (owner, group) = (Some(about.uid()), Some(about.gid()));
        let labels = Box::leak(Box::default());
        NewFile { content, owner, group, mode: 0o640, labels }
    }

    #[test]
    fn a_users_link_on_the_way_is_neither_followed_nor_resolved() {
        let folder = folder("way");
        let (real, link) = (folder.join("real"), folder.join("link"));
        fs::create_dir(&real).unwrap();
        fs::write(real.join("file"), "theirs").unwrap();
        symlink(&real, &link).unwrap();
        let path = link.join("file");
        // The folder is in one that all users can write to.
        let why = resolved(&text(&path)).unwrap_err().to_string();
        assert!(why.contains("others than root can place"), "{why}");
        assert!(look(&path).is_err() && remove(&path).is_err());
        assert!(put(&path, &new(b"ours", &folder), "t").is_err());
        assert!(make_folder(&link.join("new")).is_err());
        assert_eq!(fs::read(real.join("file")).unwrap(), b"theirs");
        assert!(walk(&real).is_ok() && walk(&link).is_err());
        assert!(walk(&link.join("below")).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn roots_own_link_on_the_way_is_resolved_once() {
        // Every system has one: a merged /usr, or /var/run.
        let link = ["/var/run", "/bin", "/lib"].into_iter().find(|it| Path::new(it).is_symlink());
        let Some(link) = link else { return };
        if fs::symlink_metadata(link).unwrap().uid() != 0 {
            return; // root is another user in this namespace
        }
        let real = fs::canonicalize(link).unwrap();
        assert_eq!(resolved(&format!("{link}/new/file")).unwrap(), text(&real.join("new/file")));
        assert!(resolved("/var/../etc/x").is_err() && resolved("etc/x").is_err());
    }

    #[test]
    fn a_file_takes_its_place_whole_and_what_lies_in_the_way_is_not_followed() {
        let folder = folder("put");
        let (path, victim) = (folder.join("file"), folder.join("victim"));
        fs::write(&victim, "theirs").unwrap();
        fs::set_permissions(&victim, Permissions::from_mode(0o600)).unwrap();
        // Even a link with the unguessable name.
        symlink(&victim, folder.join(".hardcost-t")).unwrap();
        symlink(&victim, folder.join("file.hardcost")).unwrap();
        put(&path, &new(b"ours", &folder), "t").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(fs::read(&victim).unwrap(), b"theirs");
        assert_eq!(fs::metadata(&victim).unwrap().mode() & 0o7777, 0o600);
        assert!(folder.join("file.hardcost").is_symlink());
        assert!(!folder.join(".hardcost-t").is_symlink());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_others_can_enter_is_not_roots_alone() {
        let folder = folder("alone");
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        assert!(SafePath::there(&folder.join("lock")).unwrap().check_is_roots().is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
