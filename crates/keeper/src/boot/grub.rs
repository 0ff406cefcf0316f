//! GRUB: an entry beside the machine's own one, which is booted once.
//!
//! GRUB clears `next_entry` before it boots that entry. So whatever happens to the boot, the next
//! one is the machine's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result, at};

/// The entry's name for GRUB.
pub const ENTRY: &str = "hardcost-once";
/// The folders in which GRUB's files may be.
const FOLDERS: [&str; 3] = ["/boot/grub", "/boot/grub2", "/boot/efi/EFI/redhat"];
/// The folder of entries of the Boot Loader Specification.
const ENTRIES: &str = "/boot/loader/entries";
/// File systems that GRUB can write to, if they are on a plain disk.
const WRITABLE: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "vfat"];
/// The file name of GRUB's environment.
const ENVIRONMENT_NAME: &str = "grubenv";
/// The size of GRUB's environment, and its first line.
const ENVIRONMENT: usize = 1024;
const HEADER: &str = "# GRUB Environment Block\n";
/// The largest file that is read.
const MOST_BYTES: u64 = 4 << 20;

/// A file, and the content to be written.
pub type FileContent = (PathBuf, Vec<u8>);

/// The entry to be copied.
pub enum ModelEntry<'a> {
    /// That of the running kernel, by its command line.
    Running(&'a str),
    /// The first one of a kernel, by its release.
    Kernel(&'a str),
}

impl ModelEntry<'_> {
    /// Whether a line of an entry boots that kernel.
    fn fits(&self, line: &str) -> bool {
        match self {
            Self::Running(running) => boots_like(line, running),
            Self::Kernel(release) => {
                let kernel = line.split_whitespace().nth(1).map(name);
                kernel.is_some_and(|it| it.strip_prefix("vmlinuz-") == Some(release))
                    && !line.split_whitespace().any(|word| matches!(word, "single" | "recovery"))
            }
        }
    }
}

/// The files to write so that the next boot, and only that, has further words on its command line.
///
/// The entry of `model` is copied.
pub fn files_for_one_boot(model: &ModelEntry<'_>, words: &[String]) -> Result<Vec<FileContent>> {
    words.iter().try_for_each(|word| check(word))?;
    let config = config()?;
    let text = read(&config)?;
    if !text.contains("next_entry") {
        let why = "does not look at next_entry, so nothing can be booted once";
        return Err(Failure::Refused(format!("{}: {why}", config.display())));
    }
    let environment = environment(&config)?;
    let block = fs::read(&environment).unwrap_or_default();
    let entry = if text.lines().any(|line| line.trim() == "blscfg") {
        (Path::new(ENTRIES).join(format!("{ENTRY}.conf")), bls_entry(model, words)?)
    } else {
        let custom = config.with_file_name("custom.cfg");
        if !text.contains("custom.cfg") {
            let why = "does not read custom.cfg (/etc/grub.d/41_custom adds that)";
            return Err(Failure::Refused(format!("{}: {why}", config.display())));
        }
        let before = if custom.exists() { read(&custom)? } else { String::new() };
        let copy = copy_entry(&text, model, words).ok_or_else(|| unknown(&config, model))?;
        (custom, format!("{before}{copy}").into_bytes())
    };
    Ok(vec![entry, (environment, with_next_entry(&block)?)])
}

/// Whether a path is that of GRUB's environment, which GRUB itself changes.
pub fn is_environment(path: &str) -> bool {
    name(path) == ENVIRONMENT_NAME
}

/// Refuses a word with special characters: GRUB parses its files like a shell.
fn check(word: &str) -> Result<()> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"'\"\\$`;&|<>{}".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return Ok(());
    }
    Err(Failure::Refused(format!("{word:?} can't be given to a boot loader as it is")))
}

fn config() -> Result<PathBuf> {
    let found = FOLDERS.iter().map(|folder| Path::new(folder).join("grub.cfg"));
    found.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let places = FOLDERS.join(", ");
        Failure::Refused(format!("there is no grub.cfg in {places}: only GRUB is known here"))
    })
}

/// GRUB's environment, if GRUB itself can clear what it has read.
fn environment(config: &Path) -> Result<PathBuf> {
    let path = config.with_file_name(ENVIRONMENT_NAME);
    let path = fs::canonicalize(&path).unwrap_or(path);
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(at(&path))?;
    let (kind, device) = mount_of(&mounts, &path).unwrap_or_default();
    let plain = device.starts_with("/dev/")
        && !["/dev/mapper", "/dev/dm-", "/dev/md"].iter().any(|start| device.starts_with(start));
    if plain && WRITABLE.contains(&kind.as_str()) {
        return Ok(path);
    }
    Err(Failure::Refused(format!(
        "{} is on {device} ({kind}), which GRUB can't write to: it would boot the entry for ever",
        path.display()
    )))
}

/// The file system that a path is on: its kind and its device.
fn mount_of(mounts: &str, path: &Path) -> Option<(String, String)> {
    let all = mounts.lines().filter_map(|line| {
        let (place, about) = line.split_once(" - ")?;
        let mut about = about.split(' ');
        let place = place.split(' ').nth(4)?;
        Some((place, about.next()?, about.next()?))
    });
    let mut found: Vec<_> = all.filter(|(place, ..)| path.starts_with(place)).collect();
    found.sort_by_key(|(place, ..)| place.len()); // stable: the last mount covers the others
    found.last().map(|&(_, kind, device)| (kind.to_owned(), device.to_owned()))
}

/// GRUB's environment with the keeper's entry as the next one.
fn with_next_entry(block: &[u8]) -> Result<Vec<u8>> {
    let failed = |why: &str| Failure::Refused(format!("GRUB's environment {why}"));
    let text = match block {
        [] => HEADER,
        _ => std::str::from_utf8(block).map_err(|_| failed("is no text"))?,
    };
    let rest = text.strip_prefix(HEADER).ok_or_else(|| failed("does not begin as it should"))?;
    let kept = rest.lines().filter(|line| !line.starts_with("next_entry=") && line.contains('='));
    let next = format!("next_entry={ENTRY}");
    let all = kept.chain([next.as_str()]);
    let mut text = all.fold(HEADER.to_owned(), |text, line| text + line + "\n");
    if text.len() > ENVIRONMENT {
        return Err(failed("has no room left"));
    }
    text += &"#".repeat(ENVIRONMENT - text.len());
    Ok(text.into_bytes())
}

/// Whether two environments differ only by what the keeper's boot changes: the next entry, and what
/// GRUB and the system note of each boot (`boot_success`).
pub fn is_same_but_for_boot(one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (variables(one), variables(other));
    let is_of_boots = |name: &str| {
        name == "next_entry"
            || name.starts_with("boot_")
            || [&one, &other].iter().any(|it| it.get(name).is_some_and(|value| value == ENTRY))
    };
    let rest = |all: &BTreeMap<String, String>| {
        all.clone().into_iter().filter(|(name, _)| !is_of_boots(name)).collect::<Vec<_>>()
    };
    rest(&one) == rest(&other)
}

/// An environment without the keeper's entry, if it names that. Such a variable gets its earlier
/// value.
pub fn without_entry(block: &[u8], before: &[u8]) -> Option<Vec<u8>> {
    let before = variables(before);
    variables(block).values().find(|value| *value == ENTRY)?;
    let text = String::from_utf8_lossy(block);
    let lines = text.lines().filter_map(|line| match line.split_once('=') {
        Some((name, ENTRY)) => before.get(name).map(|value| format!("{name}={value}\n")),
        None if !line.starts_with("# ") => None, // padding
        _ => Some(format!("{line}\n")),
    });
    let mut text: String = lines.collect();
    text += &"#".repeat(block.len().saturating_sub(text.len()));
    Some(text.into_bytes())
}

fn variables(block: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(block);
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A copy of the entry of a model, with further words.
fn copy_entry(config: &str, model: &ModelEntry<'_>, words: &[String]) -> Option<String> {
    let lines: Vec<&str> = config.lines().collect();
    let starts = (0..lines.len()).filter(|&at| lines[at].trim_start().starts_with("menuentry "));
    starts.into_iter().find_map(|start| {
        let depth = lines[start].len() - lines[start].trim_start().len();
        let end = (start..lines.len()).find(|&at| {
            lines[at].trim() == "}" && lines[at].len() - lines[at].trim_start().len() == depth
        })?;
        let body = &lines[start + 1..end];
        let kernel = body.iter().find(|line| is_kernel(line))?;
        model.fits(kernel).then(|| {
            let body = body.iter().map(|line| {
                if is_kernel(line) {
                    format!("{line} {}\n", words.join(" "))
                } else {
                    format!("{line}\n")
                }
            });
            let title = "hardcost, booted once for a measurement";
            format!("menuentry '{title}' --id {ENTRY} {{\n{}}}\n", body.collect::<String>())
        })
    })
}

/// The same for entries of the Boot Loader Specification.
fn bls_entry(model: &ModelEntry<'_>, words: &[String]) -> Result<Vec<u8>> {
    let folder = Path::new(ENTRIES);
    let names = fs::read_dir(folder).map_err(at(folder))?;
    let mut paths: Vec<_> = names.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "conf"));
    paths.sort();
    for path in paths {
        if let Some(text) = copy_bls_entry(&read(&path)?, model, words) {
            return Ok(text.into_bytes());
        }
    }
    Err(unknown(folder, model))
}

fn copy_bls_entry(entry: &str, model: &ModelEntry<'_>, words: &[String]) -> Option<String> {
    let value = |name: &str| {
        let mut found = entry.lines().filter_map(|line| line.strip_prefix(name));
        found.find(|rest| rest.starts_with([' ', '\t'])).map(str::trim)
    };
    let line = format!("linux {} {}", value("linux")?, value("options").unwrap_or_default());
    model.fits(&line).then(|| {
        let mut text = String::new();
        for line in entry.lines() {
            text += &match line.split_whitespace().next() {
                Some("title") => "title hardcost, booted once for a measurement".to_owned(),
                Some("version") => "version 0-hardcost".to_owned(), // sorted last: never the default
                Some("id" | "sort-key" | "options") => continue,
                _ => line.to_owned(),
            };
            text.push('\n');
        }
        text + &format!("options {} {}\n", value("options").unwrap_or_default(), words.join(" "))
    })
}

/// The name of the file at a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn is_kernel(line: &str) -> bool {
    matches!(line.split_whitespace().next(), Some("linux" | "linux16" | "linuxefi"))
}

/// Whether a line of an entry boots a kernel with the running one's command line.
///
/// GRUB's variables are ignored.
fn boots_like(line: &str, running: &str) -> bool {
    let plain = |word: &&str| !word.contains('$');
    let unquoted = |word: &str| word.replace(['"', '\''], "");
    let mut words = line.split_whitespace().skip(1);
    let Some(kernel) = words.next() else { return false };
    let image = running.split_whitespace().find_map(|word| word.strip_prefix("BOOT_IMAGE="));
    if image.map(name) != Some(name(kernel)) {
        return false;
    }
    let variable = line.contains('$');
    let mut ours: Vec<_> = words.filter(plain).map(unquoted).collect();
    let mut theirs: Vec<_> = running.split_whitespace().map(unquoted).collect();
    theirs.retain(|word| !word.starts_with("BOOT_IMAGE="));
    if variable {
        theirs.retain(|word| ours.contains(word));
    }
    ours.sort();
    theirs.sort();
    ours.dedup();
    theirs.dedup();
    ours == theirs
}

fn unknown(place: &Path, model: &ModelEntry<'_>) -> Failure {
    let why = match model {
        ModelEntry::Running(_) => {
            "what runs now: reboot the machine by its boot loader first".to_owned()
        }
        ModelEntry::Kernel(release) => format!("the kernel {release}: is it installed?"),
    };
    Failure::Refused(format!("{} has no entry that boots {why}", place.display()))
}

fn read(path: &Path) -> Result<String> {
    if fs::metadata(path).map_err(at(path))?.len() > MOST_BYTES {
        return Err(Failure::Refused(format!("{} is larger than any boot file", path.display())));
    }
    Ok(String::from_utf8_lossy(&fs::read(path).map_err(at(path))?).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{
        ModelEntry, boots_like, check, copy_bls_entry, copy_entry, is_same_but_for_boot, mount_of,
        with_next_entry, without_entry,
    };

    const CONFIG: &str = "\
set default=\"0\"
menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1' {
\tload_video
\tif [ x$grub_platform = xxen ]; then insmod xzio; fi
\tlinux\t/boot/vmlinuz-6.1.0-9-amd64 root=UUID=1 ro console=ttyS0 quiet
\tinitrd\t/boot/initrd.img-6.1.0-9-amd64
}
submenu 'Advanced options' {
\tmenuentry 'recovery' {
\t\tlinux\t/boot/vmlinuz-6.1.0-9-amd64 root=UUID=1 ro single
\t}
}
";
    const RUNNING: &str =
        "BOOT_IMAGE=/boot/vmlinuz-6.1.0-9-amd64 root=UUID=1 ro console=ttyS0 quiet";

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_running_entry_is_copied_with_further_words() {
        let copy =
            copy_entry(CONFIG, &ModelEntry::Running(RUNNING), &words("mitigations=off panic=30"))
                .unwrap();
        assert_eq!(
            copy,
            "menuentry 'hardcost, booted once for a measurement' --id hardcost-once {\n\
             \tload_video\n\tif [ x$grub_platform = xxen ]; then insmod xzio; fi\n\
             \tlinux\t/boot/vmlinuz-6.1.0-9-amd64 root=UUID=1 ro console=ttyS0 quiet \
             mitigations=off panic=30\n\tinitrd\t/boot/initrd.img-6.1.0-9-amd64\n}\n"
        );
        let recovery = "BOOT_IMAGE=/boot/vmlinuz-6.1.0-9-amd64 root=UUID=1 ro single";
        assert!(
            copy_entry(CONFIG, &ModelEntry::Running(recovery), &words("a=b"))
                .unwrap()
                .contains("single a=b")
        );
        for other in ["BOOT_IMAGE=/boot/vmlinuz-7 root=UUID=1 ro", "root=UUID=1 ro quiet"] {
            assert_eq!(copy_entry(CONFIG, &ModelEntry::Running(other), &[]), None);
        }
    }

    #[test]
    fn another_kernel_is_found_by_its_release_and_not_for_recovery() {
        let of = |release| copy_entry(CONFIG, &ModelEntry::Kernel(release), &words("a=b"));
        assert!(of("6.1.0-9-amd64").unwrap().contains("quiet a=b\n"));
        assert_eq!(of("6.1.0-9"), None);
    }

    #[test]
    fn a_variable_of_grub_stands_for_anything() {
        let line = "linux /vmlinuz-6 root=UUID=1 ro quiet $vt_handoff";
        assert!(boots_like(line, "BOOT_IMAGE=(hd0,1)/vmlinuz-6 root=UUID=1 ro quiet vt.handoff=7"));
        assert!(!boots_like(line, "BOOT_IMAGE=/vmlinuz-6 root=UUID=2 ro quiet"));
        assert!(!boots_like(
            "linux /vmlinuz-6 root=UUID=1 ro",
            "BOOT_IMAGE=/vmlinuz-6 root=UUID=1 ro x"
        ));
    }

    #[test]
    fn an_entry_of_the_specification_is_copied_behind_all_others() {
        let entry = "title Red Hat\nversion 5.14\nlinux /vmlinuz-5.14\ninitrd /i.img $tuned_initrd\n\
                     options root=/dev/sda1 ro $tuned_params\ngrub_class rhel\n";
        let running = "BOOT_IMAGE=(hd0,msdos1)/vmlinuz-5.14 root=/dev/sda1 ro skew_tick=1";
        let copy = copy_bls_entry(entry, &ModelEntry::Running(running), &words("audit=0")).unwrap();
        assert_eq!(
            copy,
            "title hardcost, booted once for a measurement\nversion 0-hardcost\n\
             linux /vmlinuz-5.14\ninitrd /i.img $tuned_initrd\ngrub_class rhel\n\
             options root=/dev/sda1 ro $tuned_params audit=0\n"
        );
        assert!(copy_bls_entry(entry, &ModelEntry::Kernel("5.14"), &[]).is_some());
        assert_eq!(copy_bls_entry(entry, &ModelEntry::Kernel("6"), &[]), None);
    }

    #[test]
    fn the_environment_keeps_its_size_and_its_other_words() {
        let mut block = b"# GRUB Environment Block\nsaved_entry=x\nnext_entry=\n".to_vec();
        block.resize(1024, b'#');
        let with = with_next_entry(&block).unwrap();
        assert_eq!(with.len(), 1024);
        let text = String::from_utf8(with).unwrap();
        let start = "# GRUB Environment Block\nsaved_entry=x\nnext_entry=hardcost-once\n###";
        assert!(text.starts_with(start), "{text}");
        assert_eq!(with_next_entry(&[]).unwrap().len(), 1024);
        assert!(with_next_entry(b"\x7fELF").is_err());
        let full = format!("# GRUB Environment Block\na={}\n", "b".repeat(990));
        assert!(with_next_entry(full.as_bytes()).is_err());
    }

    #[test]
    fn a_default_that_somebody_else_chose_stays_and_our_entry_goes() {
        let block = |lines: &str| {
            let mut block = format!("# GRUB Environment Block\n{lines}").into_bytes();
            block.resize(1024, b'#');
            block
        };
        let before = block("saved_entry=a\nboot_success=1\n");
        for ours in ["saved_entry=a\nnext_entry=\n", "saved_entry=hardcost-once\nboot_success=0\n"]
        {
            assert!(is_same_but_for_boot(&before, &block(ours)), "{ours}");
        }
        let theirs = block("saved_entry=b\nnext_entry=hardcost-once\n");
        assert!(!is_same_but_for_boot(&before, &theirs));
        assert_eq!(without_entry(&theirs, &before), Some(block("saved_entry=b\n")));
        let noted = block("x=y\nsaved_entry=hardcost-once\n");
        assert_eq!(without_entry(&noted, &before), Some(block("x=y\nsaved_entry=a\n")));
        assert_eq!(without_entry(&before, &before), None);
    }

    #[test]
    fn a_path_is_on_the_mount_that_lies_on_top() {
        let mounts =
            "21 1 254:1 / / rw - ext4 /dev/vda1 rw\n30 21 0:5 / /boot rw - vfat /dev/sda1 rw\n";
        let of = |path: &str| mount_of(mounts, Path::new(path)).unwrap();
        assert_eq!(of("/boot/grub/grubenv"), ("vfat".to_owned(), "/dev/sda1".to_owned()));
        assert_eq!(of("/bootleg").1, "/dev/vda1");
    }

    #[test]
    fn what_a_shell_would_read_is_refused() {
        for word in ["", "a b", "a;reboot", "$(x)", "a'b", "a\nb", "\"q\"", "{"] {
            assert!(check(word).is_err(), "{word:?}");
        }
        for word in ["mitigations=off", "lsm=lockdown,yama", "foo.bar=a/b:c@d", "slub_debug=FZP"] {
            assert!(check(word).is_ok(), "{word:?}");
        }
    }
}
