//! `segue replay`: the black box.

use crate::world::{DURABLE, ME, TALK, World, check};
use serde_json::{Value, json};

/// Every field that DESIGN.md names, in every object, and one object for each line, in order.
#[test]
fn json_has_every_field_of_the_design() {
    let world = World::new();
    world.file("talk.jsonl", TALK.trim_start());
    let ran = world.run(&["replay", "talk.jsonl", "--json"]).expect_code(0);
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 7);
    for (at, line) in lines.iter().enumerate() {
        let names: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        let fields = [
            "line",
            "scope",
            "session",
            "session_id",
            "segment",
            "action",
            "cause",
            "confidence",
            "state",
            "notice",
            "reply",
            "reasons",
            "signals",
            "control_model",
        ];
        for field in fields {
            assert!(names.contains(&field), "line {} has no {field}", at + 1);
        }
        assert_eq!(line["line"], json!(at + 1));
        assert_eq!(line["scope"], json!(ME));
        assert!(line["confidence"].is_f64() && line["reasons"].is_array() && line["signals"].is_object());
        assert_eq!(line["state"], json!("none"));
        assert_eq!(line["control_model"], json!("builtin"));
    }
    let of = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<Value>>();
    let (first, second) = (json!(ME), json!(format!("{ME}#2")));
    let sessions = [&first, &first, &first, &first, &second, &second, &second];
    assert_eq!(of("session").iter().collect::<Vec<_>>(), sessions);
    assert_eq!(of("action")[4..], [json!("new"), json!("continue"), json!("continue")]);
    assert_eq!(of("cause")[4], json!("command"));
    assert_eq!(of("reply")[4], json!(format!("Started new session: {ME}#2")));
}

#[test]
fn json_in_full() {
    let world = World::new();
    world.file("talk.jsonl", TALK.trim_start());
    check!(world.script("replay talk.jsonl --json"));
}

/// X-7: a second delivery is marked for people, gets the same answer, and is not counted.
#[test]
fn x7_a_second_delivery_is_marked() {
    let world = World::new();
    let hello = r#"{"at":"2026-03-01T10:00:00Z","scope":"s","text":"hello","message_id":"1"}"#;
    let new = r#"{"at":"2026-03-01T10:01:00Z","scope":"s","text":"/new","message_id":"2"}"#;
    world.file("twice.jsonl", [hello, hello, new, new].join("\n"));
    check!(world.script("replay twice.jsonl"));
    let lines = world.run(&["replay", "twice.jsonl", "--json"]).expect_code(0).json_lines();
    for pair in lines.chunks(2) {
        let mut again = pair[1].clone();
        again["line"] = pair[0]["line"].clone();
        assert_eq!(pair[0], again, "the same answer, to the letter");
    }
}

/// Long texts, Chinese, several lines, calls of tools: all hang below their beginning.
/// Replies, results and operations have no ids of their own: they were there if the person's message before them was.
#[test]
fn x7_a_file_that_is_replayed_again_changes_nothing() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lisbon.jsonl");
    let shown = || {
        let numbers = world.run(&["sessions", "list", "all", "--json"]).out;
        let texts = ["1", "2", "3"].map(|number| world.run(&["sessions", "show", number]).out);
        (numbers, texts)
    };
    world.run(&["replay", example, "--store", "sqlite:log.db"]).expect_code(0);
    let before = shown();
    let again = world.run(&["replay", example, "--store", "sqlite:log.db"]).expect_code(0).out;
    assert!(again.contains("delivered again") && again.contains("0 boundaries"), "{again}");
    assert_eq!(shown(), before);
    world.run(&["verify"]).expect_code(0);
}

#[test]
fn long_texts_are_wrapped() {
    let world = World::new();
    let say = |role: &str, more: Value| {
        let mut line = json!({ "at": "2026-03-01T10:00:00Z", "scope": "s", "role": role });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string()
    };
    let call =
        json!({ "id": "c", "name": "write_file", "arguments": { "path": "a.txt", "text": "x ".repeat(60) } });
    let lines = [
        say("user", json!({ "text": "word ".repeat(40) })),
        say("assistant", json!({ "text": "台面用石英石还是岩板，这取决于预算。".repeat(4) })),
        say("user", json!({ "text": "a list:\n  - one\n  - two\n\nand\ta tab" })),
        say("assistant", json!({ "text": "I write it.", "tool_calls": [call] })),
        say("tool", json!({ "text": "done ".repeat(20), "tool_call_id": "c" })),
        say("user", json!({ "text": "x".repeat(150), "sender": "Bartholomew" })),
        say("user", json!({ "text": "evil \u{1b}[2J\u{1b}]0;title\u{7} text" })),
    ];
    world.file("long.jsonl", lines.join("\n"));
    check!(world.script("replay long.jsonl"));
}

/// Times are those of the scope.
#[test]
fn times_are_in_the_time_zone_of_the_scope() {
    let world = World::new();
    let line = |scope: &str| format!(r#"{{"at":"2026-03-01T23:30:00Z","scope":"{scope}","text":"hello"}}"#);
    world.file("zones.jsonl", [line("a"), line("b"), line("c")].join("\n"));
    world.file("segue.toml", "timezone = 'Asia/Tokyo'\n[scopes.b]\ntimezone = 'America/New_York'\n");
    check!(world.script("replay zones.jsonl"));
}

#[test]
fn the_policy_and_the_store_can_be_named() {
    let world = World::new();
    world.file("talk.jsonl", TALK.trim_start());
    check!(world.script(
        "replay talk.jsonl --policy adaptive
         replay talk.jsonl --policy nonsense
         replay talk.jsonl --store talk.db
         replay talk.jsonl --store sqlite::memory:"
    ));
    let ran = world.run(&["replay", "talk.jsonl", "--policy", "segmented", "--window", "8000", "--json"]);
    assert_eq!(ran.expect_code(0).json_lines().len(), 7);
}

/// Without a store of its own a replay leaves nothing behind.
#[test]
fn a_replay_leaves_nothing_behind() {
    let world = World::new();
    world.file("talk.jsonl", TALK.trim_start());
    world.run(&["replay", "talk.jsonl"]).expect_code(0);
    let names: Vec<_> = std::fs::read_dir(world.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["talk.jsonl"]);
}

#[test]
fn commands_before_anything_was_said() {
    let world = World::new();
    let line = |text: &str| format!(r#"{{"at":"2026-03-01T10:00:00Z","scope":"s","text":"{text}"}}"#);
    world.file(
        "commands.jsonl",
        ["/help", "/status", "/undo", "/nwe", "/session resume x", "/new"].map(line).join("\n"),
    );
    check!(world.script("replay commands.jsonl"));
}

/// Legacy mode empties the one session; the drawing shows that too.
#[test]
fn legacy_mode_is_drawn() {
    let world = World::new();
    world.file("talk.jsonl", TALK.trim_start());
    world.file("segue.toml", "lifecycle.mode = 'legacy'");
    check!(world.script("replay talk.jsonl"));
}

/// P-1, P-2: an address becomes a scope as the configuration says.
#[test]
fn p1_p2_addresses_become_scopes() {
    let world = World::new();
    let lines = [
        json!({ "channel": "telegram", "peer": "User123" }),
        json!({ "channel": "telegram", "account": "bot1", "peer": 77 }),
        json!({ "channel": "slack", "group": "ops", "peer": "ann" }),
        json!({ "channel": "slack", "kind": "channel", "peer": "general", "thread": "12.5" }),
        json!({ "channel": "telegram", "peer": "" }),
        json!({ "channel": "telegram", "peer": "111", "agent": "coder" }),
        json!({ "channel": "discord", "peer": "222", "agent": "coder" }),
    ];
    let line = |address: &Value| {
        let mut line = json!({ "at": "2026-03-01T10:00:00Z", "text": "hello" });
        line.as_object_mut().unwrap().extend(address.as_object().unwrap().clone());
        line.to_string()
    };
    world.file("addresses.jsonl", lines.iter().map(line).collect::<Vec<_>>().join("\n"));
    world.file("segue.toml", "[session]\nidentity_links = { ann = ['telegram:111', 'discord:222'] }\n");
    let ran = world.run(&["replay", "addresses.jsonl", "--json"]).expect_code(0);
    let scopes: Vec<Value> = ran.json_lines().iter().map(|line| line["scope"].clone()).collect();
    assert_eq!(
        scopes,
        [
            "agent:main:telegram:direct:user123",
            "agent:main:telegram:direct:77",
            "agent:main:slack:group:ops",
            "agent:main:slack:group:general:thread:12.5",
            "agent:main:main",
            "agent:coder:direct:ann",
            "agent:coder:direct:ann",
        ]
    );
}

/// Colours are for terminals only.
#[test]
fn no_colours_in_a_pipe() {
    let world = World::new();
    world.file("talk.jsonl", TALK.trim_start());
    let run = |name: &str, value: &str| {
        let mut command = world.command();
        command.env_remove("NO_COLOR").env(name, value).args(["replay", "talk.jsonl"]);
        crate::world::Ran::of(command.output().unwrap()).expect_code(0).out
    };
    let plain = world.run(&["replay", "talk.jsonl"]).out;
    assert_eq!(run("TERM", "xterm-256color"), plain);
    assert_eq!(run("CLICOLOR", "1"), plain);
    assert!(run("FORCE_COLOR", "1").contains("\u{1b}["));
}

/// Issue 16, row 13: a stamp of the year 9999 in a recorded conversation does not stop the clock of a scope that is kept.
#[test]
fn a_stamp_far_ahead_does_not_stop_the_clock_of_a_store() {
    let line = |at: &str, text: &str| format!(r#"{{"at":"{at}","scope":"{ME}","text":"{text}"}}"#) + "\n";
    let talk = line("2026-03-01T10:00:00Z", "one")
        + &line("9998-01-01T00:00:00Z", "far")
        + &line("2026-03-01T10:05:00Z", "two");
    for store in DURABLE {
        let world = World::new();
        world.file("talk.jsonl", &talk);
        world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
        let shown = world.run(&["sessions", "list", ME, "--store", store, "--json"]).expect_code(0).json();
        let updated: Vec<&str> =
            shown.as_array().unwrap().iter().map(|s| s["updated_at"].as_str().unwrap()).collect();
        assert!(updated.iter().all(|at| at.starts_with("2026-03-01T10:0")), "{updated:?}");
        world.run(&["verify", "--store", store]).expect_code(0);
    }
    // What is kept nowhere runs at its own times.
    let world = World::new();
    world.file("talk.jsonl", &talk);
    let played = world.run(&["replay", "talk.jsonl", "--json"]).expect_code(0).json_lines();
    assert_eq!(played[1]["action"], "new");
}
