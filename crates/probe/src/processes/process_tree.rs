//! A process with all its descendants.

use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

/// Kills a process, its group and all its descendants. One that has ended is no error.
pub fn kill(root: Pid) {
    let family = family(root);
    let _ = kill_process_group(root, Signal::KILL);
    for pid in family.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// A process and all its descendants.
pub fn family(root: Pid) -> Vec<i32> {
    descendants(root.as_raw_nonzero().get(), &parents())
}

/// Whether a process descends from this one.
pub fn is_ours(pid: i32) -> bool {
    let own = getpid().as_raw_nonzero().get();
    pid != own && descendants(own, &parents()).contains(&pid)
}

/// Each process's id and its parent's.
fn parents() -> Vec<(i32, i32)> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|pid| Some((pid, parent(&stat(pid)?)?))).collect()
}

/// A process's line in `/proc/PID/stat`.
fn stat(pid: i32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/stat")).ok()
}

/// The parent in that line: the second field behind the name in parentheses.
fn parent(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The process and all that descend from it.
fn descendants(root: i32, parents: &[(i32, i32)]) -> Vec<i32> {
    let mut family = vec![root];
    let mut next = 0;
    while next < family.len() {
        let parent = family[next];
        family.extend(parents.iter().filter(|&&(_, of)| of == parent).map(|&(pid, _)| pid));
        next += 1;
    }
    family
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::{Pid, getpid, getppid};

    use super::{descendants, is_ours, parent, parents};

    fn own_and_parent() -> (i32, i32) {
        let number = |pid: Pid| pid.as_raw_nonzero().get();
        (number(getpid()), getppid().map_or(0, number))
    }

    #[test]
    fn children_and_theirs_belong_to_a_process() {
        let parents = [(2, 1), (3, 2), (4, 1), (5, 3), (6, 4), (7, 2)];
        assert_eq!(descendants(2, &parents), [2, 3, 7, 5]);
        assert_eq!(descendants(6, &parents), [6]);
    }

    #[test]
    fn only_what_was_started_here_is_ours() {
        let mut nap = Command::new("sleep").arg("60").spawn().expect("starts");
        assert!(is_ours(Pid::from_child(&nap).as_raw_nonzero().get()));
        nap.kill().and_then(|()| nap.wait()).expect("killed");
        let (own, parent) = own_and_parent();
        assert!(!is_ours(own) && !is_ours(parent) && !is_ours(1) && !is_ours(0));
    }

    #[test]
    fn the_parent_stands_behind_a_name_that_may_hold_anything() {
        assert_eq!(parent("12 (a) b (c) S 7 12 12 0"), Some(7));
        assert_eq!(parent("nonsense"), None);
        let (own, parent) = own_and_parent();
        assert!(parents().contains(&(own, parent)));
    }
}
