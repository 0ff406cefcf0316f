//! The record of a system call, as the audit daemon reads it.

/// The parts of a call's record that are checked.
#[derive(Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub user: u32,
    pub mark: u64,
    pub call: u64,
    pub arch: u64,
    pub key: &'a str,
}

impl<'a> Record<'a> {
    /// Reads a record; `None` if it is not one of a call.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut record = Self { user: u32::MAX, mark: 0, call: 0, arch: 0, key: "" };
        for word in text.trim_end_matches(['\0', '\n']).split(' ') {
            let Some((name, value)) = word.split_once('=') else { continue };
            match name {
                "uid" => record.user = value.parse().ok()?,
                "a3" => record.mark = u64::from_str_radix(value, 16).ok()?,
                "syscall" => record.call = value.parse().ok()?,
                "arch" => record.arch = u64::from_str_radix(value, 16).ok()?,
                "key" => record.key = value.trim_matches('"'),
                _ => {}
            }
        }
        (record.user != u32::MAX).then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn a_record_is_read() {
        let text = "audit(1.2:3): arch=c000003e syscall=110 success=yes exit=1 a0=0 a1=0 a2=0 \
                    a3=1f items=0 ppid=1 pid=9 auid=4294967295 uid=60001 gid=0 comm=\"init\" \
                    exe=\"/init\" subj=kernel key=\"numbered-1\"";
        let record =
            Record { user: 60001, mark: 31, call: 110, arch: 0xc000_003e, key: "numbered-1" };
        assert_eq!(Record::parse(text), Some(record));
        assert_eq!(Record::parse("audit(1.2:3): nothing"), None);
    }
}
