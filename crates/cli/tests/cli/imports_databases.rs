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
    for (first, again) in first.as_array().unwrap().iter().zip(again.as_array().unwrap()) {
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
