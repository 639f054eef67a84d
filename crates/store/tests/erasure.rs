//! Issue 16, row 4: after an erasure is acknowledged, no byte of what was erased is in the store's files, nor in a backup.
//!
//! Random stores: several scopes that are written to in turns, so that pages are split in the middle, messages of all sizes,
//! titles, forks, deleted sessions, values, an index, and stores that are opened again. Every text is a mark, over and over,
//! so that any part of it is found. `SEGUE_ERASURE_STORES` says how many stores of each kind are made.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use segue_core::decide::Command;
use segue_core::entry::{Bytes, Kind, Seq};
use segue_core::erasure::Place;
use segue_core::session::{Number, Title};
use segue_store::conformance::{World, folder};
use segue_store::files::Files;
use segue_store::search::Term;
use segue_store::sqlite::Sqlite;
use segue_store::values::{self, WORDS};
use segue_store::{Purged, Store, Value};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const STORES_DEFAULT: u64 = 100;
const SCOPES: [&str; 3] = ["agent:main:cli:direct:a", "agent:main:cli:direct:b", "agent:main:cli:direct:c"];
const MARK: &[u8] = b"MARK";
const MARK_DIGITS: usize = 8;

/// A small generator, so that a store can be made again by its number.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }
}

/// Finds the marks in some bytes.
fn marks(bytes: &[u8], found: &mut BTreeSet<u64>) {
    let mut rest = bytes;
    while let Some(at) = rest.windows(MARK.len()).position(|part| part == MARK) {
        rest = &rest[at + MARK.len()..];
        let digits = rest.get(..MARK_DIGITS).and_then(|digits| std::str::from_utf8(digits).ok());
        found.extend(digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()));
    }
}

fn marks_below(folder: &Path, found: &mut BTreeSet<u64>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { marks_below(&path, found) } else { marks(&std::fs::read(&path).unwrap(), found) }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum In {
    Sqlite,
    Files,
}

struct Made {
    kind: In,
    place: tempfile::TempDir,
    store: Option<Arc<dyn Store>>,
    worlds: Vec<World>,
    marks: u64,
    values: BTreeSet<(usize, u64)>,
}

impl Made {
    fn new(kind: In) -> Self {
        let mut made = Self {
            kind,
            place: folder(),
            store: None,
            worlds: Vec::new(),
            marks: 0,
            values: BTreeSet::new(),
        };
        made.open();
        made
    }

    fn open(&mut self) {
        (self.store, self.worlds) = (None, Vec::new());
        let folder = self.place.path().join("store");
        std::fs::create_dir_all(&folder).unwrap();
        let store: Arc<dyn Store> = match self.kind {
            In::Sqlite => Arc::new(Sqlite::open(&folder.join("segue.db")).unwrap()),
            In::Files => Arc::new(Files::open(&folder).unwrap()),
        };
        self.worlds = SCOPES.iter().map(|scope| World::at(Arc::clone(&store), scope)).collect();
        self.store = Some(store);
    }

    fn store(&self) -> &dyn Store {
        self.store.as_deref().unwrap()
    }

    fn text(&mut self, bytes: u64) -> String {
        self.marks += 1;
        format!("MARK{:08x} ", self.marks).repeat(1 + bytes as usize / 13)
    }

    async fn step(&mut self, chance: &mut Chance) {
        let at = chance.below(SCOPES.len() as u64) as usize;
        match chance.below(24) {
            0..=12 => {
                let bytes = match chance.below(8) {
                    0..=2 => chance.below(60),
                    3..=5 => 60 + chance.below(2_000),
                    6 => 2_000 + chance.below(6_000),
                    _ => 8_000 + chance.below(30_000),
                };
                let text = self.text(bytes);
                self.worlds[at].say(&text).await;
            }
            13 => drop(self.worlds[at].run(&Command::New { first: None }).await),
            14 => {
                let text = self.text(20);
                let title = Title::new(&text).unwrap();
                if let Some(session) = self.worlds[at].state().await.latest() {
                    self.worlds[at].run(&Command::Rename { session, title }).await.unwrap();
                }
            }
            15 => {
                let latest = self.worlds[at].state().await.latest();
                if let Some(session) = latest {
                    drop(self.worlds[at].run(&Command::Fork { session, at: None }).await);
                }
            }
            16 => {
                // What is searched for is indexed.
                if let Some(search) = self.store().search() {
                    let terms: Vec<Term> = segue_store::search::terms("MARK 00000001").collect();
                    search.postings(&self.worlds[at].scope, &terms).await.unwrap();
                }
            }
            17 => {
                let (text, scope) = (self.text(500), self.worlds[at].scope.clone());
                let key = values::words_key(&scope, &format!("v{}", self.marks));
                self.store().put_value(WORDS, Value::new(key, text)).await.unwrap();
                self.values.insert((at, self.marks));
            }
            18 => self.open(),
            19 => {
                let session = Number(1 + chance.below(3) as u32);
                if self.worlds[at].run(&Command::Delete { session }).await.is_ok() {
                    self.store().sweep().await.unwrap();
                    self.check().await;
                }
            }
            _ => self.erase(at, chance).await,
        }
    }

    async fn erase(&mut self, at: usize, chance: &mut Chance) {
        let log = self.worlds[at].whole_log().await;
        let kept: Vec<Seq> = log.iter().filter(|record| Place::is_kept_in(record)).map(|r| r.seq).collect();
        if kept.is_empty() {
            return;
        }
        let count = 1 + chance.below(5);
        let entries: BTreeSet<Seq> =
            (0..count).map(|_| kept[chance.below(kept.len() as u64) as usize]).collect();
        let entries = entries.into_iter().collect();
        self.worlds[at].run(&Command::Erase { entries, along: Vec::new() }).await.unwrap();
        if chance.below(2) == 0 {
            let scope = self.worlds[at].scope.clone();
            values::forget(self.store(), &scope).await.unwrap();
            self.values.retain(|(of, _)| *of != at);
        }
        self.check().await;
    }

    /// What is in the files is in a log, or a value.
    async fn check(&self) {
        assert_eq!(self.store().purge().await.unwrap(), Purged::Complete);
        let mut live: BTreeSet<u64> = self.values.iter().map(|(_, mark)| *mark).collect();
        for world in &self.worlds {
            for record in world.whole_log().await {
                if let Bytes::Kept(text) = &record.bytes {
                    marks(text.as_bytes(), &mut live);
                }
            }
        }
        let mut found = BTreeSet::new();
        marks_below(self.place.path(), &mut found);
        assert_eq!(
            found.difference(&live).collect::<Vec<_>>(),
            Vec::<&u64>::new(),
            "erased, and still there"
        );
    }

    async fn check_backup(&self) {
        let to = self.place.path().join("backup.db");
        if self.kind == In::Sqlite {
            self.store().backup(&to).await.unwrap();
        }
        self.check().await;
        for world in &self.worlds {
            world.verify().await;
        }
    }
}

fn stores() -> u64 {
    std::env::var("SEGUE_ERASURE_STORES").ok().and_then(|n| n.parse().ok()).unwrap_or(STORES_DEFAULT)
}

fn nothing_is_left(kind: In) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stores = stores();
    for number in 1..=stores {
        runtime.block_on(async {
            let mut chance = Chance(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut made = Made::new(kind);
            for _ in 0..30 + chance.below(40) {
                made.step(&mut chance).await;
            }
            made.check_backup().await;
        });
    }
    println!("{stores} stores");
}

#[test]
fn x17_nothing_that_was_erased_is_left_in_sqlite() {
    nothing_is_left(In::Sqlite);
}

#[test]
fn x17_nothing_that_was_erased_is_left_in_files() {
    nothing_is_left(In::Files);
}

/// The test finds what it looks for: without a purge, SQLite's pages and its write-ahead log hold what was erased.
#[test]
fn the_search_finds_what_is_there() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut made = Made::new(In::Sqlite);
        let text = made.text(10_000);
        let seq = made.worlds[0].say(&text).await.about.unwrap();
        made.worlds[0].run(&Command::Erase { entries: vec![seq], along: Vec::new() }).await.unwrap();
        let mut found = BTreeSet::new();
        marks_below(made.place.path(), &mut found);
        assert!(found.contains(&1));
        let log = made.worlds[0].whole_log().await;
        assert!(
            log.iter().any(|record| record.kind == Kind::User && matches!(record.bytes, Bytes::Erased(_)))
        );
        made.check().await;
    });
}

/// Columns of the database that hold words, with what takes them out; the others hold none. A new column has to be put here.
const WORDS_IN: [(&str, &str); 8] = [
    ("entries", "body"),            // set to NULL by an erasure, deleted by a sweep
    ("sessions", "title"),          // folded from the log: an erasure folds it away
    ("sessions", "pins"),           // hashes and names; texts stand in the log
    ("standing", "mind"),           // names of models of the configuration; places of words, and no words
    ("embeddings", "bytes"),        // deleted by a trigger with any entry that they were made of
    ("named_values", "bytes"),      // those of the namespace `words` are deleted by `values::forget`
    ("search_index", "terms"),      // keyed hashes; taken out with the entry
    ("search_index_data", "block"), // the index itself
];

/// Columns without words: numbers, ids, digests, keys of scopes.
const NO_WORDS_IN: [&str; 65] = [
    "entries.id",
    "entries.segment",
    "entries.at",
    "entries.kind",
    "entries.nth",
    "entries.hash",
    "scopes.id",
    "scopes.key",
    "scopes.head",
    "scopes.updated_at",
    "scopes.next_session",
    "scopes.next_segment",
    "scopes.chain",
    "scopes.messages",
    "scopes.sessions",
    "scopes.open_segment",
    "scopes.open_session",
    "scopes.open_first",
    "scopes.open_messages",
    "scopes.open_digest",
    "scopes.opened_at",
    "scopes.last_user_at",
    "scopes.open_updated_at",
    "scopes.view_from",
    "scopes.view_skips",
    "boundaries.scope",
    "boundaries.list",
    "segments.scope",
    "segments.number",
    "segments.first",
    "segments.last",
    "segments.messages",
    "segments.digest",
    "segments.sealed_at",
    "sessions.scope",
    "sessions.number",
    "sessions.id",
    "sessions.parent",
    "sessions.origin",
    "sessions.merged_into",
    "sessions.title_entries",
    "sessions.spans",
    "sessions.upkeep",
    "upkeep_due.id",
    "sessions.created_at",
    "sessions.updated_at",
    "seen.scope",
    "seen.message_id",
    "seen.seq",
    "garbage.scope",
    "garbage.segment",
    "garbage.first",
    "garbage.last",
    "erasing.id",
    "standing.scope",
    "embeddings.scope",
    "embeddings.kind",
    "embeddings.number",
    "embeddings.first",
    "embeddings.last",
    "purges.id",
    "purges.n",
    "in_use.id",
    "in_use.session",
    "in_use.log_missed",
];

/// Tables that hold no words at all: positions, leases, and what the index counts.
const TABLES_WITHOUT_WORDS: [&str; 11] = [
    "span_pages",
    "commits",
    "leases",
    "search_messages",
    "search_scopes",
    "search_key",
    "keyring",
    "search_terms",
    "search_index_idx",
    "search_index_config",
    "search_index_docsize",
];

/// A new table, column or file fails here until somebody has said how an erasure reaches it.
#[test]
fn x17_every_column_and_file_is_known() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut made = Made::new(In::Sqlite);
    runtime.block_on(async {
        let mut chance = Chance(7);
        for _ in 0..60 {
            made.step(&mut chance).await;
        }
    });
    #[allow(clippy::disallowed_methods, reason = "the test looks at what the store has made")]
    let db = rusqlite::Connection::open(made.place.path().join("store/segue.db")).unwrap();
    let sql = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_xinfo(m.name) c
               WHERE m.type = 'table' AND c.hidden IN (0, 2)";
    let mut query = db.prepare(sql).unwrap();
    let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    for (table, column) in rows.map(Result::unwrap) {
        let is_known = TABLES_WITHOUT_WORDS.contains(&table.as_str())
            || WORDS_IN.contains(&(table.as_str(), column.as_str()))
            || NO_WORDS_IN.contains(&format!("{table}.{column}").as_str())
            || matches!((table.as_str(), column.as_str()), ("named_values", _) | ("search_index_data", "id"));
        assert!(is_known, "{table}.{column}: can it hold words, and how does an erasure reach it?");
    }
    let mut made = Made::new(In::Files);
    runtime.block_on(async {
        let mut chance = Chance(7);
        for _ in 0..60 {
            made.step(&mut chance).await;
        }
    });
    let mut names = BTreeSet::new();
    file_names(&made.place.path().join("store"), &mut names);
    // Segments and the journal are written anew by an erasure, values by a purge. The others hold numbers, ids and digests.
    let known = [
        "journal.jsonl",
        "values.jsonl",
        "index.json",
        "index.json.digest",
        "index.changes.jsonl",
        "commits.jsonl",
        "garbage.jsonl",
        "dropped.jsonl",
        "store.lock",
    ];
    for name in names {
        let is_segment =
            name.strip_suffix(".jsonl").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
        assert!(is_segment || known.contains(&name.as_str()), "{name}: how does an erasure reach it?");
    }
}

fn file_names(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => file_names(&path, names),
            false => _ = names.insert(path.file_name().unwrap().to_str().unwrap().to_owned()),
        }
    }
}
