//! `segue sessions`: every verb, for people and for programs, on both durable stores (X-8).

use crate::world::{DURABLE, ME, World, check};
use serde_json::json;

/// Runs a script on both stores; what is seen must be the same.
fn on_both(commands: &str) -> String {
    // What a session holds that is dropped is told with the time of now, which may be the next minute for the other store.
    let is_dated = |line: &str| line.starts_with('#') && line.contains("\", ") && line.contains(" message");
    let undated =
        |text: String| text.lines().filter(|line| !is_dated(line)).map(|line| format!("{line}\n")).collect();
    let [sqlite, files]: [String; 2] = DURABLE.map(|store| undated(World::with_talk(store).script(commands)));
    let scrub = |text: &str| {
        let is_id = |word: &str| word.len() >= 36 && word.contains("-7");
        text.split_inclusive(['"', '\n', ' ']).filter(|word| !is_id(word)).collect::<String>()
    };
    let no_times = |text: String| text.lines().filter(|l| !l.contains("_at")).collect::<Vec<_>>().join("\n");
    assert_eq!(no_times(scrub(&sqlite)), no_times(scrub(&files)));
    sqlite
}

#[test]
fn list_and_show() {
    check!(on_both(
        "sessions list agent:main:cli:direct:me
         sessions show agent:main:cli:direct:me
         sessions show agent:main:cli:direct:me#2"
    ));
}

#[test]
fn list_and_show_json() {
    check!(World::with_talk("sqlite:log.db").script(
        "sessions list agent:main:cli:direct:me --json
         sessions show agent:main:cli:direct:me --json"
    ));
}

#[test]
fn every_verb() {
    check!(on_both(
        "sessions new agent:main:cli:direct:me
         sessions undo agent:main:cli:direct:me
         sessions resume agent:main:cli:direct:me 1
         sessions fork agent:main:cli:direct:me --at 4
         sessions split agent:main:cli:direct:me --at 4
         sessions rename agent:main:cli:direct:me#2 'Dinner for six'
         sessions list agent:main:cli:direct:me
         sessions merge agent:main:cli:direct:me#2 agent:main:cli:direct:me
         sessions delete agent:main:cli:direct:me
         sessions new agent:main:cli:direct:me
         sessions prune agent:main:cli:direct:me --limit 1
         sessions list agent:main:cli:direct:me
         verify"
    ));
}

#[test]
fn every_verb_json() {
    check!(World::with_talk("sqlite:log.db").script(
        "sessions new agent:main:cli:direct:me --json
         sessions undo agent:main:cli:direct:me --json
         sessions resume agent:main:cli:direct:me 1 --json
         sessions fork agent:main:cli:direct:me --json
         sessions split agent:main:cli:direct:me --at 4 --json
         sessions rename agent:main:cli:direct:me Hotels --json
         sessions merge agent:main:cli:direct:me#2 agent:main:cli:direct:me --json
         sessions delete agent:main:cli:direct:me --json
         sessions prune agent:main:cli:direct:me --limit 1 --json"
    ));
}

/// Refusals: exit code 1, the reason on standard error, and nothing is changed.
#[test]
fn what_is_refused() {
    for store in DURABLE {
        let world = World::with_talk(store);
        let before = world.run(&["export", ME]).out;
        let seen = world.script(
            "sessions resume agent:main:cli:direct:me 9
             sessions resume agent:main:cli:direct:me 2
             sessions fork agent:main:cli:direct:me --at 9999
             sessions fork agent:main:cli:direct:me#7
             sessions split agent:main:cli:direct:me --at 4
             sessions split agent:main:cli:direct:me --at 15
             sessions delete agent:main:cli:direct:me#2
             sessions delete agent:main:cli:direct:me#7
             sessions merge agent:main:cli:direct:me agent:main:cli:direct:me
             sessions merge agent:main:cli:direct:me agent:main:cli:direct:you
             sessions rename agent:main:cli:direct:me ' '
             sessions delete agent:main:cli:direct:me#2 --json
             sessions show agent:main:cli:direct:me#7
             sessions list agent:main:cli:direct:nobody
             sessions undo agent:main:cli:direct:nobody",
        );
        check!("refused", seen);
        assert_eq!(world.run(&["export", ME]).out, before);
        world.run(&["verify"]).expect_code(0);
    }
}

/// The shape that DESIGN.md promises.
#[test]
fn json_shapes_of_the_design() {
    let world = World::with_talk("sqlite:log.db");
    let keys = |value: &serde_json::Value| {
        value.as_object().unwrap().keys().map(String::to_owned).collect::<Vec<_>>()
    };
    let has = |value: &serde_json::Value, fields: &[&str]| {
        for field in fields {
            assert!(keys(value).iter().any(|key| key == field), "{field} is not in {value}");
        }
    };
    let list = world.run(&["sessions", "list", ME, "--json"]).expect_code(0).json();
    has(&list[0], &["index", "key", "session_id", "title", "messages", "active", "state", "parent"]);
    has(&list[0], &["created_at", "updated_at"]);
    assert_eq!((&list[0]["index"], &list[0]["key"]), (&json!(2), &json!(format!("{ME}#2"))));
    assert_eq!((&list[0]["active"], &list[1]["active"]), (&json!(true), &json!(false)));

    let shown = world.run(&["sessions", "show", ME, "--json"]).expect_code(0).json();
    has(&shown, &["key", "session_id", "active_agent", "skill_snapshot", "persona", "model_config", "state"]);
    has(&shown["segments"][0], &["id", "sealed", "digest"]);
    has(&shown["conversation_state"][0], &["role", "content", "seq", "at"]);

    let new = world.run(&["sessions", "new", ME, "--json"]).expect_code(0).json();
    has(&new, &["action", "session", "session_id", "notice"]);

    let context = world.run(&["context", ME, "--json", "--window", "1000"]).expect_code(0).json();
    has(&context, &["session", "tokens", "window", "messages", "sources"]);
    assert_eq!(context["window"], json!(1000));

    let scopes = world.run(&["scopes", "--json"]).expect_code(0).json();
    has(&scopes[0], &["scope", "active", "sessions", "messages", "updated_at"]);

    let verified = world.run(&["verify", "--json"]).expect_code(0).json();
    has(&verified, &["ok", "scopes", "segments", "entries", "problems"]);
}

/// Looking at a store that is not there makes none.
/// What a program asks for was said by nobody, and nothing was erased; taking back an empty session brings nothing along.
#[test]
fn r13_what_a_program_asks_for_is_told_as_that() {
    let world = World::with_talk("sqlite:log.db");
    world.run(&["sessions", "new", crate::world::ME]).expect_code(0);
    let why = world.run(&["why", crate::world::ME, "--last", "1"]).expect_code(0).out;
    assert!(why.contains("(a program asked for it)") && !why.contains("erased"), "{why}");
    let undone = world.run(&["sessions", "undo", crate::world::ME]).expect_code(0).out;
    assert!(undone.starts_with("Undone: back in #") && !undone.contains("What was said"), "{undone}");
}

#[test]
fn a_mistyped_store_is_not_made() {
    let world = World::new();
    for store in ["sqlite:nowhere/typo.db", "files:nowhere/typo"] {
        let args = |args: &[&str]| world.run(&[args, &["--store", store]].concat());
        assert_eq!(args(&["scopes", "--json"]).expect_code(0).out, "[]\n");
        args(&["sessions", "list", ME]).expect_code(1);
        args(&["sessions", "undo", ME]).expect_code(1);
        args(&["verify"]).expect_code(2);
        assert!(!world.path("nowhere").exists());
    }
    check!(world.script("scopes --store sqlite:typo.db\nverify --store sqlite:typo.db"));
}

/// Retention by age, count and size: shown first, then done; the active session stays.
#[test]
fn p8_sessions_go_by_age_count_and_size() {
    for store in DURABLE {
        let world = World::new();
        let line = |day: u32, text: &str| {
            format!(
                r#"{{"at":"2026-03-{day:02}T10:00:00Z","scope":"agent:main:cli:direct:me","text":"{text}"}}"#
            )
        };
        let lines = [line(1, "one"), line(3, &"two ".repeat(50)), line(5, "three"), line(7, "four")];
        world.file("days.jsonl", lines.join("\n"));
        world.file("segue.toml", format!("[store]\nurl = \"{store}\"\n"));
        world.run(&["replay", "days.jsonl", "--store", store]).expect_code(0);
        let seen = world.script(
            "sessions prune agent:main:cli:direct:me --larger-than 100 --dry-run
             sessions prune agent:main:cli:direct:me --limit 3 --dry-run --json
             sessions prune agent:main:cli:direct:me --larger-than 100
             sessions list agent:main:cli:direct:me --json
             sessions prune agent:main:cli:direct:me --older-than 1d
             sessions prune agent:main:cli:direct:me --older-than never
             sessions prune agent:main:cli:direct:me
             verify",
        );
        check!("retention", seen);
    }
}
