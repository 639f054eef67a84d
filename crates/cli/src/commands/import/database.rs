//! Databases of other programs, opened for reading only: OpenClaw's (one for each agent), Hermes' and goose's. Each session
//! of one is a conversation, each row a record.

use anyhow::Context as _;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};
use segue_core::Timestamp;
use segue_engine::port::{FileContext, Format, Line, Source};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// How many rows are read at a time, and how many bytes they have together, about: a row may have megabytes.
const ROWS_MAX: i64 = 256;
const ROWS_BYTES_MAX: usize = 4 << 20;

/// What an SQLite database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The name of a copy.
const COPY: &str = "copy.db";

/// What there is in a database.
pub struct Contents {
    /// The sessions with something in them, oldest first.
    pub sessions: Vec<Session>,
    /// How many sessions have nothing in them.
    pub empty: usize,
    /// How many messages are of sessions that are not there.
    pub orphans: usize,
}

/// A session of a database.
pub struct Session {
    pub id: String,
    pub began: Option<Timestamp>,
    pub bytes: u64,
}

/// Tells whether a file is an SQLite database.
pub fn is_one(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC
}

/// A database of another program. Nothing in it or beside it is changed.
pub struct Database {
    path: PathBuf,
    access: Access,
    pub format: Format,
}

/// How a database is read.
enum Access {
    /// As it is.
    Plain,
    /// As a file that nobody writes: opened in the ordinary way, SQLite would make a log and an index beside it.
    Alone,
    /// From a copy. The program that wrote it has left a log behind, which cannot be read without an index.
    Copied(TempDir),
}

impl Access {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let mut head = [0; 20];
        File::open(path).and_then(|mut file| file.read_exact(&mut head))?;
        let has_log_mode = head.get(18..20) == Some(&[2, 2]);
        let log = with_suffix(path, "-wal");
        let has_log = log.metadata().is_ok_and(|log| log.len() > 0);
        Ok(match (has_log_mode, has_log) {
            (false, _) => Self::Plain,
            (true, false) => Self::Alone,
            // It is in use: its log and its index are there.
            (true, true) if with_suffix(path, "-shm").exists() => Self::Plain,
            (true, true) => {
                let folder = tempfile::tempdir().context("there is no place for a copy of the database")?;
                let copy = folder.path().join(COPY);
                for (from, to) in [(path.to_owned(), copy.clone()), (log, with_suffix(&copy, "-wal"))] {
                    std::fs::copy(&from, to)
                        .with_context(|| format!("{} cannot be copied", from.display()))?;
                }
                Self::Copied(folder)
            }
        })
    }
}

fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

impl Database {
    /// Opens a database and finds out whose it is; nothing if it is none of those that are known.
    pub fn open(path: &Path) -> anyhow::Result<Option<Self>> {
        let mut database =
            Self { path: path.to_owned(), access: Access::of(path)?, format: Format::Openclaw };
        let found = format(&database.connect()?)?;
        Ok(found.map(|format| {
            database.format = format;
            database
        }))
    }

    fn connect(&self) -> anyhow::Result<Connection> {
        let read = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match &self.access {
            Access::Plain => Connection::open_with_flags(&self.path, read),
            Access::Alone => {
                let path = std::path::absolute(&self.path)?;
                let path = path.to_str().context("its path is no text")?;
                let escaped = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
                let url = format!("file:{escaped}?immutable=1");
                Connection::open_with_flags(url, read | OpenFlags::SQLITE_OPEN_URI)
            }
            // The log is taken in there, which writes.
            Access::Copied(folder) => {
                let write = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::open_with_flags(folder.path().join(COPY), write)
            }
        };
        let connection =
            connection.with_context(|| format!("the database {} cannot be read", self.path.display()))?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        Ok(connection)
    }

    /// Lists what is in it.
    pub fn contents(&self) -> anyhow::Result<Contents> {
        let connection = self.connect()?;
        let mut contents = match self.format {
            Format::Openclaw => openclaw(&connection)?,
            _ => by_row(&connection)?,
        };
        contents.sessions.sort_by(|a, b| (a.began, &a.id).cmp(&(b.began, &b.id)));
        Ok(contents)
    }

    /// Reads what a database says about a session besides its messages.
    pub fn context(&self, session: &str) -> anyhow::Result<FileContext> {
        let connection = self.connect()?;
        match self.format {
            Format::Openclaw => Ok(about_openclaw(&connection, &self.path, session)),
            _ => {
                let mut rows = connection.prepare("SELECT * FROM sessions WHERE id = ?1")?;
                let names: Vec<String> = rows.column_names().map(str::to_owned).collect();
                let about = rows.query_row([session], |row| object(row, &names)).optional()?;
                Ok(FileContext { name: session.to_owned(), meta: about, ..FileContext::default() })
            }
        }
    }
}

/// Finds out whose database it is; nothing if it is none of those that are known.
fn format(connection: &Connection) -> anyhow::Result<Option<Format>> {
    let columns = |table: &str| -> anyhow::Result<Vec<String>> {
        let mut rows = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = rows.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    };
    let has = |columns: &[String], names: &[&str]| names.iter().all(|name| columns.iter().any(|c| c == name));
    let (sessions, messages) = (columns("sessions")?, columns("messages")?);
    Ok(if has(&columns("transcript_events")?, &["session_id", "seq", "event_json"]) {
        Some(Format::Openclaw)
    } else if has(&messages, &["session_id", "role", "content_json"])
        && has(&sessions, &["id", "working_dir"])
    {
        Some(Format::Goose)
    } else if has(&messages, &["session_id", "role", "content", "tool_calls"])
        && has(&sessions, &["id", "source", "started_at"])
    {
        Some(Format::Hermes)
    } else {
        None
    })
}

/// Sessions with a row each. Which columns there are differs from version to version.
fn by_row(connection: &Connection) -> anyhow::Result<Contents> {
    let mut rows = connection.prepare(
        "SELECT s.*, (SELECT COUNT(*) FROM messages m WHERE m.session_id = s.id) AS segue_rows FROM sessions s",
    )?;
    let names: Vec<String> = rows.column_names().map(str::to_owned).collect();
    let rows = rows.query_map([], |row| object(row, &names))?;
    let (mut sessions, mut empty) = (Vec::new(), 0);
    for about in rows {
        let about = about?;
        let rows = about.get("segue_rows").and_then(Value::as_u64).unwrap_or_default();
        let id = about.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if rows == 0 {
            empty += 1;
        } else {
            sessions.push(Session { id, began: began(&about), bytes: rows * 1024 });
        }
    }
    let orphans = connection.query_row(
        "SELECT COUNT(*) FROM messages WHERE session_id IS NULL OR session_id NOT IN (SELECT id FROM sessions)",
        [],
        |row| row.get::<_, i64>(0),
    )?;
    Ok(Contents { sessions, empty, orphans: usize::try_from(orphans).unwrap_or_default() })
}

/// When a session began: seconds with a fraction, or a text.
fn began(about: &Value) -> Option<Timestamp> {
    if let Some(seconds) = about.get("started_at").and_then(Value::as_f64) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "milliseconds of any year that a clock shows fit"
        )]
        return Timestamp::from_millisecond((seconds * 1000.0) as i64).ok();
    }
    let text = about.get("created_at")?.as_str()?;
    text.parse().ok().or_else(|| format!("{}Z", text.replacen(' ', "T", 1)).parse().ok())
}

/// OpenClaw's transcripts.
fn openclaw(connection: &Connection) -> anyhow::Result<Contents> {
    let mut rows = connection.prepare(
        "SELECT session_id, MIN(created_at), SUM(LENGTH(event_json)) FROM transcript_events
         WHERE session_id IS NOT NULL GROUP BY session_id",
    )?;
    let rows = rows.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?, row.get::<_, Option<i64>>(2)?))
    })?;
    let mut sessions = Vec::new();
    for row in rows {
        let (id, began, bytes) = row?;
        let began = began.and_then(|at| Timestamp::from_millisecond(at).ok());
        sessions.push(Session { id, began, bytes: bytes.unwrap_or_default().unsigned_abs() });
    }
    let count = |sql: &str| -> usize {
        // Older databases have no such table.
        let found = connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        found.ok().and_then(|n| usize::try_from(n).ok()).unwrap_or_default()
    };
    let events = "SELECT session_id FROM transcript_events WHERE session_id IS NOT NULL";
    let empty = count(&format!("SELECT COUNT(*) FROM session_windows WHERE session_id NOT IN ({events})"));
    let orphans = count("SELECT COUNT(*) FROM transcript_events WHERE session_id IS NULL");
    Ok(Contents { sessions, empty, orphans })
}

/// The key of a session is in `session_windows`, its label in `session_nodes`; older databases have neither.
fn about_openclaw(connection: &Connection, path: &Path, id: &str) -> FileContext {
    let one = |sql: &str| -> Option<String> {
        let mut found = connection.prepare(sql).ok()?;
        found.query_row([id], |row| row.get::<_, Option<String>>(0)).optional().ok()??
    };
    // agents/AGENT/agent/openclaw-agent.sqlite
    let names: Vec<_> = path.iter().rev().take(4).map(|part| part.to_string_lossy()).collect();
    let agent = match names.as_slice() {
        [_, folder, agent, agents] if folder == "agent" && agents == "agents" => Some(agent.to_string()),
        _ => None,
    };
    let key = one("SELECT session_key FROM session_windows WHERE session_id = ?1")
        .or_else(|| one("SELECT session_key FROM session_nodes WHERE current_session_id = ?1"))
        .or_else(|| one("SELECT session_key FROM sessions WHERE session_id = ?1"));
    let label = one("SELECT COALESCE(label, display_name) FROM session_nodes WHERE current_session_id = ?1")
        .or_else(|| one("SELECT display_name FROM session_windows WHERE session_id = ?1"));
    let index = key.map(|key| {
        let mut entry = Map::new();
        entry.insert("sessionId".to_owned(), id.into());
        entry.extend(label.map(|label| ("label".to_owned(), label.into())));
        Arc::new(json!({ key: entry }))
    });
    FileContext { name: id.to_owned(), agent, meta: None, index }
}

/// The rows of one session, as lines.
pub struct Rows {
    database: Arc<Database>,
    session: String,
    connection: Option<Connection>,
    after: i64,
    /// The rows that were read and not handed out, last one first.
    ready: Vec<Line>,
    /// How many bytes a row may have.
    bytes_max: usize,
}

impl Rows {
    pub fn new(database: Arc<Database>, session: &str, bytes_max: u64) -> Self {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        let session = session.to_owned();
        Self { database, session, connection: None, after: i64::MIN, ready: Vec::new(), bytes_max }
    }

    fn read_on(&mut self) -> anyhow::Result<()> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.database.connect()?,
        };
        let sql = match self.database.format {
            Format::Openclaw => {
                "SELECT seq, event_json FROM transcript_events WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
            }
            _ => {
                "SELECT id AS segue_row, * FROM messages WHERE session_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
            }
        };
        {
            let mut rows = connection.prepare_cached(sql)?;
            let names: Vec<String> = rows.column_names().map(str::to_owned).collect();
            let mut rows = rows.query(rusqlite::params![self.session, self.after, ROWS_MAX])?;
            let mut bytes = 0;
            while bytes < ROWS_BYTES_MAX
                && let Some(row) = rows.next()?
            {
                self.after = row.get(0)?;
                let size = size(row, names.len())?;
                let text = if size > self.bytes_max {
                    Err(format!("it has {size} bytes, at most {} are read; it is left out", self.bytes_max))
                } else if self.database.format == Format::Openclaw {
                    Ok(row.get::<_, String>(1)?)
                } else {
                    Ok(object(row, &names)?.to_string())
                };
                bytes += text.as_ref().map_or(0, String::len);
                let number = usize::try_from(self.after).unwrap_or_default();
                self.ready.push(Line { number, text });
            }
        }
        self.ready.reverse();
        self.connection = Some(connection);
        Ok(())
    }
}

/// Tells how many bytes of text a row holds, without copying it.
fn size(row: &Row<'_>, columns: usize) -> rusqlite::Result<usize> {
    let mut bytes = 0;
    for at in 0..columns {
        if let ValueRef::Text(held) | ValueRef::Blob(held) = row.get_ref(at)? {
            bytes += held.len();
        }
    }
    Ok(bytes)
}

impl Source for Rows {
    fn next(&mut self) -> io::Result<Option<Line>> {
        if self.ready.is_empty() {
            self.read_on().map_err(|error| io::Error::other(crate::sentence(&error)))?;
        }
        Ok(self.ready.pop())
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.after = i64::MIN;
        self.ready.clear();
        Ok(())
    }
}

/// A row as a JSON object.
fn object(row: &Row<'_>, names: &[String]) -> rusqlite::Result<Value> {
    let mut fields = Map::new();
    for (at, name) in names.iter().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => json!(number),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
            ValueRef::Blob(blob) => String::from_utf8_lossy(blob).into_owned().into(),
        };
        fields.insert(name.clone(), value);
    }
    Ok(Value::Object(fields))
}
