//! The other side: a table of messages in SQLite, just as durable, and nothing else.

use crate::{Outcome, RECENT, TALK};
use rusqlite::{Connection, params};
use std::hint::black_box;
use std::path::Path;

/// How a turn's two messages become durable.
#[derive(Clone, Copy)]
pub enum Commits {
    /// Both at the end, as nobody can who asks a model between them.
    Once,
    /// Each when it is there, as the engine does it.
    Twice,
}

pub struct Bare {
    db: Connection,
    seq: usize,
    turn: usize,
}

impl Bare {
    pub fn open(path: &Path, messages: usize) -> Outcome<Self> {
        let db = Connection::open(path)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "synchronous", "full")?;
        db.execute_batch(
            "CREATE TABLE messages (scope TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL,
                 text TEXT NOT NULL, at INTEGER NOT NULL);
             CREATE INDEX messages_newest ON messages (scope, seq);",
        )?;
        let mut bare = Self { db, seq: 0, turn: 0 };
        bare.run("BEGIN IMMEDIATE")?;
        for n in 0..messages / 2 {
            let (said, answer) = TALK[n % TALK.len()];
            bare.write("user", said)?;
            bare.write("assistant", answer)?;
        }
        bare.run("COMMIT")?;
        Ok(bare)
    }

    fn run(&self, sql: &str) -> Outcome<()> {
        self.db.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    fn write(&mut self, role: &str, text: &str) -> Outcome<()> {
        self.seq += 1;
        let sql = "INSERT INTO messages (scope, seq, role, text, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        let at = 1_772_359_200 + self.seq as i64;
        let row = params!["agent:main:bench:direct:me", self.seq as i64, role, text, at];
        self.db.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    fn recent(&self) -> Outcome<Vec<(String, String)>> {
        let sql = "SELECT role, text FROM messages WHERE scope = ?1 ORDER BY seq DESC LIMIT ?2";
        let mut query = self.db.prepare_cached(sql)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows = query.query_map(params!["agent:main:bench:direct:me", RECENT as i64], row)?;
        let mut recent = rows.collect::<Result<Vec<_>, _>>()?;
        recent.reverse();
        Ok(recent)
    }

    pub fn turn(&mut self, commits: Commits) -> Outcome<()> {
        let (said, answer) = TALK[self.turn % TALK.len()];
        self.turn += 1;
        self.run("BEGIN IMMEDIATE")?;
        self.write("user", said)?;
        if let Commits::Twice = commits {
            self.run("COMMIT")?;
            black_box(self.recent()?);
            self.run("BEGIN IMMEDIATE")?;
            self.write("assistant", answer)?;
            return self.run("COMMIT");
        }
        black_box(self.recent()?);
        self.write("assistant", answer)?;
        self.run("COMMIT")
    }
}
