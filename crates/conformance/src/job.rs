//! The job file: what a battery is asked to do.

use serde::{Deserialize, Serialize};

use crate::file_steps::Step;

/// A battery of system calls, made again under each of many rule sets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Done once, before anything else: what the calls find.
    pub fixture: Vec<Step>,
    /// The files whose device and inode number to report.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The processes that make calls.
    pub workers: Vec<Identity>,
    /// The calls.
    pub calls: Vec<Call>,
    /// The rule sets.
    pub sets: Vec<RuleSet>,
}

/// The identity of a worker.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Its process id.
    pub pid: i32,
    /// The program that it runs: a copy of this one.
    pub program: String,
    /// Its login user; without one it stays unset.
    #[serde(default)]
    pub auid: Option<u32>,
    /// Real, effective and saved user; that for files is the effective one.
    pub uid: [u32; 3],
    /// The user for files, where it is another: one of `uid`.
    #[serde(default)]
    pub fsuid: Option<u32>,
    /// Real, effective and saved group.
    pub gid: [u32; 3],
    /// The group for files, where it is another.
    #[serde(default)]
    pub fsgid: Option<u32>,
    /// Supplementary groups.
    #[serde(default)]
    pub groups: Vec<u32>,
    /// The execution domain (personality(2)).
    #[serde(default)]
    pub personality: u32,
    /// Files and directories that it holds open, as descriptors 1003, 1004 and so on. 1001 is a
    /// datagram socket of the Internet, 1002 a Unix datagram socket.
    #[serde(default)]
    pub held: Vec<String>,
}

/// The entry by which a call gets into the kernel.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    /// The instruction `syscall`.
    B64,
    /// The instruction `int 0x80`, with the calls of i386.
    B32,
}

/// A system call to make.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The index of the worker that makes it.
    pub worker: usize,
    /// Its entry into the kernel.
    pub arch: Arch,
    /// Its number at that entry.
    pub number: i64,
    /// At most six; the rest are 0.
    pub arguments: Vec<Argument>,
    /// A child of the worker makes it, since it changes or ends the process.
    #[serde(default)]
    pub child: bool,
    /// The worker closes what it opened.
    #[serde(default)]
    pub closes: bool,
    /// Done before each time that the call is made, by the daemon, of which no records are made.
    #[serde(default)]
    pub before: Vec<Step>,
    /// The same after it.
    #[serde(default)]
    pub after: Vec<Step>,
}

/// An argument: a number, or the address of something in memory below 4 GiB.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Argument {
    /// The number itself.
    Number(i64),
    /// The address of this.
    Address(Content),
}

/// The content of memory for a call.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// A string, terminated.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// So many zeroes.
    Space(usize),
    /// Words of the architecture's size.
    Words(Vec<Argument>),
}

/// A rule set, and the calls to make under it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSet {
    /// The lines, as `auditctl -R` takes them.
    pub rules: String,
    /// Indices of calls; without, all.
    #[serde(default)]
    pub calls: Option<Vec<usize>>,
    /// Report what `auditctl -l` prints.
    #[serde(default)]
    pub list: bool,
}

#[cfg(test)]
mod tests {
    use super::{Arch, Argument, Content, Job};

    #[test]
    fn a_job_is_read_and_words_that_nobody_knows_are_refused() {
        let text = r#"{"fixture":[{"step":"mount","path":"/m"}],"paths":["/m"],
            "workers":[{"pid":500,"program":"/p","uid":[0,0,0],"gid":[0,0,0]}],
            "calls":[{"worker":0,"arch":"b32","number":20,
                      "arguments":[1,{"text":"x"},{"bytes":[0,255]}]}],
            "sets":[{"rules":"-w /m","calls":[0]},{"rules":"","list":true}]}"#;
        let job: Job = serde_json::from_str(text).expect("a job");
        let call = &job.calls[0];
        assert_eq!(call.arch, Arch::B32);
        assert!(
            matches!(&call.arguments[2], Argument::Address(Content::Bytes(bytes)) if bytes == &[0, 255])
        );
        assert_eq!((job.sets[0].calls.as_deref(), job.sets[1].list), (Some(&[0][..]), true));
        let other = text.replace("\"list\"", "\"lists\"");
        assert!(serde_json::from_str::<Job>(&other).is_err());
    }
}
