//! The twelve tests by name.

/// How a file is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a block.
    pub block: usize,
    /// Size of the file in KiB.
    pub file: usize,
}

/// 256 bytes at a time.
pub const SMALL: Shape = Shape { block: 256, file: 500 };
/// 1024 bytes at a time.
pub const MIDDLE: Shape = Shape { block: 1024, file: 2000 };
/// 4096 bytes at a time.
pub const LARGE: Shape = Shape { block: 4096, file: 8000 };

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Work on integers, records and strings.
    Dhrystone,
    /// Work on floating-point numbers.
    Whetstone,
    /// A process that replaces itself by itself.
    Execl,
    /// A file copied in blocks of that many bytes.
    Copy(Shape),
    /// A process that writes to a pipe and reads it.
    Pipe,
    /// Two processes that send each other a number.
    Context,
    /// Processes that start and end at once.
    Spawn,
    /// A shell script, several at once.
    Shell(u8),
    /// A mix of short system calls.
    Syscall,
}

impl Test {
    /// Every test, in the order of `UnixBench`'s table.
    pub const ALL: [Self; 12] = [
        Self::Dhrystone,
        Self::Whetstone,
        Self::Execl,
        Self::Copy(MIDDLE),
        Self::Copy(SMALL),
        Self::Copy(LARGE),
        Self::Pipe,
        Self::Context,
        Self::Spawn,
        Self::Shell(1),
        Self::Shell(8),
        Self::Syscall,
    ];

    /// The test of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }

    /// The name of its option value.
    pub fn name(self) -> String {
        match self {
            Self::Dhrystone => "dhrystone".into(),
            Self::Whetstone => "whetstone".into(),
            Self::Execl => "execl".into(),
            Self::Copy(shape) => format!("copy-{}", shape.block),
            Self::Pipe => "pipe".into(),
            Self::Context => "context-switch".into(),
            Self::Spawn => "process".into(),
            Self::Shell(at_once) => format!("shell-{at_once}"),
            Self::Syscall => "system-call".into(),
        }
    }
}
