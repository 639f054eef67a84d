//! Tasks as people and programs see them: 001's example, its seven scenarios, and `segue task` (C-1 to C-14).

use crate::world::{World, check};

const ME: &str = "agent:main:cli:direct:me";

/// Replays a story and shows what matters of each line.
fn replayed(name: &str) -> String {
    let world = World::new();
    let story = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tasks");
    world.file("story.jsonl", std::fs::read(format!("{story}/{name}.jsonl")).unwrap());
    let ran = world.run(&["replay", "story.jsonl", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut shown = String::new();
    for line in ran.out.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let word = |field: &str| line[field].as_str().unwrap_or("-").to_owned();
        let session = word("session").replace(ME, "");
        let session = if session.is_empty() { "#1" } else { &session };
        shown.push_str(&format!(
            "{:>2} {session} {} {} {}",
            line["line"],
            word("action"),
            word("cause"),
            word("state")
        ));
        for field in ["notice", "reply", "error"] {
            if let Some(text) = line[field].as_str() {
                shown.push_str(&format!("\n     {field}: {}", text.replace('\n', "\n     ")));
            }
        }
        shown.push('\n');
    }
    shown
}

#[test]
fn c14_the_five_turns_of_001() {
    check!(replayed("five_turns"));
}

#[test]
fn c9_scenario_1_a_response_continues() {
    check!(replayed("1_response"));
}

#[test]
fn c9_scenario_2_a_modification_continues() {
    check!(replayed("2_modification"));
}

#[test]
fn c9_scenario_3_a_confirmation_compacts() {
    check!(replayed("3_confirmation"));
}

#[test]
fn c9_scenario_4_abandoning_compacts_and_ends() {
    check!(replayed("4_abandon"));
}

#[test]
fn c9_scenario_5_a_new_task_compacts_and_starts() {
    check!(replayed("5_new_task"));
}

#[test]
fn c11_scenario_6_coming_back_is_offered_to_continue() {
    check!(replayed("6_resume"));
}

#[test]
fn c11_scenario_7_what_is_stale_is_compacted() {
    check!(replayed("7_stale"));
}

#[test]
fn c1_what_is_refused_says_what_is_allowed() {
    check!(replayed("refused"));
}

#[test]
fn c9_unclear_asks() {
    check!(replayed("unclear"));
}

/// The whole life of a task on the command line, on each store; what is kept is found after a clean-up.
#[test]
fn c8_the_command_line_finds_everything_after_a_clean_up() {
    for store in crate::world::DURABLE {
        let world = World::new().variable("SEGUE_STORE_URL", store);
        world.file("src/net.rs", "fn connect() {}\n");
        world.file("out.txt", "ok\n");
        let ok = |args: &[&str]| {
            let ran = world.run(args);
            assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.out, ran.err);
            ran.out
        };
        ok(&["task", "start", ME, "Add retry logic"]);
        ok(&["task", "plan", ME, "backoff, then tests"]);
        ok(&["task", "file", ME, "src/net.rs", "--write"]);
        ok(&["task", "command", ME, "cargo test", "--exit", "0", "--output", "out.txt"]);
        ok(&["task", "note", ME, "jitter it is", "--kind", "decision"]);
        ok(&["task", "flush", ME]);
        ok(&["task", "ask", ME, "How many tries?"]);
        let status = ok(&["task", "status", ME]);
        assert!(status.contains("awaiting_user") && status.contains("How many tries?"), "{status}");
        let refused = world.run(&["task", "finish", ME, "done"]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.err.contains("it can go to running or aborted"), "{}", refused.err);
        ok(&["task", "abort", ME, "no time"]);
        for _ in 0..3 {
            ok(&["sessions", "new", ME]);
        }
        ok(&["sessions", "prune", ME, "--limit", "1"]);
        let shown = ok(&["task", "show", ME]);
        for words in
            ["Add retry logic", "no time", "jitter it is", "How many tries?", "src/net.rs", "cargo test"]
        {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        // The story itself went with its session; what is kept is told in its place, to people and to programs.
        let (page, log) = (ok(&["task", "log", ME]), ok(&["task", "log", ME, "--json"]));
        for words in ["Add retry logic", "jitter it is", "How many tries?", "src/net.rs", "cargo test"] {
            assert!(page.contains(words) && log.contains(words), "{words}: {page}{log}");
        }
        assert!(!log.contains("backoff, then tests"), "the plan was cleaned up: {log}");
        // Others come after it, and it is still found by its number.
        let task = log.split("\"task\":").nth(1).unwrap().split(',').next().unwrap().to_owned();
        ok(&["task", "start", ME, "Add a pool"]);
        ok(&["task", "note", ME, "ten connections", "--kind", "decision"]);
        ok(&["task", "compact", ME, "a pool of ten"]);
        assert!(ok(&["task", "log", ME]).contains("ten connections"));
        assert!(ok(&["task", "log", ME, "--task", &task]).contains("jitter it is"));
        assert!(ok(&["task", "show", ME, "--task", &task]).contains("How many tries?"));
        let all = ok(&["task", "show", ME]);
        assert!(all.contains("jitter it is") && all.contains("ten connections"), "{all}");
        assert!(ok(&["task", "graph", ME]).starts_with("digraph"));
        assert!(ok(&["task", "graph", ME, "--task", &task]).contains("file:src/net.rs"));
        ok(&["verify"]);
    }
}
