//! Databases of other programs, opened for reading only: OpenClaw's (one for each agent), Hermes' and goose's. Each session
//! of one is a conversation, each row a record.

use anyhow::Context as _;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};
use segue_core::Timestamp;
use segue_engine::port::{Beside, Format, Line, Source};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// How many rows are read at a time.
const ROWS_MAX: i64 = 256;

/// What an SQLite database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// A session of a database.
pub struct Session {
    pub id: String,
    pub beside: Beside,
    pub began: Option<Timestamp>,
    pub bytes: u64,
}

/// Tells whether a file is an SQLite database.
pub fn is_one(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC
}

/// Opens a database so that nothing in it or beside it is changed.
fn open(path: &Path) -> anyhow::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .with_context(|| format!("the database {} cannot be read", path.display()))?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

/// Finds out whose database it is; nothing if it is none of those that are known.
pub fn format(path: &Path) -> anyhow::Result<Option<Format>> {
    let connection = open(path)?;
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

/// Lists the sessions of a database that have something in them, oldest first.
pub fn sessions(path: &Path, format: Format) -> anyhow::Result<Vec<Session>> {
    let connection = open(path)?;
    match format {
        Format::Openclaw => openclaw(&connection, path),
        _ => by_row(&connection),
    }
}

/// Sessions with a row each. Whatever columns there are come along: they differ from version to version.
fn by_row(connection: &Connection) -> anyhow::Result<Vec<Session>> {
    let mut rows = connection.prepare(
        "SELECT s.*, (SELECT COUNT(*) FROM messages m WHERE m.session_id = s.id) AS segue_rows FROM sessions s",
    )?;
    let names: Vec<String> = rows.column_names().map(str::to_owned).collect();
    let rows = rows.query_map([], |row| object(row, &names))?;
    let mut found = Vec::new();
    for about in rows {
        let about = about?;
        let rows = about.get("segue_rows").and_then(Value::as_u64).unwrap_or_default();
        let id = about.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if rows == 0 || id.is_empty() {
            continue;
        }
        let began = began(&about);
        let beside = Beside { name: id.clone(), meta: Some(about), ..Beside::default() };
        found.push(Session { id, beside, began, bytes: rows * 1024 });
    }
    found.sort_by(|a, b| (a.began, &a.id).cmp(&(b.began, &b.id)));
    Ok(found)
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

/// OpenClaw's transcripts. The key of a session is in `session_windows`, its label in `session_nodes`; older databases
/// have neither.
fn openclaw(connection: &Connection, path: &Path) -> anyhow::Result<Vec<Session>> {
    let mut rows = connection.prepare(
        "SELECT session_id, MIN(created_at), SUM(LENGTH(event_json)) FROM transcript_events GROUP BY session_id",
    )?;
    let rows = rows.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?, row.get::<_, Option<i64>>(2)?))
    })?;
    let one = |sql: &str, id: &str| -> Option<String> {
        let mut found = connection.prepare(sql).ok()?;
        found.query_row([id], |row| row.get::<_, Option<String>>(0)).optional().ok()??
    };
    // agents/AGENT/agent/openclaw-agent.sqlite
    let names: Vec<_> = path.iter().rev().take(4).map(|part| part.to_string_lossy()).collect();
    let agent = match names.as_slice() {
        [_, folder, agent, agents] if folder == "agent" && agents == "agents" => Some(agent.to_string()),
        _ => None,
    };
    let mut found = Vec::new();
    for row in rows {
        let (id, began, bytes) = row?;
        let key = one("SELECT session_key FROM session_windows WHERE session_id = ?1", &id)
            .or_else(|| one("SELECT session_key FROM session_nodes WHERE current_session_id = ?1", &id))
            .or_else(|| one("SELECT session_key FROM sessions WHERE session_id = ?1", &id));
        let label =
            one("SELECT COALESCE(label, display_name) FROM session_nodes WHERE current_session_id = ?1", &id)
                .or_else(|| one("SELECT display_name FROM session_windows WHERE session_id = ?1", &id));
        let index = key.map(|key| {
            let mut entry = Map::new();
            entry.insert("sessionId".to_owned(), id.clone().into());
            entry.extend(label.map(|label| ("label".to_owned(), label.into())));
            json!({ key: entry })
        });
        let beside = Beside { name: id.clone(), agent: agent.clone(), meta: None, index };
        let began = began.and_then(|at| Timestamp::from_millisecond(at).ok());
        found.push(Session { id, beside, began, bytes: bytes.unwrap_or_default().unsigned_abs() });
    }
    found.sort_by(|a, b| (a.began, &a.id).cmp(&(b.began, &b.id)));
    Ok(found)
}

/// The rows of one session, as lines.
pub struct Rows {
    path: PathBuf,
    format: Format,
    session: String,
    connection: Option<Connection>,
    after: i64,
    /// The rows that were read and not handed out, last one first.
    ready: Vec<Line>,
}

impl Rows {
    pub fn new(path: &Path, format: Format, session: &str) -> Self {
        let (path, session) = (path.to_owned(), session.to_owned());
        Self { path, format, session, connection: None, after: i64::MIN, ready: Vec::new() }
    }

    fn read_on(&mut self) -> anyhow::Result<()> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => open(&self.path)?,
        };
        let sql = match self.format {
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
            while let Some(row) = rows.next()? {
                self.after = row.get(0)?;
                let text = match self.format {
                    Format::Openclaw => row.get::<_, String>(1)?,
                    _ => object(row, &names)?.to_string(),
                };
                let number = usize::try_from(self.after).unwrap_or_default();
                self.ready.push(Line { number, text: Ok(text) });
            }
        }
        self.ready.reverse();
        self.connection = Some(connection);
        Ok(())
    }
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
