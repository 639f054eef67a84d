//! The lines that were typed into chats, to be found again with the arrow keys, also tomorrow.
//!
//! Each line is written when it is typed. Whoever erases something deletes the file, and no program that has it open brings
//! it back: a line is added to the file that is there, and to a new one with nothing else in it where there is none.

use segue_store::private;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// How many lines are kept.
pub const LINES_MAX: usize = 1_000;

/// What stands for a line end inside a line, as it was before this file was written here.
const LINE_END: &str = "<\\n>";

fn staged(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// Does something while no other program makes the file shorter or deletes it: a file that is deleted must not come back.
fn alone<T>(path: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let lock =
        private::options().write(true).create(true).truncate(false).open(path.with_extension("lock"))?;
    match lock.lock() {
        // Some file systems have none.
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => work(),
    }
}

/// The file of lines.
#[derive(Debug)]
pub struct TypedLines {
    path: PathBuf,
    is_there: bool,
}

/// Where a line was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Behind the others, or nowhere if that failed.
    Behind,
    /// In a new file: the one before was deleted.
    Anew,
}

impl TypedLines {
    /// Opens the file; it need not be there.
    pub fn open(path: PathBuf) -> Self {
        let is_there = path.exists();
        Self { path, is_there }
    }

    /// Reads the newest lines.
    pub fn read(&self) -> Vec<String> {
        let text = fs::read(&self.path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        if lines.len() > 2 * LINES_MAX {
            // A file that cannot be shortened is read as it is.
            _ = self.shorten();
        }
        let newest = lines.iter().skip(lines.len().saturating_sub(LINES_MAX));
        newest.map(|line| line.replace(LINE_END, "\n")).collect()
    }

    /// Keeps the newest lines only. The file is read again: another program may have deleted it.
    fn shorten(&self) -> io::Result<()> {
        alone(&self.path, || {
            let text = fs::read(&self.path)?;
            let text = String::from_utf8_lossy(&text);
            let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
            let newest = lines.iter().skip(lines.len().saturating_sub(LINES_MAX));
            let newest: String = newest.flat_map(|line| [*line, "\n"]).collect();
            let staged = staged(&self.path);
            private::write(&staged, newest)?;
            fs::rename(staged, &self.path)
        })
    }

    /// Deletes a file of lines, and what a crash left while it was made shorter.
    pub fn delete(path: &Path) -> io::Result<()> {
        let files = [staged(path), path.to_owned()];
        if files.iter().all(|file| !file.exists()) {
            return Ok(());
        }
        alone(path, || {
            for file in &files {
                match fs::remove_file(file) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            Ok(())
        })
    }

    /// Adds a line. A history that cannot be written ends no chat.
    pub fn push(&mut self, line: &str) -> Kept {
        let was_deleted = self.is_there && !self.path.exists();
        self.is_there |= self.append(line).is_ok();
        if was_deleted { Kept::Anew } else { Kept::Behind }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            private::create_dir_all(folder)?;
        }
        let mut file = private::options().append(true).create(true).open(&self.path)?;
        file.write_all(format!("{}\n", line.replace('\n', LINE_END)).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    /// Issue 16, row 6: what was erased does not come back when another program ends.
    #[test]
    fn x17_a_deleted_history_stays_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue/history");
        let (mut mine, mut other) = (TypedLines::open(path.clone()), TypedLines::open(path.clone()));
        assert_eq!(
            (mine.push("my SECRET\nin two lines"), other.push("theirs")),
            (Kept::Behind, Kept::Behind)
        );
        assert_eq!(TypedLines::open(path.clone()).read(), ["my SECRET\nin two lines", "theirs"]);
        // What a crash left of shortening it goes, too.
        fs::write(path.with_extension("new"), "my SECRET\n").unwrap();
        TypedLines::delete(&path).unwrap();
        assert!(!path.with_extension("new").exists());
        assert_eq!(mine.push("and on"), Kept::Anew);
        drop((mine, other));
        assert_eq!(fs::read_to_string(&path).unwrap(), "and on\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn the_newest_lines_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let all: String = (0..3_000).map(|n| format!("line {n}\n")).collect();
        fs::write(&path, all).unwrap();
        let read = TypedLines::open(path.clone()).read();
        assert_eq!((read.len(), read[0].as_str()), (LINES_MAX, "line 2000"));
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), LINES_MAX);
    }
}
