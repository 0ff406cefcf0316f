//! Users and groups, from `/etc/passwd` and `/etc/group`.

use std::fs;
use std::sync::OnceLock;

use crate::error::{Context, Error, Result};

const USERS: &str = "/etc/passwd";
const GROUPS: &str = "/etc/group";

/// A user.
#[derive(Debug, PartialEq, Eq)]
pub struct Account {
    /// The user's id.
    pub uid: u32,
    /// The id of the user's own group.
    pub gid: u32,
    /// The ids of all the user's groups, the own one first.
    pub groups: Vec<u32>,
    /// The home directory.
    pub home: String,
}

/// Finds a user.
///
/// The files are read only once: a service that hangs may later block the opening of files.
pub fn find(name: &str) -> Result<Account> {
    static LISTS: OnceLock<(String, String)> = OnceLock::new();
    if LISTS.get().is_none() {
        let users = fs::read_to_string(USERS).context(|| USERS.into())?;
        // A system need not have groups.
        let _ = LISTS.set((users, fs::read_to_string(GROUPS).unwrap_or_default()));
    }
    let (users, groups) = LISTS.get().map_or(("", ""), |(users, groups)| (users, groups));
    account(name, users, groups).ok_or_else(|| unknown("user", name, USERS))
}

/// The id of a user, by name or number.
pub fn user_id(name: &str) -> Result<u32> {
    name.parse().or_else(|_| find(name).map(|account| account.uid))
}

/// The id of a group, by name or number.
pub fn group_id(name: &str) -> Result<u32> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let groups = fs::read_to_string(GROUPS).context(|| GROUPS.into())?;
    let found = lines(&groups).find(|fields| fields[0] == name && fields.len() > 2);
    let id = found.and_then(|fields| fields[2].parse().ok());
    id.ok_or_else(|| unknown("group", name, GROUPS))
}

fn unknown(what: &str, name: &str, place: &str) -> Error {
    Error::Other(format!("there is no {what} {name:?} in {place}"))
}

fn account(name: &str, users: &str, groups: &str) -> Option<Account> {
    let fields = lines(users).find(|fields| fields[0] == name && fields.len() > 5)?;
    let (uid, gid) = (fields[2].parse().ok()?, fields[3].parse().ok()?);
    let mut ids = vec![gid];
    for group in lines(groups).filter(|fields| fields.len() > 3) {
        // Such as the line `+:::`, by which other sources are looked up.
        let Ok(id) = group[2].parse() else { continue };
        if !ids.contains(&id) && group[3].split(',').any(|member| member == name) {
            ids.push(id);
        }
    }
    Some(Account { uid, gid, groups: ids, home: fields[5].to_owned() })
}

fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().map(|line| line.split(':').collect())
}

#[cfg(test)]
mod tests {
    use super::{Account, account, group_id, user_id};

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nbroken\nweb:x:33:7:w:/var/www:/bin/no\n";
    const GROUPS: &str = "root:x:0:\nown:x:7:web\nlog:x:4:x,web\nother:x:5:webs\nbroken\n+:::\n";

    #[test]
    fn a_user_has_an_own_group_and_those_that_list_it() {
        let expected = Account { uid: 33, gid: 7, groups: vec![7, 4], home: "/var/www".into() };
        assert_eq!(account("web", USERS, GROUPS), Some(expected));
        assert_eq!(account("root", USERS, "").map(|root| root.groups), Some(vec![0]));
        assert_eq!(account("broken", USERS, GROUPS), None);
    }

    #[test]
    fn names_and_numbers_are_both_taken() {
        assert_eq!(user_id("root").expect("everybody has one"), 0);
        assert_eq!((user_id("12").expect("a number"), group_id("34").expect("one")), (12, 34));
        let error = user_id("no such user").expect_err("unknown").to_string();
        assert!(error.contains("no user \"no such user\" in /etc/passwd"), "{error}");
        assert!(group_id("no such group").is_err());
    }
}
