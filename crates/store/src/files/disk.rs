//! The seam over everything that changes a disk, so that tests can let it fail or stop at any step.

use crate::error::Error;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the store does to a disk. Each call is durable when it returns, but for names: those are durable
/// after [`Disk::sync_dir`] of their folder.
pub(super) trait Disk: fmt::Debug + Send + Sync {
    /// Makes a folder.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Writes a file anew.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Adds to the end of a file, which is made if need be.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file off.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;
    /// Gives a file or a folder another name, in place of what had that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Deletes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// The disk of the machine.
#[derive(Debug)]
pub(super) struct Machine;

impl Disk for Machine {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    // Other systems cannot open a folder, and keep its names in order by themselves.
    #[cfg(not(unix))]
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Writes what will take the place of a file, next to it.
pub(super) fn stage(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<PathBuf, Error> {
    let staged = beside(path, ".tmp");
    disk.write(&staged, bytes).map_err(|error| unavailable(&staged, &error))?;
    Ok(staged)
}

/// Puts a staged file in its place.
pub(super) fn unstage(disk: &dyn Disk, staged: &Path, path: &Path) -> Result<(), Error> {
    disk.rename(staged, path).map_err(|error| unavailable(path, &error))?;
    sync_parent(disk, path)
}

/// Writes a file anew so that a reader finds either the old or the new one, also after a crash.
pub(super) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let staged = stage(disk, path, bytes)?;
    unstage(disk, &staged, path)
}

/// Makes the name of a file durable.
pub(super) fn sync_parent(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    let Some(parent) = path.parent() else { return Ok(()) };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    disk.sync_dir(parent).map_err(|error| unavailable(parent, &error))
}

/// Returns the path with something added to its last part.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Says what is in the way of a file, and what to do about it.
pub(super) fn unavailable(path: &Path, error: &io::Error) -> Error {
    let todo = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space and try again",
        io::ErrorKind::PermissionDenied => "check who may write to that folder",
        io::ErrorKind::ReadOnlyFilesystem => "choose a folder that can be written",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file is in the place of a folder, so choose another folder"
        }
        _ => "check the disk and try again",
    };
    Error::unavailable(path.display().to_string(), format!("{error}: {todo}"))
}

/// Says that a file of a scope cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        // The machine is short of something: the file itself may be well.
        io::ErrorKind::OutOfMemory | io::ErrorKind::Interrupted | io::ErrorKind::ResourceBusy => {
            unavailable(path, error)
        }
        _ => Error::damaged(path.display().to_string(), format!("it cannot be read ({error})")),
    }
}
