//! Which users are logged in at a terminal. The keeper's own connection has none.

use std::collections::BTreeSet;
use std::fs;

const UTMP: &str = "/run/utmp";
const SESSIONS: &str = "/run/systemd/sessions";
/// A record of utmp (`struct utmp`, x86-64): its length, and the kind of a login.
const RECORD: usize = 384;
const USER_PROCESS: u16 = 7;

/// The names of users who are logged in at a terminal, each once.
pub fn logged_in() -> BTreeSet<String> {
    let mut found = in_utmp(&fs::read(UTMP).unwrap_or_default());
    for session in fs::read_dir(SESSIONS).into_iter().flatten().flatten() {
        found.extend(in_session(&fs::read_to_string(session.path()).unwrap_or_default()));
    }
    found
}

/// The users in utmp whose processes are alive.
fn in_utmp(content: &[u8]) -> BTreeSet<String> {
    let records = content.chunks_exact(RECORD);
    let people = records.filter(|record| {
        let process = u32::from_ne_bytes([record[4], record[5], record[6], record[7]]);
        u16::from_ne_bytes([record[0], record[1]]) == USER_PROCESS
            && fs::exists(format!("/proc/{process}")).unwrap_or(false)
    });
    let name = |record: &[u8]| {
        let name = &record[44..76];
        String::from_utf8_lossy(name.split(|&byte| byte == 0).next().unwrap_or_default())
            .into_owned()
    };
    people.map(name).collect()
}

/// The user of a session of logind, if it has a terminal.
fn in_session(text: &str) -> Option<String> {
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let at_terminal = value("TTY=").is_some_and(|name| !name.is_empty());
    let open = value("STATE=") != Some("closing") && value("CLASS=") == Some("user");
    (at_terminal && open).then(|| value("USER=").unwrap_or("?").into())
}

#[cfg(test)]
mod tests {
    use super::{RECORD, USER_PROCESS, in_session, in_utmp};

    #[test]
    fn only_sessions_at_a_terminal_count() {
        let session = |tty: &str| format!("UID=0\nUSER=root\nCLASS=user\nSTATE=active\n{tty}");
        assert_eq!(in_session(&session("TTY=pts/0\n")), Some("root".into()));
        assert_eq!(in_session(&session("")), None);
    }

    #[test]
    fn only_records_of_living_processes_count() {
        let record = |process: u32| {
            let mut record = vec![0; RECORD];
            record[..2].copy_from_slice(&USER_PROCESS.to_ne_bytes());
            record[4..8].copy_from_slice(&process.to_ne_bytes());
            record[44..47].copy_from_slice(b"amy");
            record
        };
        assert_eq!(in_utmp(&record(std::process::id())).len(), 1);
        assert!(in_utmp(&record(u32::MAX)).is_empty());
    }
}
