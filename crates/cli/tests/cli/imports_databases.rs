//! Databases of other programs: made here in their documented schemas, and not changed by an import.

use crate::imports::sessions;
use crate::world::World;
use rusqlite::Connection;
use serde_json::{Value, json};

fn world() -> World {
    World::new().variable("SEGUE_STORE_URL", "sqlite:log.db")
}

#[allow(clippy::disallowed_methods, reason = "the databases of other programs")]
fn database(world: &World, name: &str, sql: &str) -> Connection {
    world.file(name, "");
    let connection = Connection::open(world.path(name)).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

/// Imports a file twice, and returns what every session says, role by role.
fn imported(world: &World, path: &str) -> Vec<(String, Option<String>, Vec<String>)> {
    let before = std::fs::read(world.path(path)).unwrap();
    let first = world.run(&["import", path, "--json"]).expect_code(0).json();
    let again = world.run(&["import", path, "--json"]).expect_code(0).json();
    let read = |value: &Value| -> Vec<Value> {
        value.as_array().unwrap().iter().filter(|one| one.get("taken").is_some()).cloned().collect()
    };
    for (first, again) in read(&first).iter().zip(read(&again)) {
        assert_eq!(again["taken"], json!(0), "{again}");
        assert_eq!(again["known"], first["taken"], "{again}");
    }
    assert_eq!(std::fs::read(world.path(path)).unwrap(), before, "it is read only");
    world.run(&["verify"]).expect_code(0);
    let of = |key: String| {
        let shown = world.run(&["sessions", "show", &key, "--json"]).expect_code(0).json();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let said = shown["conversation_state"].as_array().unwrap().iter();
        let said = said.map(|m| format!("{}: {}", text(&m["role"]), text(&m["content"]))).collect();
        let title = world.run(&["export", &key]).json_lines()[0]["title"].as_str().map(str::to_owned);
        (key, title, said)
    };
    sessions(world).into_iter().map(of).collect()
}

#[test]
fn x12_databases_of_openclaw_are_read() {
    let world = world();
    let path = "agents/home/agent/openclaw-agent.sqlite";
    let connection = database(
        &world,
        path,
        "CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, label TEXT, display_name TEXT);
         CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, created_at INTEGER, display_name TEXT);
         CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, PRIMARY KEY (session_id, seq));
         INSERT INTO session_nodes VALUES ('agent:home:telegram:direct:4711', 'e1', '{}', 'The heating', NULL);
         INSERT INTO session_windows VALUES ('e1', 'agent:home:telegram:direct:4711', 1, NULL);",
    );
    let message =
        |role: &str, text: &str| json!({ "role": role, "content": [{ "type": "text", "text": text }] });
    let entry = |id: &str, parent: &str, message: Value| json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-03T12:00:00.000Z", "message": message });
    let events = [
        json!({ "type": "session", "version": 3, "id": "e1", "timestamp": "2026-03-03T12:00:00.000Z" }),
        entry("a1", "", message("user", "Is the heating on?")),
        entry("a2", "a1", message("assistant", "Yes.")),
    ];
    // Out of order: the sequence counts, not the row.
    for seq in [2, 0, 1] {
        let row = (seq, events[seq as usize].to_string());
        connection.execute("INSERT INTO transcript_events VALUES ('e1', ?1, ?2, 1000)", row).unwrap();
    }
    drop(connection);
    assert_eq!(
        imported(&world, path),
        [(
            "agent:home:telegram:direct:4711".to_owned(),
            Some("The heating".to_owned()),
            vec!["user: Is the heating on?".to_owned(), "assistant: Yes.".to_owned()]
        )]
    );
}

#[test]
fn x12_databases_of_goose_are_read() {
    let world = world();
    let connection = database(
        &world,
        "goose/sessions.db",
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT, created_at TIMESTAMP);
         CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
         INSERT INTO sessions VALUES ('20260301_1', 'Fix the flaky test', '', '/home/ann/shop', '2026-03-01 10:00:00');
         INSERT INTO sessions VALUES ('20260301_2', 'Empty', '', '/home/ann/shop', '2026-03-01 11:00:00');",
    );
    let call = json!({ "type": "toolRequest", "id": "t1", "toolCall": { "status": "success", "value": { "name": "shell", "arguments": { "command": "ls" } } } });
    let result = json!({ "type": "toolResponse", "id": "t1", "toolResult": { "status": "success", "value": { "content": [{ "type": "text", "text": "a.txt" }] } } });
    for (role, content) in [
        ("user", json!([{ "type": "text", "text": "Which files are there?" }])),
        ("assistant", json!([{ "type": "text", "text": "Let me look." }, call])),
        ("user", json!([result])),
        ("assistant", json!([{ "type": "text", "text": "One." }])),
    ] {
        let row = (role, content.to_string());
        connection.execute("INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20260301_1', ?1, ?2, 1772359200)", row).unwrap();
    }
    drop(connection);
    let found = imported(&world, "goose/sessions.db");
    let [(key, title, said)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (key.as_str(), title.as_deref()),
        ("agent:main:goose:direct:-home-ann-shop", Some("Fix the flaky test"))
    );
    assert_eq!(
        *said,
        ["user: Which files are there?", "assistant: Let me look.", "tool: a.txt", "assistant: One."]
    );
}

#[test]
fn x12_databases_of_hermes_are_read() {
    let world = world();
    let connection = database(
        &world,
        "hermes/state.db",
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, parent_session_id TEXT, started_at REAL NOT NULL, title TEXT);
         CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL);
         INSERT INTO sessions VALUES ('h1', 'telegram', '4711', NULL, 1772359200.5, 'Dinner');
         INSERT INTO sessions VALUES ('h2', 'cli', NULL, 'h1', 1772362800.0, NULL);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h1', 'user', 'What do I cook?', 1772359200.5);
         INSERT INTO messages (session_id, role, content, tool_calls, timestamp) VALUES ('h1', 'assistant', '', '[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"search\",\"arguments\":\"{}\"}}]', 1772359201.0);
         INSERT INTO messages (session_id, role, content, tool_call_id, tool_name, timestamp) VALUES ('h1', 'tool', 'lasagne', 'c1', 'search', 1772359202.0);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h1', 'assistant', 'A lasagne.', 1772359203.0);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h2', 'user', 'And tomorrow?', 1772362800.0);",
    );
    drop(connection);
    let found = imported(&world, "hermes/state.db");
    let keys: Vec<&str> = found.iter().map(|(key, _, _)| key.as_str()).collect();
    assert_eq!(keys, ["agent:main:hermes:direct:cli", "agent:main:telegram:direct:4711"]);
    assert_eq!(found[1].1.as_deref(), Some("Dinner"));
    assert_eq!(
        found[1].2,
        ["user: What do I cook?", "assistant: ", "tool: lasagne", "assistant: A lasagne."]
    );
}

#[test]
fn x12_a_database_of_somebody_else_is_said_to_be_none() {
    let world = world();
    drop(database(&world, "notes.db", "CREATE TABLE notes (text TEXT);"));
    let ran = world.run(&["import", "notes.db"]).expect_code(2);
    assert!(ran.err.contains("none of OpenClaw, Hermes or goose"), "{}", ran.err);
}

const GOOSE: &str = "
    CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT, created_at TIMESTAMP);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
    INSERT INTO sessions VALUES ('s1', 'Fix the flaky test', '', '/home/ann/shop', '2026-03-01 10:00:00');";

fn say(connection: &Connection, session: &str, text: &str) {
    let content = json!([{ "type": "text", "text": text }]).to_string();
    let row = (session, content);
    connection
        .execute("INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?1, 'user', ?2, 1772359200)", row)
        .unwrap();
}

/// Every file below a folder, with its bytes.
fn files(world: &World, folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(world.path(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// A database with a write-ahead log is read, whether its program runs, has ended, or was killed; and nothing appears beside it.
#[test]
fn x12_a_database_with_a_log_is_only_read() {
    for state in ["ended", "killed"] {
        let world = world();
        let connection =
            database(&world, "goose/sessions.db", &format!("PRAGMA journal_mode = wal; {GOOSE}"));
        say(&connection, "s1", "in the database or its log");
        if state == "ended" {
            drop(connection);
        } else {
            // What a program leaves behind that is killed: the log, and no index of it.
            std::fs::create_dir(world.path("kept")).unwrap();
            for name in ["sessions.db", "sessions.db-wal"] {
                std::fs::copy(world.path(&format!("goose/{name}")), world.path(&format!("kept/{name}")))
                    .unwrap();
            }
            drop(connection);
            std::fs::remove_dir_all(world.path("goose")).unwrap();
            std::fs::rename(world.path("kept"), world.path("goose")).unwrap();
        }
        let before = files(&world, "goose");
        assert_eq!(before.len(), if state == "ended" { 1 } else { 2 }, "{state}");
        let found = imported(&world, "goose/sessions.db");
        assert_eq!(found[0].2, ["user: in the database or its log"], "{state}");
        world.run(&["import", "goose"]).expect_code(0);
        let names =
            |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let after = files(&world, "goose");
        assert_eq!(names(&after), names(&before), "{state}");
        assert!(after == before, "{state}: a file was changed");
    }
    // While it runs, what it has just written is read, too.
    let world = world();
    let connection = database(&world, "goose/sessions.db", &format!("PRAGMA journal_mode = wal; {GOOSE}"));
    say(&connection, "s1", "a moment ago");
    assert_eq!(imported(&world, "goose/sessions.db")[0].2, ["user: a moment ago"]);
    say(&connection, "s1", "and now");
    let more = world.run(&["import", "goose/sessions.db", "--json"]).expect_code(0).json();
    assert_eq!((&more[0]["taken"], &more[0]["known"]), (&json!(1), &json!(1)), "{more}");
}

/// Sessions without messages and messages without a session are counted; a database that is damaged is told, counted and no
/// success; and the others are taken over.
#[test]
fn x12_nothing_in_a_database_is_dropped_in_silence() {
    let world = world();
    let connection = database(
        &world,
        "all/sessions.db",
        &format!(
            "{GOOSE} INSERT INTO sessions VALUES ('s2', 'Empty', '', '/home/ann/shop', '2026-03-01 11:00:00');"
        ),
    );
    say(&connection, "s1", "kept");
    say(&connection, "gone", "whose session was deleted");
    drop(connection);
    let ran = world.run(&["import", "all"]).expect_code(0);
    assert!(ran.out.contains(" 1 session without messages. 1 message without a session.\n"), "{}", ran.out);
    let told = world.run(&["import", "all/sessions.db", "--json"]).expect_code(0).json();
    assert_eq!(told[1], json!({ "empty_sessions": 1, "messages_without_session": 1 }), "{told}");
    // Half of a database, and something that has only its name.
    let whole = std::fs::read(world.path("all/sessions.db")).unwrap();
    world.file("all/half.sqlite", &whole[..whole.len() / 2]);
    world.file("all/nonsense.sqlite", "nonsense");
    let ran = world.run(&["import", "all"]).expect_code(1);
    assert!(
        ran.err.contains("warning: half.sqlite: ") && ran.err.contains("warning: nonsense.sqlite: "),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("left 2 unreadable files out."), "{}", ran.out);
    assert!(ran.out.contains("1 transcript: took 0 messages over, 1 had been there"), "{}", ran.out);
    let told = world.run(&["import", "all", "--json"]).expect_code(1).json();
    let errors = told.as_array().unwrap().iter().filter(|one| one.get("error").is_some()).count();
    assert_eq!(errors, 2, "{told}");
}

/// Row 19 of issue 16, for rows: a long one is told and left out, and many are not held at once.
#[test]
fn what_does_not_fit_into_memory_is_refused_row_by_row() {
    let world = world().variable("SEGUE_LIMITS_IMPORT_BYTES_MAX", "20000");
    let connection = database(&world, "sessions.db", GOOSE);
    say(&connection, "s1", "short");
    say(&connection, "s1", &"long ".repeat(5_000));
    say(&connection, "s1", "short again");
    drop(connection);
    let told = world.run(&["import", "sessions.db", "--json"]).expect_code(0).json();
    assert_eq!(told[0]["taken"], 2, "{told}");
    assert!(told[0]["bad"].to_string().contains("at most 20000 are read"), "{told}");
}
