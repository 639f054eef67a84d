//! The other side: a table of messages and a table of pointers, and nothing else.

use crate::Outcome;
use crate::figure::{answer, question};
use rusqlite::{Connection, params};
use std::path::Path;

pub struct Bare(Connection);

impl Bare {
    #[allow(clippy::disallowed_methods, reason = "the bare side of the comparison")]
    pub fn open(path: &Path) -> Outcome<Self> {
        let db = Connection::open(path)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "synchronous", "full")?;
        db.execute_batch(
            "CREATE TABLE messages (scope TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL,
                 text TEXT NOT NULL, at INTEGER NOT NULL);
             CREATE INDEX messages_newest ON messages (scope, seq);
             CREATE TABLE pointers (scope TEXT PRIMARY KEY, session INTEGER NOT NULL, head INTEGER NOT NULL,
                 at INTEGER NOT NULL) WITHOUT ROWID;",
        )?;
        Ok(Self(db))
    }

    /// Two messages and the pointer, durable.
    pub fn turn(&self, scope: &str, turn: usize) -> Outcome<()> {
        let run = |sql: &str| self.0.prepare_cached(sql)?.execute([]);
        run("BEGIN IMMEDIATE")?;
        self.write(scope, turn)?;
        run("COMMIT")?;
        Ok(())
    }

    pub fn write(&self, scope: &str, turn: usize) -> Outcome<()> {
        let (seq, at) = (2 * turn as i64 + 1, 1_772_359_200_000_000 + turn as i64 * 1_000_000);
        let mut insert = self.0.prepare_cached(
            "INSERT INTO messages (scope, seq, role, text, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        insert.execute(params![scope, seq, "user", question(turn), at])?;
        insert.execute(params![scope, seq + 1, "assistant", answer(turn), at])?;
        let sql = "INSERT INTO pointers (scope, session, head, at) VALUES (?1, 1, ?2, ?3)
                   ON CONFLICT (scope) DO UPDATE SET head = ?2, at = ?3";
        self.0.prepare_cached(sql)?.execute(params![scope, seq + 1, at])?;
        Ok(())
    }

    pub fn many(&self, write: impl FnOnce(&Self) -> Outcome<()>) -> Outcome<()> {
        self.0.execute_batch("BEGIN IMMEDIATE")?;
        write(self)?;
        Ok(self.0.execute_batch("COMMIT")?)
    }

    pub fn checkpoint(&self) -> Outcome<()> {
        Ok(self.0.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }
}
