//! The other side: a table of messages in SQLite, just as durable, and nothing else.

use crate::{Outcome, RECENT, TALK};
use rusqlite::{Connection, params};
use std::hint::black_box;
use std::path::Path;

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

    /// Writes the person's message, durably, and reads the newest ones back.
    pub fn hear(&mut self) -> Outcome<()> {
        let (said, _) = self.line();
        self.commit("user", said)?;
        black_box(self.recent()?);
        Ok(())
    }

    /// Writes the agent's message, durably.
    pub fn answer(&mut self) -> Outcome<()> {
        let (_, answer) = self.line();
        self.turn += 1;
        self.commit("assistant", answer)
    }

    /// Does both in one transaction, as nobody can who asks a model between them.
    pub fn exchange_at_once(&mut self) -> Outcome<()> {
        let (said, answer) = self.line();
        self.turn += 1;
        self.run("BEGIN IMMEDIATE")?;
        self.write("user", said)?;
        black_box(self.recent()?);
        self.write("assistant", answer)?;
        self.run("COMMIT")
    }

    fn line(&self) -> (&'static str, &'static str) {
        TALK[self.turn % TALK.len()]
    }

    fn commit(&mut self, role: &str, text: &str) -> Outcome<()> {
        self.run("BEGIN IMMEDIATE")?;
        self.write(role, text)?;
        self.run("COMMIT")
    }
}
