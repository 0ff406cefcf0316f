//! Audit rules as the kernel takes them (`struct audit_rule_data` in `linux/audit.h`).

use std::fmt::Write;

use crate::kernel::netlink::RULE;

/// The lists of rules.
pub const USER: u32 = 0;
/// Decides when a process is created.
pub const TASK: u32 = 1;
/// Decides when a call returns.
pub const EXIT: u32 = 4;
/// Decides which records are dropped.
pub const EXCLUDE: u32 = 5;
/// Decides by file system.
pub const FILESYSTEM: u32 = 6;
/// Decides when an `io_uring` operation completes.
pub const URING: u32 = 7;
/// Adds a rule at the front.
pub const PREPEND: u32 = 0x10;

/// Records nothing.
pub const NEVER: u32 = 0;
/// Records.
pub const ALWAYS: u32 = 2;

/// The operators.
pub const LESS: u32 = 0x1000_0000;
/// Greater than.
pub const GREATER: u32 = 0x2000_0000;
/// Not equal.
pub const UNEQUAL: u32 = 0x3000_0000;
/// Equal.
pub const EQUAL: u32 = 0x4000_0000;
/// Any of these bits.
pub const BITS: u32 = 0x0800_0000;

/// The fields, by the kernel's numbers.
pub mod field {
    pub const UID: u32 = 1;
    pub const EUID: u32 = 2;
    pub const GID: u32 = 5;
    pub const LOGINUID: u32 = 9;
    pub const ARCH: u32 = 11;
    pub const MSGTYPE: u32 = 12;
    pub const SUBJ_USER: u32 = 13;
    pub const SUBJ_ROLE: u32 = 14;
    pub const SUBJ_TYPE: u32 = 15;
    pub const OBJ_TYPE: u32 = 21;
    pub const LOGINUID_SET: u32 = 24;
    pub const SESSION: u32 = 25;
    pub const FSTYPE: u32 = 26;
    pub const INODE: u32 = 102;
    pub const EXIT: u32 = 103;
    pub const SUCCESS: u32 = 104;
    pub const WATCH: u32 = 105;
    pub const PERM: u32 = 106;
    pub const DIR: u32 = 107;
    pub const FILETYPE: u32 = 108;
    pub const OBJ_UID: u32 = 109;
    pub const COMPARE: u32 = 111;
    pub const EXE: u32 = 112;
    /// The fourth argument, which holds a call's mark.
    pub const MARK: u32 = 203;
    pub const KEY: u32 = 210;
}

/// The architectures.
pub const B64: u32 = 0xc000_003e;
/// 32 bits.
pub const B32: u32 = 0x4000_0003;

const WORDS: usize = 64;
const FIELDS: usize = 64;
/// Call numbers from here on represent classes of calls.
pub const FIRST_CLASS: u32 = 2032;
/// The number of bits in the mask.
pub const NUMBERS: u32 = 2048;

/// The value that a field is compared with.
#[derive(Clone, Debug)]
enum Value {
    Number(u32),
    Text(String),
}

/// A rule under construction.
#[derive(Clone, Debug)]
pub struct Rule {
    flags: u32,
    action: u32,
    mask: [u32; WORDS],
    fields: Vec<(u32, u32, Value)>,
}

impl Rule {
    /// A rule of a list, without calls and conditions.
    pub fn new(flags: u32, action: u32) -> Self {
        Self { flags, action, mask: [0; WORDS], fields: Vec::new() }
    }

    /// Adds a call.
    pub fn call(mut self, number: u32) -> Self {
        self.mask[number as usize / 32] |= 1 << (number % 32);
        self
    }

    /// Adds every call, as auditctl's `-S all` does.
    pub fn all_calls(mut self) -> Self {
        self.mask = [u32::MAX; WORDS];
        self.mask[WORDS - 1] = 0xffff;
        self
    }

    /// Adds every number of the mask, including those of classes.
    pub fn whole_mask(mut self) -> Self {
        self.mask = [u32::MAX; WORDS];
        self
    }

    /// Adds a condition on a number.
    pub fn number(mut self, field: u32, operator: u32, value: u32) -> Self {
        self.fields.push((field, operator, Value::Number(value)));
        self
    }

    /// Adds a condition on a text.
    pub fn text(mut self, field: u32, operator: u32, value: &str) -> Self {
        self.fields.push((field, operator, Value::Text(value.to_owned())));
        self
    }

    /// Gives it a key.
    pub fn key(self, key: &str) -> Self {
        self.text(field::KEY, EQUAL, key)
    }

    /// The same rule, at the front of the list.
    pub fn in_front(mut self) -> Self {
        self.flags |= PREPEND;
        self
    }

    /// The bytes for the kernel.
    pub fn bytes(&self) -> Vec<u8> {
        let mut texts = Vec::new();
        let mut columns = [[0_u32; FIELDS]; 3];
        for (at, (field, operator, value)) in self.fields.iter().enumerate() {
            columns[0][at] = *field;
            columns[2][at] = *operator;
            columns[1][at] = match value {
                Value::Number(number) => *number,
                Value::Text(text) => {
                    texts.extend(text.as_bytes());
                    length(text.as_bytes())
                }
            };
        }
        let count = u32::try_from(self.fields.len()).unwrap_or(u32::MAX);
        let mut words = vec![self.flags, self.action, count];
        words.extend(self.mask);
        words.extend(columns.as_flattened());
        words.push(length(&texts));
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.extend(texts);
        bytes
    }
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// A rule as text: its words other than 0, each with its index; then its texts, byte by byte.
pub fn written(bytes: &[u8]) -> String {
    let (fixed, texts) = bytes.split_at(RULE.min(bytes.len()));
    let words =
        fixed.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
    let mut text = String::new();
    for (at, word) in words.enumerate().filter(|&(_, word)| word != 0) {
        let _ = write!(text, "{at:x}={word:x},");
    }
    text.push('+');
    for byte in texts {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The rule in such a text; `None` if there is none.
pub fn read(text: &str) -> Option<Vec<u8>> {
    let (words, texts) = text.split_once('+')?;
    let mut bytes = vec![0; RULE];
    for word in words.split_terminator(',') {
        let (at, word) = word.split_once('=')?;
        let at = 4 * usize::from_str_radix(at, 16).ok()?;
        let word = u32::from_str_radix(word, 16).ok()?;
        bytes.get_mut(at..at + 4)?.copy_from_slice(&word.to_ne_bytes());
    }
    for at in (0..texts.len()).step_by(2) {
        bytes.push(u8::from_str_radix(texts.get(at..at + 2)?, 16).ok()?);
    }
    Some(bytes)
}

/// Whether a rule listed by the kernel has this key.
pub fn has_key(bytes: &[u8], key: &str) -> bool {
    // The key is the last field of every rule that is made here, and so the last text.
    bytes.ends_with(key.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{ALWAYS, B64, EQUAL, EXIT, Rule, field, has_key, read, written};

    #[test]
    fn a_rule_has_the_kernels_layout() {
        let rule = Rule::new(EXIT, ALWAYS).call(33).number(field::ARCH, EQUAL, B64).key("ab");
        let bytes = rule.bytes();
        assert_eq!(bytes.len(), (3 + 64 + 3 * 64 + 1) * 4 + 2);
        let word = |at: usize| {
            let bytes = bytes[at * 4..].first_chunk().expect("within");
            u32::from_ne_bytes(*bytes)
        };
        assert_eq!([word(0), word(1), word(2), word(4)], [4, 2, 2, 2]);
        assert_eq!([word(67), word(68)], [field::ARCH, field::KEY]);
        assert_eq!([word(131), word(132)], [B64, 2]);
        assert_eq!(word(3 + 64 + 192), 2);
        assert!(has_key(&bytes, "ab"));
        assert_eq!(read(&written(&bytes)), Some(bytes));
    }

    #[test]
    fn all_calls_leave_out_the_classes() {
        let all = Rule::new(EXIT, ALWAYS).all_calls();
        assert_eq!(all.mask[62], u32::MAX);
        assert_eq!(all.mask[63], 0xffff);
    }
}
