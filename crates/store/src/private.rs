//! Files and folders that only their owner may read: they hold what people said.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Who may use a file: its owner, to read and write.
#[cfg(unix)]
const FILE_MODE: u32 = 0o600;
/// Who may use a folder: its owner.
#[cfg(unix)]
const FOLDER_MODE: u32 = 0o700;

/// Options to open a file with; one that is made by that is its owner's alone.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE_MODE);
    options
}

/// Makes a folder that is its owner's alone.
pub fn create_dir(path: &Path) -> io::Result<()> {
    builder().create(path)
}

/// Makes a folder and those above it, as far as they are missing. Those that are made are their owner's alone.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

fn builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER_MODE);
    builder
}

/// Writes a file anew; one that is made by that is its owner's alone.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    use std::io::Write;
    options().write(true).create(true).truncate(true).open(path)?.write_all(bytes.as_ref())
}

/// Finds what other users of the machine may read or write: of a file, that and what SQLite keeps beside it; of a folder,
/// everything in it. Tells at most `limit` of them, each with its mode.
#[cfg(unix)]
pub fn wider(path: &Path, limit: usize) -> Vec<(PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = Vec::new();
    let mut left = vec![path.to_owned()];
    if !path.is_dir() {
        left.extend(["-wal", "-shm"].map(|suffix| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        }));
    }
    while let Some(path) = left.pop() {
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        let mode = meta.permissions().mode() & 0o777;
        if mode & 0o077 != 0 && !meta.is_symlink() {
            found.push((path.clone(), mode));
        }
        if found.len() >= limit {
            break;
        }
        if meta.is_dir() {
            left.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    found.sort();
    found
}

/// Other systems have other rights, which are inherited from the user's folder.
#[cfg(not(unix))]
pub fn wider(_: &Path, _: usize) -> Vec<(PathBuf, u32)> {
    Vec::new()
}
