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

/// Writes a file anew. It is its owner's alone then, also if another one was there that others could read.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    use std::io::Write;
    let mut file = options().write(true).create(true).truncate(true).open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(FILE_MODE))?;
        }
    }
    file.write_all(bytes.as_ref())
}

/// Tells the mode of a folder in which others can put files in the place of ours; nothing if they cannot.
#[cfg(unix)]
pub fn open_to_others(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS_WRITE: u32 = 0o022;
    // Such a folder lets everyone replace their own files only.
    const STICKY: u32 = 0o1000;
    let mode = std::fs::metadata(folder).ok()?.permissions().mode();
    (mode & OTHERS_WRITE != 0 && mode & STICKY == 0).then_some(mode & 0o777)
}

/// Other systems have other rights.
#[cfg(not(unix))]
pub fn open_to_others(_: &Path) -> Option<u32> {
    None
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

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_is_written_is_private_also_where_a_wider_file_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("words");
        std::fs::write(&file, "old").unwrap();
        set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        write(&file, "new").unwrap();
        assert_eq!(metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn a_folder_in_which_others_write_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (mode, told) in [(0o700, None), (0o755, None), (0o775, Some(0o775)), (0o1777, None)] {
            set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(open_to_others(folder.path()), told, "{mode:o}");
        }
    }
}
