//! The requests and answers of the probe, one JSON object a line.
//!
//! It imports nothing of the probe's, so that every module may use its types. A test makes
//! `schema.json` beside this file of them, and a test of the Python half compares its own types
//! with it.
//!
//! This file has the version of the protocol and the reading of a line. `requests.rs` has the
//! requests and the defaults of what they leave out; `answers.rs` has the answers. `ascii_json.rs`
//! writes the lines of answers, `schema.rs` is the test that writes `schema.json`. Requests are
//! carried out from `src/session.rs`.

mod answers;
pub mod ascii_json;
mod requests;
#[cfg(test)]
mod schema;

use serde::Serialize;

pub use self::answers::{
    Answer, AuditCounts, AuditSeen, AvcSeen, CallAnswer, CallCounters, CommandAnswer, CpuSeen,
    ParallelSpan, ParallelStarted, RanAnswer, StartedAnswer, StoppedAnswer, WatchedAnswer,
};
pub use self::requests::{
    CallPlan, ClockName, CommandPlan, CountJob, LogKind, ReadyJob, Request, RunJob, StartJob,
    StopJob, What,
};

/// The version of the protocol.
pub const PROTOCOL_VERSION: u32 = 1;

/// What `list` prints, outside of any session.
#[derive(Debug, Serialize)]
pub struct Listing {
    /// The protocol's version.
    pub protocol: u32,
    /// The calls' names.
    pub calls: Vec<&'static str>,
}

/// Parses one line of a job.
///
/// # Errors
///
/// It is no request.
pub fn parse(line: &[u8]) -> serde_json::Result<Request> {
    serde_json::from_slice(line)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Answer, Request, parse};

    #[test]
    fn each_request_is_read() {
        let lines = [
            r#"{"do":"make","directories":["/a/b"],"files":["/a/b/c"]}"#,
            r#"{"do":"install","path":"/p","mode":493,"base64":"AA=="}"#,
            r#"{"do":"write","path":"/proc/sys/kernel/x","value":"1"}"#,
            r#"{"do":"audit","rules":"-D","backlog_limit":8192}"#,
            r#"{"do":"calls","clock":"tsc","calls":[{"name":"null","batch":1,"samples":101,"warmup":8,"apart":1}]}"#,
            r#"{"do":"calls","clock":"monotonic","calls":[],"copies":2,"counters":["cycles"]}"#,
            r#"{"do":"counters","names":["cycles","instructions:u"]}"#,
            r#"{"do":"command","argv":["/bin/true"],"clock":"monotonic"}"#,
            r#"{"do":"install","path":"/p","mode":493,"base64":"AA==","owner":"a","group":"b"}"#,
            r#"{"do":"run","name":"copy","argv":["cp","a","b"],"clock":"tsc","user":"user",
                "login":1000,"context":"a:b:c:s0","environment":{"A":"b"},"folder":"/home",
                "stdin":"x","expect":null,"limit":60}"#,
            r#"{"do":"start","name":"web","argv":["apache2"],"ready":{"tcp":80,"send":"GET"},
                "user":"root","context":null,"environment":{},"folder":"/","logs":["/l"],
                "pid_file":null,"limit":0.5}"#,
            r#"{"do":"stop","name":"web","argv":[],"signal":15,"limit":30}"#,
            r#"{"do":"mount","path":"/tmp","options":["noexec"]}"#,
            r#"{"do":"read","name":"log","path":"/l","tail":4096}"#,
            r#"{"do":"dropcaches"}"#,
            r#"{"do":"parallel","turns":1000000}"#,
            r#"{"do":"perturb","number":3}"#,
            r#"{"do":"watch","what":["cpu","audit","avc"],"period":10000000}"#,
            r#"{"do":"unwatch"}"#,
        ];
        for line in lines {
            parse(line.as_bytes()).expect(line);
        }
    }

    #[test]
    fn what_may_be_left_out_has_its_default() {
        let request = parse(br#"{"do":"audit","rules":""}"#).expect("complete");
        assert!(matches!(request, Request::Audit { backlog_limit: 8192, .. }));
    }

    #[test]
    fn unknown_requests_fields_and_clocks_are_refused() {
        for line in [
            r#"{"do":"dance"}"#,
            r#"{"do":"make","directories":[],"files":[],"modes":[]}"#,
            r#"{"do":"calls","clock":"sundial","calls":[]}"#,
            r#"{"do":"calls","clock":"tsc","calls":[{"name":"null","batch":1,"samples":1,"warmup":0,"x":1}]}"#,
            r#"{"do":"command","argv":["/bin/true"]}"#,
            r#"{"do":"make""#,
            "[]",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn an_answer_is_tagged_with_its_event() {
        let inodes = BTreeMap::from([("/a".to_owned(), 7)]);
        let text = serde_json::to_string(&Answer::Made { directories: 1, files: 0, inodes })
            .expect("serializes");
        assert_eq!(text, r#"{"event":"made","directories":1,"files":0,"inodes":{"/a":7}}"#);
        assert_eq!(serde_json::to_string(&Answer::End).expect("serializes"), r#"{"event":"end"}"#);
    }
}
