//! A database with something of everything in it, to be copied and tampered with.

use rusqlite::Connection;
use rusqlite::types::Value;
use segue_core::decide::Command;
use segue_core::digest::Digest;
use segue_core::message::{Message, Role};
use segue_core::pins::{Change, Persona, Texts};
use segue_core::retention::KeepChoice;
use segue_core::session::{Number, Title};
use segue_store::conformance::World;
use segue_store::search::{Query, Reach, Visibility};
use segue_store::{Location, Page, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SCOPES: [&str; 2] = ["agent:main:cli:direct:me", "agent:main:cli:direct:you"];

/// The ids of messages whose entries are gone: nothing on disk proves them.
pub const UNPROVABLE: &str =
    "seen WHERE NOT EXISTS (SELECT 1 FROM entries WHERE entries.id = (seen.scope << 32) + seen.seq)";

/// The structural entries of segments that were dropped: what they were sealed with is gone. That they are there, and
/// in their order, is proved by the fold.
pub const UNSEALED: &str = "(segment < (SELECT open_segment FROM scopes WHERE scopes.id = 1)
     AND segment NOT IN (SELECT number FROM segments WHERE scope = 1))";

pub struct Template {
    folder: tempfile::TempDir,
    copies: std::cell::Cell<u32>,
}

pub struct Case(PathBuf);

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

async fn fill(store: Arc<dyn Store>, scope: &str) {
    let mut world = World::at(store, scope);
    for n in 1..=3 {
        world.say_as(&format!("message {n}"), &format!("id{n}")).await.unwrap();
    }
    world.run(&Command::New { first: None }).await.unwrap();
    let fifth = world.say("to be erased").await.about.unwrap();
    let title = Title::new("the second").unwrap();
    world.run(&Command::Rename { session: Number(2), title }).await.unwrap();
    let persona = Persona { version: Digest::NONE, files: "Be kind.".to_owned() };
    let change = Box::new(Change::Persona(Some(persona)));
    world.run(&Command::Pin { session: Number(2), change, texts: Texts::Known }).await.unwrap();
    world.run(&Command::New { first: None }).await.unwrap();
    world.say_as("to be dropped", "id-dropped").await.unwrap();
    world.run(&Command::Resume { session: Number(1) }).await.unwrap();
    world.run(&Command::Fork { session: Number(2), at: None }).await.unwrap();
    let message = Message::text("a late reply");
    world.run(&Command::Reply { role: Role::Assistant, message, session: Number(2) }).await.unwrap();
    world.run(&Command::Delete { session: Number(3) }).await.unwrap();
    world.run(&Command::Erase { entries: vec![fifth], along: Vec::new() }).await.unwrap();
    world.run(&Command::New { first: None }).await.unwrap();
    world.run(&Command::Undo).await.unwrap();
    // Something that a scope keeps besides its sessions.
    world.run(&Command::KeepChoice { session: Number(2), wish: KeepChoice::Keep }).await.unwrap();
    world.run(&Command::New { first: None }).await.unwrap();
    world.say_as("the last word", "id-last").await.unwrap();
    world.store.sweep().await.unwrap();
    // So that there is an index for searching, too.
    let visibility = Arc::new(Visibility::of(&*world.state().await, Reach::Everything));
    let query = Query { text: "message".into(), visibility, limit: 10 };
    assert_eq!(segue_store::search::find(world.store.as_ref(), &world.scope, &query).await.unwrap().len(), 3);
    world.verify().await;
}

impl Template {
    pub fn make() -> Self {
        let shm = Path::new("/dev/shm");
        let folder = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
        let store = Location::Sqlite(folder.path().join("template.db")).open().unwrap();
        for scope in SCOPES {
            block_on(fill(store.clone(), scope));
        }
        drop(store);
        let template = Self { folder, copies: 0.into() };
        assert_eq!(template.copy().problems(), Vec::<String>::new());
        template
    }

    pub fn copy(&self) -> Case {
        self.copies.set(self.copies.get() + 1);
        let path = self.folder.path().join(format!("{}.db", self.copies.get()));
        std::fs::copy(self.folder.path().join("template.db"), &path).unwrap();
        Case(path)
    }

    /// The tables and their columns.
    pub fn tables(&self) -> Vec<(String, Vec<String>)> {
        let case = self.copy();
        let db = case.connect();
        let strings = |sql: &str| -> Vec<String> {
            let mut query = db.prepare(sql).unwrap();
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let tables = strings("SELECT name FROM sqlite_schema WHERE type = 'table'");
        let columns = |table: &str| strings(&format!("SELECT name FROM pragma_table_info('{table}')"));
        tables.into_iter().map(|table| (table.clone(), columns(&table))).collect()
    }

    /// The rows of a table that can be proved, each as a condition that it alone meets. Both scopes went the
    /// same way, so the rows of the first are enough.
    pub fn rows(&self, table: &str) -> Vec<String> {
        let case = self.copy();
        let db = case.connect();
        let key = format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk");
        let mut query = db.prepare(&key).unwrap();
        let key: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let filter = match table {
            "entries" => format!("WHERE id < 2 << 32 AND NOT {UNSEALED}"),
            "scopes" | "search_key" => "WHERE id = 1".to_owned(),
            "search_messages" => "WHERE id < 2 << 32".to_owned(),
            "seen" => format!("WHERE scope = 1 AND NOT EXISTS (SELECT 1 FROM ({}))", unprovable_row()),
            _ => "WHERE scope = 1".to_owned(),
        };
        // Values, leases and what is due are no part of the log, and the shadow tables of FTS5 are looked at through it.
        let is_beside = ["erasing", "named_values", "leases", "purges", "in_use", "keyring", "upkeep_due"]
            .contains(&table)
            || table.starts_with("search_index");
        if is_beside || table == "search_terms" {
            return Vec::new();
        }
        let sql = format!("SELECT {} FROM {table} {filter}", key.join(", "));
        let mut query = db.prepare(&sql).unwrap();
        let mut rows = query.query([]).unwrap();
        let mut found = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let part = |(at, name): (usize, &String)| match row.get::<_, Value>(at).unwrap() {
                Value::Integer(number) => format!("{name} = {number}"),
                Value::Text(text) => format!("{name} = '{text}'"),
                other => panic!("{other:?}"),
            };
            found.push(key.iter().enumerate().map(part).collect::<Vec<_>>().join(" AND "));
        }
        found
    }

    /// The triggers and how they were made.
    pub fn guards(db: &Connection) -> Vec<(String, String)> {
        let mut query = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    }
}

fn unprovable_row() -> String {
    format!("SELECT 1 FROM {UNPROVABLE}")
        .replace("SELECT 1 FROM seen WHERE NOT EXISTS", "SELECT 1 WHERE NOT EXISTS")
}

impl Case {
    #[allow(clippy::disallowed_methods, reason = "plays another program")]
    pub fn connect(&self) -> Connection {
        Connection::open(&self.0).unwrap()
    }

    /// Takes the triggers away, as somebody would who wants to leave no trace.
    pub fn unguarded(&self) -> Connection {
        let db = self.connect();
        for (name, sql) in Template::guards(&db) {
            db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
            db.execute_batch("CREATE TEMP TABLE IF NOT EXISTS guards (sql)").unwrap();
            db.execute("INSERT INTO guards VALUES (?1)", [sql]).unwrap();
        }
        db
    }

    /// Puts the triggers back.
    pub fn guard(&self, db: &Connection) {
        let mut query = db.prepare("SELECT sql FROM guards").unwrap();
        let guards: Vec<String> =
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for sql in guards {
            db.execute_batch(&sql).unwrap();
        }
    }

    /// What `segue verify` finds.
    pub fn problems(&self) -> Vec<String> {
        let store = match Location::Sqlite(self.0.clone()).open() {
            Ok(store) => store,
            Err(error) => return vec![error.to_string()],
        };
        block_on(async {
            let mut problems = store.audit(None).await.unwrap_or_else(|error| vec![error.to_string()]);
            let rows = store.scopes(&Page::first(100)).await.map(|page| page.rows);
            let rows = rows.unwrap_or_else(|error| {
                problems.push(error.to_string());
                Vec::new()
            });
            for row in rows {
                match segue_store::verify::verify(store.as_ref(), &row.scope).await {
                    Ok(report) => problems.extend(report.problems),
                    Err(error) => problems.push(error.to_string()),
                }
            }
            problems
        })
    }

    pub fn must_be_found(&self, what: &str) {
        let problems = self.problems();
        assert!(!problems.is_empty(), "nobody noticed: {what}");
        assert!(problems.iter().all(|problem| problem.contains(' ')), "{what}: {problems:?}");
        std::fs::remove_file(&self.0).unwrap();
    }
}
