//! Bad input: a clear sentence, the right exit code, nothing lost, never a panic.

use crate::world::{DURABLE, Ran, World, check};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const GOOD: &str = r#"{"at":"2026-03-01T10:00:00Z","scope":"s","role":"user","text":"hello"}"#;

/// One line of each kind that cannot be taken, between two that can.
fn broken() -> Vec<u8> {
    let bad = [
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s","text":"cut off"#,
        "not JSON at all",
        "[1, 2]",
        r#"{"scope":"s","text":"no time"}"#,
        r#"{"at":"yesterday","scope":"s","text":"bad time"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","text":"no place"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"two words","text":"bad scope"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s#2","text":"a session, not a scope"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s","role":"wizard","text":"bad role"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s","text":["a","b"]}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s","text":""}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s","text":" \n "}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s","op":"dance"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","channel":"x","kind":"planet","peer":"p","text":"bad kind"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s","session":"other","role":"assistant","text":"elsewhere"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","channel":"x","peer":"p","session":"s","role":"assistant","text":"hm"}"#,
        r#"{"at":"2026-03-01T10:00:00Z","scope":"s","role":"assistant","text":"x","tool_calls":[{"id":1}]}"#,
        r#"{"at":"2026-03-01T10:00:00Z","session":"s","role":"user","text":"a person names no session"}"#,
    ];
    let mut bytes = format!("{GOOD}\n{}\n", bad.join("\n")).into_bytes();
    bytes.extend(b"{\"at\":\"2026-03-01T10:00:00Z\",\"scope\":\"s\",\"text\":\"\xff\xfe\"}\n");
    bytes.extend(format!("\n   \n{}", GOOD.replace("hello", "still here")).bytes());
    bytes
}

#[test]
fn broken_lines_are_reported_and_the_rest_goes_on() {
    let world = World::new();
    world.file("broken.jsonl", broken());
    check!(
        world
            .script("replay broken.jsonl\nreplay broken.jsonl --strict\nreplay broken.jsonl --strict --json")
    );
    let ran = world.run(&["replay", "broken.jsonl", "--json"]).expect_code(0);
    let lines = ran.json_lines();
    let numbers: Vec<u64> = lines.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=21).chain([24]).collect::<Vec<_>>());
    let fields = |line: &Value| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for line in &lines[1..21] {
        assert_eq!(line["action"], json!("refused"));
        assert!(line["error"].is_string() && line["reasons"][0] == line["error"]);
        // Every field of the others is there too.
        assert!(fields(&lines[0]).iter().all(|field| fields(line).contains(field)));
    }
    assert_eq!(ran.err.lines().count(), 20);
}

/// The limit is the limit: as long as allowed is taken, one byte more is not, and nothing else is lost.
#[test]
fn a_message_over_the_limit() {
    let line = |text: &str| GOOD.replace("hello", text);
    let (longest, longer) = ("x".repeat(1 << 20), "x".repeat((1 << 20) + 1));
    let escaped = "\\u0061".repeat(1 << 20);
    let file = [line(&longest), line(&longer), line(&escaped), line("after")].join("\n");
    for store in DURABLE {
        let world = World::new().variable("SEGUE_STORE_URL", store);
        world.file("long.jsonl", &file);
        let ran = world.run(&["replay", "long.jsonl", "--json", "--store", store]).expect_code(0);
        let sentence = "line 2: the message has 1048577 bytes, at most 1048576 are taken; nothing was stored";
        assert_eq!(ran.err, format!("error: {sentence}\n"));
        assert_eq!(world.run(&["scopes", "--json"]).json()[0]["messages"], json!(3));
    }
}

#[test]
fn a_line_without_end_is_not_kept_in_memory() {
    let world = World::new();
    let ran = world
        .run_with(&["replay", "-", "--json"], &[&vec![b'x'; 20 << 20][..], b"\n", GOOD.as_bytes()].concat());
    let lines = ran.expect_code(0).json_lines();
    assert!(lines[0]["error"].as_str().unwrap().contains("at most 16777216 are read"));
    assert_eq!((&lines[1]["line"], &lines[1]["action"]), (&json!(2), &json!("continue")));
}

/// P-1: odd ids neither collide nor escape, on any store.
#[test]
fn p1_odd_ids() {
    let long = "x".repeat(10 * 1024);
    let ids = [
        "a:b",
        "../x",
        "../../../../etc/x",
        "a#2",
        "a",
        "👍",
        "a b",
        "a\nb",
        "\u{0}",
        "%3a",
        "~",
        ".",
        "..",
        "con",
        &long,
    ];
    let line = |id: &str| json!({ "at": "2026-03-01T10:00:00Z", "channel": "c", "peer": id, "text": format!("I am {id:.20}"), "message_id": "1" });
    let file: String = ids.iter().map(|id| format!("{}\n", line(id))).collect();
    for store in DURABLE {
        let world = World::new().variable("SEGUE_STORE_URL", store);
        world.file("odd.jsonl", &file);
        let ran = world.run(&["replay", "odd.jsonl", "--store", store, "--json"]).expect_code(0);
        assert_eq!(ran.err, "");
        let mut scopes: Vec<String> =
            ran.json_lines().iter().map(|line| line["scope"].as_str().unwrap().to_owned()).collect();
        for (scope, id) in scopes.iter().zip(ids) {
            let shown = world.run(&["sessions", "show", scope, "--json"]).expect_code(0).json();
            assert_eq!(shown["conversation_state"][0]["content"], json!(format!("I am {id:.20}")));
        }
        scopes.sort();
        scopes.dedup();
        assert_eq!(scopes.len(), ids.len());
        world.run(&["verify"]).expect_code(0);
        let mut names: Vec<_> = std::fs::read_dir(world.path(""))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| !name.starts_with("log"));
        assert_eq!(names, ["odd.jsonl"], "{store}");
    }
}

/// Scope keys that a host made itself may be odd too.
#[test]
fn odd_scope_keys() {
    let keys = ["../x", "/", "..", "a/b", "👍", "-", "--json", "C:\\x", "a%2fb", "ａ"];
    let line = |key: &str| json!({ "at": "2026-03-01T10:00:00Z", "scope": key, "text": format!("in {key}") });
    let file: String = keys.iter().map(|key| format!("{}\n", line(key))).collect();
    for store in DURABLE {
        let world = World::new().variable("SEGUE_STORE_URL", store);
        world.file("odd.jsonl", &file);
        world.run(&["replay", "odd.jsonl", "--store", store]).expect_code(0);
        for key in keys {
            let shown = world.run(&["sessions", "show", "--json", "--", key]).expect_code(0).json();
            assert_eq!(shown["conversation_state"][0]["content"], json!(format!("in {key}")));
        }
        world.run(&["verify"]).expect_code(0);
    }
    let world = World::new();
    let long = "x".repeat(10 * 1024);
    for key in [&long, "", "a b", "a\nb"] {
        let ran = world.run(&["sessions", "list", key]).expect_code(2);
        assert!(ran.err.contains("scope key"), "{}", ran.err);
    }
}

/// Times at the ends of the calendar, finer than any store keeps, and running backwards.
#[test]
fn odd_times() {
    let line =
        |scope: &str, at: &str, text: &str| json!({ "at": at, "scope": scope, "text": text }).to_string();
    let file = [
        line("a", "2026-03-01T10:00:00.123456789Z", "nanoseconds"),
        line("a", "2026-03-01T10:00:00.123456700Z", "a little earlier"),
        line("b", "1969-12-31T23:59:59.999999999Z", "before 1970"),
        line("b", "2026-03-01T10:00:00.123456789Z", "/new"),
        line("b", "2026-03-01T10:00:00.123456001Z", "after"),
        line("c", "-009999-01-02T01:59:59Z", "the beginning of time"),
        line("c", "9999-12-30T22:00:00.999999999Z", "the end of time"),
        line("c", "2026-03-01T10:00:00+08:00", "back again"),
    ];
    for store in DURABLE {
        let world = World::new().variable("SEGUE_STORE_URL", store);
        world.file("odd.jsonl", file.join("\n"));
        let ran = world.run(&["replay", "odd.jsonl", "--json", "--store", store]).expect_code(0);
        assert_eq!((ran.err.as_str(), ran.json_lines().len()), ("", 8));
        check!(
            "odd_times",
            world.script("verify\nscopes\nsessions show a\nsessions list c\nsessions show c#2")
        );
    }
}

#[test]
fn a_message_id_that_is_too_long() {
    let line =
        |id: &str| json!({ "at": "2026-03-01T10:00:00Z", "scope": "s", "text": "x", "message_id": id });
    let file = [line(&"x".repeat(10 * 1024)), line("👍"), line("../x"), line(&"x".repeat(256))];
    let world = World::new();
    world.file("ids.jsonl", file.map(|line| line.to_string()).join("\n"));
    let ran = world.run(&["replay", "ids.jsonl", "--json"]).expect_code(0);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.starts_with("error: line 1: the message id has 10240 bytes"));
}

#[test]
fn files_that_are_none() {
    let world = World::new();
    world.file("empty.jsonl", "");
    world.file("blank.jsonl", "\n \n\r\n");
    world.file("folder/x", "");
    check!(world.script(
        "replay missing.jsonl
         replay folder
         replay empty.jsonl
         replay empty.jsonl --json
         replay blank.jsonl
         import folder"
    ));
}

#[test]
fn standard_input_windows_and_a_byte_order_mark() {
    let world = World::new();
    let plain = world.run_with(&["replay", "-"], format!("{GOOD}\n").as_bytes()).expect_code(0);
    let windows =
        world.run_with(&["replay", "-"], format!("\u{feff}{GOOD}\r\n\r\n").as_bytes()).expect_code(0);
    assert_eq!(plain, windows);
    assert!(plain.out.contains("hello"));
}

/// Who writes line by line is answered line by line, while the input is still open.
#[test]
fn standard_input_is_answered_line_by_line() {
    let world = World::new();
    let mut command = world.command();
    command.args(["replay", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    for n in 1..=3 {
        writeln!(stdin, "{GOOD}").unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["line"], json!(n));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// `segue replay FILE | head -1`: the reader goes away, and that is that.
#[test]
fn a_closed_pipe_ends_quietly() {
    let world = World::with_talk("sqlite:log.db");
    let many: String =
        (0..3_000).map(|n| format!("{}\n", GOOD.replace("hello", &format!("message {n}")))).collect();
    world.file("many.jsonl", many);
    let calls: [&[&str]; 6] = [
        &["replay", "many.jsonl"],
        &["replay", "many.jsonl", "--json"],
        &["replay", "many.jsonl", "--json", "--store", "sqlite:piped.db"],
        &["completions", "bash"],
        &["config", "show"],
        &["--help"],
    ];
    for args in calls {
        let mut command = world.command();
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    }
    world.run(&["verify", "--store", "sqlite:piped.db"]).expect_code(0);
}

/// Output that cannot be written is an error, not a panic.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_output() {
    let world = World::with_talk("sqlite:log.db");
    let calls: [&[&str]; 4] =
        [&["scopes"], &["scopes", "--json"], &["replay", "talk.jsonl"], &["completions", "zsh"]];
    for args in calls {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = Ran::of(world.command().args(args).stdout(full).stderr(Stdio::piped()).output().unwrap());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("No space left"), "{}", ran.err);
    }
}
