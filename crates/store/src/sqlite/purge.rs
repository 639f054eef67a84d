//! Purging: no byte of what was erased or deleted is left in the database's files.
//!
//! `secure_delete` overwrites a row where it stands, and not the copies that page splits have left on other pages. So the
//! file is rewritten (`VACUUM`): what is not in a table is not in the file. Then the write-ahead log is taken in and cut to
//! nothing. That it is due stands in the database, in the transaction that erases, so a crash in between loses nothing.

use super::fault::OrFault;
use super::write_connection::WriteConnection;
use crate::error::Error;
use crate::store::Purged;
use rusqlite::OptionalExtension;

/// How often it is done again because another process erased meanwhile.
const ROUNDS_MAX: usize = 3;

impl WriteConnection {
    /// Rewrites the file if that is due. It waits for readers, as long as for any lock.
    pub(super) fn purge(&mut self) -> Result<Purged, Error> {
        match self.try_purge() {
            // Another writer or a full disk: it is noted, and may succeed later.
            Err(error @ Error::Unavailable { .. }) => Ok(Purged::Unfinished { why: error.to_string() }),
            done => done,
        }
    }

    /// Deletes what was dropped, and tells whether the file has to be rewritten.
    pub(super) fn is_purge_due(&mut self) -> Result<bool, Error> {
        self.sweep()?;
        Ok(self.due()?.is_some())
    }

    fn try_purge(&mut self) -> Result<Purged, Error> {
        for _ in 0..ROUNDS_MAX {
            self.sweep()?;
            let Some(due) = self.due()? else { return Ok(Purged::Complete) };
            self.db.execute_batch("VACUUM").or_fault()?;
            self.pages = 0;
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            let blocked: i64 = self.db.query_row(checkpoint, [], |row| row.get(0)).or_fault()?;
            if blocked != 0 {
                let why = "a program reads an older state of the database".to_owned();
                return Ok(Purged::Unfinished { why });
            }
            self.db.execute("DELETE FROM purges WHERE n = ?1", [due]).or_fault()?;
        }
        Ok(Purged::Unfinished { why: "another program erases all the time".to_owned() })
    }

    fn due(&self) -> Result<Option<i64>, Error> {
        self.db.query_row("SELECT n FROM purges", [], |row| row.get(0)).optional().or_fault()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::open;
    use rusqlite::Connection;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::sync::watch;

    const TEXT: &str = "what was erased";

    fn connection(path: &Path) -> WriteConnection {
        let db = open::for_writing(path, None).unwrap();
        // Nobody waits in a test.
        db.busy_timeout(Duration::ZERO).unwrap();
        WriteConnection::new(db, Arc::default(), Arc::new(watch::Sender::new(crate::Position(0))))
    }

    fn is_there(folder: &Path) -> bool {
        std::fs::read_dir(folder).unwrap().any(|file| {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            bytes.windows(TEXT.len()).any(|part| part == TEXT.as_bytes())
        })
    }

    fn erase(db: &Connection) {
        db.execute("INSERT INTO entries VALUES (1, 1, 0, 1, 1, ?1, NULL)", [TEXT]).unwrap();
        let erased =
            "INSERT INTO erasing VALUES (1); UPDATE entries SET body = NULL, hash = x'00' WHERE id = 1";
        db.execute_batch(erased).unwrap();
    }

    /// Issue 16, row 16: it is said that the text is still there, and the next one to open the database finishes.
    #[test]
    fn a_reader_is_told_of_and_the_next_opening_finishes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        let mut writer = connection(&path);
        writer.db.execute("INSERT INTO entries VALUES (2, 1, 0, 1, 1, 'kept', NULL)", []).unwrap();
        let reader = open::for_reading(&path, &crate::encryption::Vault::off()).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
        erase(&writer.db);
        let purged = writer.purge().unwrap();
        assert!(matches!(&purged, Purged::Unfinished { why } if why.contains("reads")), "{purged:?}");
        assert!(is_there(folder.path()), "the write-ahead log still has it");
        // It does not depend on the process: another one finishes.
        drop(reader);
        let mut next = connection(&path);
        drop(writer);
        assert_eq!(next.purge().unwrap(), Purged::Complete);
        assert!(!is_there(folder.path()));
        assert_eq!(next.due().unwrap(), None);
    }

    #[test]
    fn another_writer_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        let mut writer = connection(&path);
        erase(&writer.db);
        let other = connection(&path);
        other.db.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(matches!(writer.purge().unwrap(), Purged::Unfinished { .. }));
        other.db.execute_batch("ROLLBACK").unwrap();
        assert_eq!(writer.purge().unwrap(), Purged::Complete);
        assert!(!is_there(folder.path()));
    }

    /// What another process erases while the file is rewritten is not taken for done.
    #[test]
    fn an_erasure_in_between_is_still_due() {
        let folder = tempfile::tempdir().unwrap();
        let writer = connection(&folder.path().join("segue.db"));
        erase(&writer.db);
        let due = writer.due().unwrap().unwrap();
        writer.db.execute("INSERT INTO named_values VALUES ('words', 'k', x'00', NULL)", []).unwrap();
        writer.db.execute("DELETE FROM named_values", []).unwrap();
        writer.db.execute("DELETE FROM purges WHERE n = ?1", [due]).unwrap();
        assert_eq!(writer.due().unwrap(), Some(due + 1));
    }
}
