//! A shell script that runs text through the usual programs, alone or several at once.
//!
//! sort, od, sort by number, grep, tee and wc process a text of two hundred lines; finally the
//! script compares wc's counts with the expected ones.

use std::fs;
use std::path::PathBuf;

use crate::fault::{Context, Fault, Result};
use crate::process;
use crate::test_loop::{TestLoop, WorkFolder};

const SHELL: &str = "/bin/sh";
const ENVIRONMENT: [&str; 2] = ["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"];
const LINES: usize = 200;
const WORDS: [&str; 8] = ["the", "audit", "of", "a", "kernel", "records", "every", "file"];

/// `$1` is the script, `$2` the number of concurrent copies, the rest is for the script.
const SEVERAL: &str = r#"script=$1
number=$2
shift 2
jobs=
while [ "$number" -gt 0 ]; do
    /bin/sh "$script" "$number" "$@" &
    jobs="$jobs $!"
    number=$((number - 1))
done
status=0
for job in $jobs; do
    wait "$job" || status=1
done
exit "$status"
"#;

/// `$1` is the copy's number, `$2` the text, `$3` the expected counts of wc.
const SCRIPT: &str = r#"own=$2.$1
sort >"$own.sorted" <"$2" || exit 1
od "$own.sorted" | sort -n -k 1 >"$own.od" || exit 1
grep the "$own.sorted" | tee "$own.grep" | wc >"$own.wc" || exit 1
read -r lines words bytes <"$own.wc"
rm -f "$own.sorted" "$own.od" "$own.grep" "$own.wc"
[ "$lines $words $bytes" = "$3" ] || {
    echo "wc counted $lines $words $bytes, not $3" >&2
    exit 1
}
"#;

/// The scripts and their text, on the disk.
pub struct Scripts {
    files: [PathBuf; 3],
    argv: Vec<String>,
}

impl Scripts {
    /// Writes the scripts and the text; a first run makes sure that they work here.
    pub fn new(folder: WorkFolder, at_once: u8) -> Result<Self> {
        let content = text();
        let files = ["several", "script", "text"].map(|name| folder.file(name));
        drop(folder);
        for (path, content) in files.iter().zip([SEVERAL, SCRIPT, &content]) {
            fs::write(path, content).context(|| format!("writing {}", path.display()))?;
        }
        let [several, script, text] = files.each_ref().map(|path| path.display().to_string());
        let argv = vec![SHELL.into(), several, script, at_once.to_string(), text, counts(&content)];
        let mut scripts = Self { files, argv };
        scripts.once()?;
        Ok(scripts)
    }
}

impl TestLoop for Scripts {
    fn once(&mut self) -> Result<()> {
        let child = process::fork(|| {
            eprintln!("{}", process::execute(SHELL, &self.argv, &ENVIRONMENT));
            1
        })?;
        child.wait().map_err(|Fault(how)| Fault(format!("wrong result: the script: {how}")))
    }

    fn finish(self, _loops: u64) -> Result<()> {
        self.files.iter().try_for_each(|path| {
            fs::remove_file(path).context(|| format!("removing {}", path.display()))
        })
    }
}

/// Two hundred lines of words, always the same.
fn text() -> String {
    let mut state = 1_u32;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % below
    };
    let line = |next: &mut dyn FnMut(usize) -> usize| {
        let length = 3 + next(6);
        (0..length).map(|_| WORDS[next(WORDS.len())]).collect::<Vec<_>>().join(" ")
    };
    (0..LINES).map(|_| line(&mut next) + "\n").collect()
}

/// wc's counts for the lines that contain "the".
fn counts(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("the")).collect();
    let words: usize = lines.iter().map(|line| line.split(' ').count()).sum();
    let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    format!("{} {words} {bytes}", lines.len())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Scripts, counts, text};
    use crate::test_loop::{TestLoop, WorkFolder};

    #[test]
    fn eight_scripts_at_once_count_right_and_a_wrong_count_is_noticed() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = WorkFolder { folder: temporary.path().to_owned(), number: 3 };
        let mut scripts = Scripts::new(folder, 8).unwrap();
        scripts.once().unwrap();
        scripts.argv[5] = "1 2 3".into();
        let apart = tempfile::tempdir().unwrap();
        let said = apart.path().join("said");
        let writing = ["-c", r#"exec /bin/sh "$@" 2>"$0""#, said.to_str().unwrap()];
        scripts.argv.splice(1..1, writing.map(str::to_owned));
        assert!(scripts.once().unwrap_err().0.contains("script"));
        let said = fs::read_to_string(said).unwrap();
        let expected = format!("wc counted {}, not 1 2 3\n", counts(&text()));
        assert_eq!(said, expected.repeat(8));
        scripts.finish(2).unwrap();
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    }
}
