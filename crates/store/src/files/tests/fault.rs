//! A disk that fails.

use crate::files::disk::{Disk, Machine};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much of the failing step is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Extent {
    /// None of it, or half of the bytes.
    Half,
    /// All of it, although it is reported as failed.
    Whole,
}

/// What comes after the failing step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Then {
    /// Nothing works any more: the process has died.
    Stop,
    /// Some steps work, and then nothing: the process dies while it takes back what failed.
    StopAfter(usize),
    /// All goes on: there is space again.
    GoOn,
}

/// A disk that fails at one step.
#[derive(Debug)]
pub struct Faulty {
    at: usize,
    extent: Extent,
    then: Then,
    steps: AtomicUsize,
}

impl Faulty {
    pub fn new(at: usize, extent: Extent, then: Then) -> Self {
        Self { at, extent, then, steps: AtomicUsize::new(0) }
    }

    pub fn never() -> Self {
        Self::new(usize::MAX, Extent::Half, Then::GoOn)
    }

    pub fn steps(&self) -> usize {
        self.steps.load(Ordering::SeqCst)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.is_dead_at(self.steps())
    }

    fn is_dead_at(&self, steps: usize) -> bool {
        match self.then {
            Then::Stop => steps > self.at,
            Then::StopAfter(more) => steps > self.at.saturating_add(more),
            Then::GoOn => false,
        }
    }

    fn step(&self, half: impl FnOnce(), whole: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let step = self.steps.fetch_add(1, Ordering::SeqCst);
        let full = || Err(io::Error::from(io::ErrorKind::StorageFull));
        if step == self.at {
            match self.extent {
                Extent::Half => half(),
                Extent::Whole => whole()?,
            }
            return full();
        }
        if self.is_dead_at(step) { full() } else { whole() }
    }
}

impl Disk for Faulty {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Machine.read(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step(|| (), || Machine.create_dir(path))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = || Machine.write(path, &bytes[..bytes.len() / 2]).unwrap();
        self.step(half, || Machine.write(path, bytes))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = || Machine.append(path, &bytes[..bytes.len() / 2]).unwrap();
        self.step(half, || Machine.append(path, bytes))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.step(|| (), || Machine.truncate(path, len))
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.step(|| (), || Machine.sync(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|| (), || Machine.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|| (), || Machine.remove(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step(|| (), || Machine.sync_dir(path))
    }
}
