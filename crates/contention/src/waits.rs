//! The ways in which processes wait for each other.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::sync::atomic::Ordering;

use anyhow::Result;
use rustix::pipe::pipe as new_pipe;

use crate::crew::{Shared, run};
use crate::work::work;

/// A word that all share.
const FIRST: usize = 0;

/// They don't wait: each works.
pub fn count(processes: u64, instructions: u64) -> Result<u64> {
    run(processes, |_, _| work(instructions))
}

/// A lock as the kernel's: who wants it spins with `pause`, and anybody may get it.
pub fn lock(processes: u64, inside: u64, outside: u64, rounds: u64) -> Result<u64> {
    run(processes, |shared: &Shared, _| {
        let lock = shared.word(FIRST);
        for _ in 0..rounds {
            while lock.swap(1, Ordering::Acquire) == 1 {
                while lock.load(Ordering::Relaxed) == 1 {
                    std::hint::spin_loop();
                }
            }
            work(inside);
            lock.store(0, Ordering::Release);
            work(outside);
        }
    })
}

/// Each works a part as large as its number, and all wait, with `pause`, for the last.
pub fn barrier(processes: u64, instructions: u64, rounds: u64) -> Result<u64> {
    run(processes, |shared, number| {
        let arrived = shared.word(FIRST);
        for round in 1..=rounds {
            work(instructions * (number + 1) / processes);
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < round * processes {
                std::hint::spin_loop();
            }
        }
    })
}

/// Producers work and write an event into a pipe; one reads each, and works on it.
pub fn daemon(producers: u64, each: u64, between: u64, events: u64) -> Result<u64> {
    let (reading, writing) = new_pipe()?;
    let (reading, writing) = (File::from(reading), File::from(writing));
    run(producers + 1, |_, number| {
        let mut event = [0];
        if number == 0 {
            for _ in 0..producers * events {
                if (&reading).read_exact(&mut event).is_err() {
                    std::process::abort();
                }
                work(each);
            }
        } else {
            for _ in 0..events {
                work(between);
                if (&writing).write_all(&event).is_err() {
                    std::process::abort();
                }
            }
        }
    })
}

/// Two work in turns; who waits sleeps.
pub fn pipe(instructions: u64, rounds: u64) -> Result<u64> {
    let ((there_reading, there), (back_reading, back)) = (new_pipe()?, new_pipe()?);
    let ends = [(back_reading, there), (there_reading, back)]
        .map(|(reading, writing)| (File::from(reading), File::from(writing)));
    run(2, |_, number| {
        let (reading, writing) = if number == 0 { &ends[0] } else { &ends[1] };
        let mut token = [0];
        for _ in 0..rounds {
            let mut pass = || -> io::Result<()> {
                if number == 1 {
                    let mut from = reading;
                    from.read_exact(&mut token)?;
                }
                work(instructions);
                let mut to = writing;
                to.write_all(&token)?;
                if number == 0 {
                    let mut from = reading;
                    from.read_exact(&mut token)?;
                }
                Ok(())
            };
            if pass().is_err() {
                std::process::abort();
            }
        }
    })
}

/// Each makes a file, writes to it and removes it, again and again, in the working directory.
pub fn files(processes: u64, rounds: u64) -> Result<u64> {
    run(processes, |_, number| {
        let path = format!("file-{number}");
        for _ in 0..rounds {
            let done = File::create(&path).and_then(|mut file| file.write_all(&[0; 100]));
            if done.and_then(|()| fs::remove_file(&path)).is_err() {
                std::process::abort();
            }
        }
    })
}
