//! The seam over everything that changes a disk, so that tests can let it fail or stop at any step.

use crate::encryption::Vault;
use crate::error::Error;
use crate::private;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the store does to a disk. Content is durable after [`Disk::sync`] of its file, a name after
/// [`Disk::sync_dir`] of its folder, and nothing before that: a power cut leaves any part of it, in any order.
pub(super) trait Disk: fmt::Debug + Send + Sync {
    /// Reads a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Makes a folder.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Writes a file anew.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Adds to the end of a file, which is made if need be.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file off.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;
    /// Makes the content of a file durable.
    fn sync(&self, path: &Path) -> io::Result<()>;
    /// Gives a file or a folder another name, in place of what had that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Deletes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Returns the keys by which what is written here is encrypted.
    fn vault(&self) -> Arc<Vault> {
        Vault::off()
    }
}

/// A disk with keys.
#[derive(Debug)]
pub(super) struct Keyed {
    pub disk: Arc<dyn Disk>,
    pub vault: Arc<Vault>,
}

impl Disk for Keyed {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk.read(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.create_dir(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.disk.write(path, bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.disk.append(path, bytes)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.disk.truncate(path, len)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.disk.sync(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_dir(path)
    }

    fn vault(&self) -> Arc<Vault> {
        Arc::clone(&self.vault)
    }
}

/// The disk of the machine.
#[derive(Debug)]
pub(super) struct Machine;

impl Disk for Machine {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        private::create_dir(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = private::options().write(true).create(true).truncate(true).open(path)?;
        file.write_all(bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = private::options().append(true).create(true).open(path)?;
        file.write_all(bytes)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.set_len(len)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        // Other systems sync only what may be written.
        let file = OpenOptions::new().read(true).write(cfg!(not(unix))).open(path)?;
        file.sync_data()
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

/// Adds to the end of a file. The bytes are durable when this returns; the name of a new file is not.
pub(super) fn append_durably(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let appended = disk.append(path, bytes).and_then(|()| disk.sync(path));
    appended.map_err(|error| unavailable(path, &error))
}

/// Writes a file anew. The bytes are durable when this returns; the name of a new file is not.
pub(super) fn write_durably(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = disk.write(path, bytes).and_then(|()| disk.sync(path));
    written.map_err(|error| unavailable(path, &error))
}

/// Cuts a file off, durably.
pub(super) fn truncate_durably(disk: &dyn Disk, path: &Path, len: u64) -> Result<(), Error> {
    let cut = disk.truncate(path, len).and_then(|()| disk.sync(path));
    cut.map_err(|error| unavailable(path, &error))
}

/// Writes what will take the place of a file, next to it.
pub(super) fn stage(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<PathBuf, Error> {
    let staged = with_suffix(path, ".tmp");
    write_durably(disk, &staged, bytes)?;
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
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
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

/// Says that a file of a scope cannot be read now. That is never damage: rights, a share that is away, a bad cable or too
/// many open files can be mended, and only bytes that were read can be judged.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Error {
    let todo = match error.kind() {
        io::ErrorKind::PermissionDenied => "check who may read it",
        _ => "try again; if the file is lost, move it away and the scope goes on without it",
    };
    Error::unavailable(path.display().to_string(), format!("it cannot be read now ({error}): {todo}"))
}
