//! Pipes: written and read by one process, and between two that wait for each other.

use std::fs::File;
use std::io::{self, Read, Write};

use crate::fault::{Context, Fault, Result, check};
use crate::process::{self, Child};
use crate::test_loop::TestLoop;

const BLOCK: usize = 512;

/// A pipe that a process writes to and reads itself, 512 bytes at a time.
pub struct Alone {
    reader: File,
    writer: File,
    count: u64,
    wrong: u64,
}

impl Alone {
    /// Opens the pipe.
    pub fn new() -> Result<Self> {
        let (reader, writer) = process::pipe()?;
        Ok(Self { reader, writer, count: 0, wrong: 0 })
    }
}

impl TestLoop for Alone {
    fn once(&mut self) -> Result<()> {
        self.count += 1;
        let mut block = [0; BLOCK];
        block[BLOCK - 8..].copy_from_slice(&self.count.to_le_bytes());
        self.writer.write_all(&block).context(|| "writing to a pipe".into())?;
        let mut back = [1; BLOCK];
        self.reader.read_exact(&mut back).context(|| "reading a pipe".into())?;
        self.wrong += u64::from(back != block);
        Ok(())
    }

    fn finish(self, loops: u64) -> Result<()> {
        let right = self.wrong == 0 && self.count == loops;
        check(right, || format!("{} blocks came back as others", self.wrong))
    }
}

/// Two pipes to and from a process that returns each number plus one.
pub struct Partner {
    to: File,
    from: File,
    child: Child,
    count: u64,
}

impl Partner {
    /// Starts the process at the other end.
    pub fn new() -> Result<Self> {
        let (theirs, to) = process::pipe()?;
        let (from, back) = process::pipe()?;
        let ours = [process::raw(&to), process::raw(&from)];
        let child = process::fork(|| {
            // Its reading ends when the only writer has gone.
            process::close(ours);
            u8::from(answer(&theirs, &back).is_err())
        })?;
        Ok(Self { to, from, child, count: 0 })
    }
}

/// Returns each number plus one, until there are no more.
fn answer(mut from: &File, mut to: &File) -> io::Result<()> {
    let mut number = [0; 8];
    loop {
        match from.read(&mut number)? {
            0 => return Ok(()),
            8 => to.write_all(&(u64::from_le_bytes(number) + 1).to_le_bytes())?,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl TestLoop for Partner {
    fn once(&mut self) -> Result<()> {
        self.to.write_all(&self.count.to_le_bytes()).context(|| "writing to a pipe".into())?;
        let mut number = [0; 8];
        self.from.read_exact(&mut number).context(|| "reading a pipe".into())?;
        self.count += 1;
        if u64::from_le_bytes(number) == self.count {
            return Ok(());
        }
        Err(Fault(format!("wrong result: {number:?} came back, not {}", self.count)))
    }

    fn finish(self, loops: u64) -> Result<()> {
        drop(self.to);
        self.child.wait()?;
        check(self.count == loops, || format!("{} numbers were exchanged", self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::{Alone, Partner};
    use crate::test_loop::TestLoop;

    #[test]
    fn blocks_come_back_as_they_went() {
        let mut alone = Alone::new().unwrap();
        alone.once().unwrap();
        alone.once().unwrap();
        assert_eq!(alone.finish(2), Ok(()));
    }

    #[test]
    fn a_pipe_that_gives_something_else_is_noticed() {
        use std::io::Write;
        let mut alone = Alone::new().unwrap();
        alone.writer.write_all(&[7; 512]).unwrap();
        alone.once().unwrap();
        assert!(alone.finish(1).is_err());
        let mut partner = Partner::new().unwrap();
        partner.count = 5;
        partner.once().unwrap();
        partner.to.write_all(&9_u64.to_le_bytes()).unwrap();
        assert!(partner.once().is_err());
    }

    #[test]
    fn the_partner_ends_when_it_is_left() {
        let mut partner = Partner::new().unwrap();
        partner.once().unwrap();
        assert_eq!(partner.finish(1), Ok(()));
    }
}
