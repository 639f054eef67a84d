//! Imports that survive real files: every record accounted for, several sessions stay several, what the program
//! wrote is told from what was said. The real transcripts are not part of the project: where they are not there, the test
//! says so and passes.

use crate::imports::{sessions, world_with};
use crate::world::World;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Real transcripts, where the machine has them.
pub fn real() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/transcripts");
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/transcripts");
    let found = [beside, above].into_iter().find(|folder| folder.is_dir());
    if found.is_none() {
        eprintln!("skipped: there are no real transcripts beside the project (shared/data/transcripts)");
    }
    found
}

/// Every record is taken, or counted under a reason.
#[track_caller]
pub fn expect_balanced(read: &Value) {
    let records = &read["records"];
    let left_out: u64 = records["left_out"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    let sum = records["taken"].as_u64().unwrap() + left_out + records["bad"].as_u64().unwrap();
    assert_eq!(records["all"].as_u64().unwrap(), sum, "{read}");
}

/// A list of OpenAI's messages: each message with calls is followed by their results and by nothing else before them.
#[track_caller]
fn expect_valid(key: &str, chat: &Value) {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for message in chat["messages"].as_array().unwrap() {
        match message["role"].as_str().unwrap() {
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap();
                assert!(open.remove(id), "{key}: {id} was not called");
                assert!(message["content"].is_string());
                continue;
            }
            "assistant" => {}
            "user" | "system" => assert!(!message["content"].as_str().unwrap().trim().is_empty(), "{key}"),
            other => panic!("{key}: there is no role {other}"),
        }
        assert!(open.is_empty(), "{key}: {open:?} have no result");
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.map(|call| call["id"].as_str().unwrap().to_owned()));
    }
    assert!(open.is_empty(), "{key}: {open:?} have no result");
}

pub fn taken(all: &Value) -> Vec<(u64, u64)> {
    let number = |value: &Value| value.as_u64().unwrap();
    all.as_array().unwrap().iter().map(|read| (number(&read["taken"]), number(&read["known"]))).collect()
}

#[test]
fn x12_real_transcripts_are_taken_over_whole() {
    let Some(folder) = real() else { return };
    let folder = folder.to_string_lossy();
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let first = world.run(&["import", &folder, "--json"]).expect_code(0).json();
    for read in first.as_array().unwrap() {
        expect_balanced(read);
        // Counted here, and not by the importer: no line of the file is missing from its sum.
        let file = std::fs::read_to_string(Path::new(&*folder).join(read["file"].as_str().unwrap())).unwrap();
        let lines = file.lines().filter(|line| !line.trim().is_empty()).count() as u64;
        assert!(read["records"]["all"].as_u64().unwrap() >= lines, "{lines} lines: {read}");
        assert_eq!(read["records"]["bad"], json!(0), "{read}");
        assert_eq!(read["bad"], json!([]), "{read}");
    }
    // One of 11 + 20 files is empty, and one has nothing but a title of another session.
    assert_eq!(first.as_array().unwrap().len(), 30);
    let keys = sessions(&world);
    assert_eq!(keys.len(), 29);
    for key in &keys {
        let chat = world.run(&["export", key, "--format", "openai"]).expect_code(0);
        assert_eq!(chat.err, "", "{key}");
        expect_valid(key, &chat.json());
    }
    for scope in world.run(&["scopes", "--json"]).json().as_array().unwrap() {
        let scope = scope["scope"].as_str().unwrap();
        for row in world.run(&["sessions", "list", scope, "--json"]).json().as_array().unwrap() {
            let title = row["title"].as_str().unwrap_or_default();
            assert!(!title.is_empty() && !title.starts_with('<') && title != "Warmup", "{row}");
        }
    }
    let second = world.run(&["import", &folder, "--json"]).expect_code(0).json();
    let expected: Vec<_> = taken(&first).into_iter().map(|(taken, known)| (0, taken + known)).collect();
    assert_eq!(taken(&second), expected);
    world.run(&["verify"]).expect_code(0);
}

/// A line of Claude Code.
pub fn line(session: &str, kind: &str, id: &str, parent: &str, message: Value) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { parent.into() };
    json!({
        "type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false, "sessionId": session,
        "cwd": "/home/ann/shop", "timestamp": "2026-03-01T10:00:00.000Z", "message": message,
    })
}

pub fn user(session: &str, id: &str, parent: &str, text: &str) -> Value {
    line(session, "user", id, parent, json!({ "role": "user", "content": text }))
}

pub fn agent(session: &str, id: &str, parent: &str, content: Value) -> Value {
    let message = json!({ "id": format!("m-{id}"), "role": "assistant", "model": "m", "content": content });
    line(session, "assistant", id, parent, message)
}

pub fn words(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

pub fn jsonl(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub fn with(mut line: Value, name: &str, value: Value) -> Value {
    line[name] = value;
    line
}

pub fn shown(world: &World, key: &str) -> Vec<(String, String)> {
    let shown = world.run(&["sessions", "show", key, "--json"]).expect_code(0).json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said = shown["conversation_state"].as_array().unwrap().iter();
    said.map(|message| (text(&message["role"]), text(&message["content"]))).collect()
}

pub const FOLDER: &str = "agent:main:claude-code:direct:-home-ann-shop";

/// What a helper did between the others is a session of its own; so is what comes behind a `/clear`.
#[test]
fn x12_side_chains_and_clears_are_sessions_of_their_own() {
    let side = |value: Value| with(value, "isSidechain", json!(true));
    let world = world_with(
        "projects/-x/s1.jsonl",
        &jsonl(&[
            user("s1", "p", "", "Review the cart"),
            side(user("s1", "h1", "", "Find all uses of Cart")),
            agent("s1", "a", "p", words("I have asked somebody.")),
            side(agent("s1", "h2", "h1", words("Three uses."))),
            user("s1", "k", "a", "<command-name>/clear</command-name><command-args></command-args>"),
            user("s1", "q", "k", "Now the checkout"),
            agent("s1", "b", "q", words("Looking.")),
        ]),
    );
    let read = world.run(&["import", "projects/-x/s1.jsonl", "--json"]).expect_code(0).json();
    expect_balanced(&read);
    let texts = |key: &str| shown(&world, key).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(texts(FOLDER), ["Review the cart", "I have asked somebody.", "/clear"]);
    assert_eq!(texts(&format!("{FOLDER}#2")), ["Now the checkout", "Looking."]);
    assert_eq!(texts(&format!("{FOLDER}#3")), ["Find all uses of Cart", "Three uses."]);
    assert_eq!(read["sessions"][2]["parent"], json!("s1"));
    let again = world.run(&["import", "projects/-x/s1.jsonl", "--json"]).expect_code(0).json();
    assert_eq!((&again["taken"], &again["known"]), (&json!(0), &json!(7)));
}

/// Two records on one line, attachments, words that were typed while the agent worked, a compaction, a worktree.
#[test]
fn x12_odd_lines_are_understood() {
    let title = json!({ "type": "summary", "summary": "The cart forgets", "leafUuid": "p" });
    let other = json!({ "type": "summary", "summary": "Of another session", "leafUuid": "elsewhere" });
    let attachment = |id: &str, what: Value| {
        with(with(line("s1", "attachment", id, "p", Value::Null), "attachment", what), "message", Value::Null)
    };
    let boundary = json!({ "type": "system", "subtype": "compact_boundary", "uuid": "cb", "parentUuid": null, "logicalParentUuid": "a", "content": "Conversation compacted", "sessionId": "s1" });
    let image = json!([{ "type": "text", "text": "See this" }, { "type": "image", "source": {} }]);
    let in_worktree = |value: Value| with(value, "cwd", json!("/home/ann/shop/.worktrees/2"));
    let lines = [
        format!("{other}\n"),
        format!("{}\n", in_worktree(user("s1", "p", "", "Why does the cart forget its items?"))),
        format!("{title}{}\n", agent("s1", "a", "p", words("It is never saved."))),
        format!(
            "{}\n",
            attachment(
                "t",
                json!({ "type": "file", "filename": "cart.rs", "content": { "type": "text", "file": { "content": "struct Cart;" } } })
            )
        ),
        format!(
            "{}\n",
            attachment("u", json!({ "type": "queued_command", "prompt": "and the tests, please" }))
        ),
        format!("{}\n", attachment("v", json!({ "type": "todo_reminder", "content": [] }))),
        format!("{boundary}\n"),
        format!(
            "{}\n",
            with(user("s1", "cs", "cb", "This session is being continued."), "isCompactSummary", json!(true))
        ),
        format!("{}\n", line("s1", "user", "i", "cs", json!({ "role": "user", "content": image }))),
        "{\"type\":\"progress\",\"uuid\":\"x\",\"data\":{\"type\":\"bash_progress\"}}\n".to_owned(),
    ];
    let world = world_with("projects/-x/s1.jsonl", &lines.concat());
    let read = world.run(&["import", "projects/-x/s1.jsonl", "--json"]).expect_code(0).json();
    expect_balanced(&read);
    let left_out = json!({
        "attachment: todo_reminder": 1, "progress: bash_progress": 1, "summary of another session": 1,
        "system: compact_boundary": 1, "title": 1,
    });
    assert_eq!(read["records"]["left_out"], left_out);
    assert_eq!(read["title"], json!("The cart forgets"));
    let said: Vec<String> =
        shown(&world, FOLDER).into_iter().map(|(role, text)| format!("{role}: {text}")).collect();
    assert_eq!(
        said,
        [
            "user: Why does the cart forget its items?",
            "assistant: It is never saved.",
            "system: [attached file: cart.rs]\nstruct Cart;",
            "user: and the tests, please",
            "system: This session is being continued.",
            "user: See this\n[image]",
        ]
    );
}

/// what was deleted comes back, and is said to; what is there is left alone.
#[test]
fn x16_what_was_deleted_is_imported_again() {
    for store in crate::world::DURABLE {
        let world = World::new().variable("SEGUE_STORE_URL", store);
        let lines = [user("s1", "p", "", "Question"), agent("s1", "a", "p", words("Answer"))];
        world.file("s1.jsonl", jsonl(&lines));
        world.run(&["import", "s1.jsonl"]).expect_code(0);
        world.run(&["sessions", "new", FOLDER]).expect_code(0);
        world.run(&["sessions", "delete", FOLDER]).expect_code(0);
        let back = world.run(&["import", "s1.jsonl"]).expect_code(0).out;
        assert!(back.contains("2 of them had been deleted here, and are back."), "{store}: {back}");
        let again = world.run(&["import", "s1.jsonl"]).expect_code(0).out;
        assert!(again.contains("nothing was changed"), "{store}: {again}");
        world.run(&["verify"]).expect_code(0);
    }
}

/// The oldest rollouts of Codex are one object.
#[test]
fn x12_the_oldest_rollouts_are_read() {
    let rollout = json!({
        "session": { "timestamp": "2025-04-20T10:00:00.000Z", "id": "r1", "instructions": "" },
        "items": [
            { "role": "user", "content": [{ "type": "input_text", "text": "List the files" }], "type": "message" },
            { "type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1" },
            { "type": "function_call_output", "call_id": "c1", "output": "a.txt" },
            { "role": "assistant", "content": [{ "type": "output_text", "text": "One file." }], "type": "message" },
        ],
    });
    let world =
        world_with("sessions/rollout-2025-04-20-r1.json", &serde_json::to_string_pretty(&rollout).unwrap());
    let read = world.run(&["import", "sessions", "--json"]).expect_code(0).json();
    expect_balanced(&read[0]);
    assert_eq!(
        (&read[0]["format"], &read[0]["taken"], &read[0]["id"]),
        (&json!("codex"), &json!(4), &json!("r1"))
    );
}
