//! What a new user meets on the command line (findings 14, 21 and 23).

use crate::world::{DURABLE, ME, World};

/// The scope that was written last need not be typed.
#[test]
fn fc21_the_last_scope_is_the_default() {
    for store in DURABLE {
        let world = World::with_talk(store);
        for args in [
            &["why"][..],
            &["context"],
            &["sessions", "list"],
            &["sessions", "show"],
            &["sessions", "show", "#1"],
            &["export"],
            &["export", "#1", "--format", "openai"],
            &["recall", "hotel in Lisbon"],
        ] {
            let typed: Vec<&str> = match args {
                ["recall", query] => vec!["recall", ME, query],
                [.., "#1"] => [&args[..args.len() - 1], &[ME]].concat(),
                ["export", "#1", rest @ ..] => [&["export", ME], rest].concat(),
                ["sessions", "show"] => vec!["sessions", "show", "agent:main:cli:direct:me#2"],
                ["export"] => vec!["export", "agent:main:cli:direct:me#2"],
                _ => [args, &[ME]].concat(),
            };
            let (default, mut named) = (world.run(args).expect_code(0), world.run(&typed).expect_code(0));
            // Who types the scope is told the whole key.
            named.out = named.out.replace("show agent:main:cli:direct:me#2`", "show 2`");
            assert_eq!(default, named, "{args:?}");
            assert!(!default.out.is_empty(), "{args:?}");
        }
        let found = world.run(&["recall", "hotel in Lisbon", "--json"]).expect_code(0).json();
        assert_eq!(found["fragments"][0]["rationale"], "asked on the command line");
    }
    let empty = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let ran = empty.run(&["why"]).expect_code(1);
    assert!(ran.err.contains("the store is empty"), "{}", ran.err);
}

/// Verbs that move sessions and tasks need no scope either.
#[test]
fn fc21_the_last_scope_is_the_default_of_what_is_done_too() {
    for store in DURABLE {
        let world = World::with_talk(store);
        world.run(&["sessions", "resume", "1"]).expect_code(0);
        world.run(&["sessions", "undo"]).expect_code(0);
        world.run(&["sessions", "rename", "#1", "A hotel"]).expect_code(0);
        world.run(&["sessions", "keep", "#1"]).expect_code(0);
        assert!(world.run(&["sessions", "list"]).expect_code(0).out.contains("A hotel"));
        world.run(&["task", "start", "Book the hotel"]).expect_code(0);
        world.run(&["task", "note", "By train it is"]).expect_code(0);
        assert!(world.run(&["task", "status"]).expect_code(0).out.contains("running"));
        // Finding 23: a refusal names what would help.
        world.run(&["task", "ask", "Which one?"]).expect_code(0);
        let refused = world.run(&["task", "finish", "done"]).expect_code(1);
        assert!(
            refused.err.contains("the person's answer to the question makes it running"),
            "{}",
            refused.err
        );
        world.run(&["task", "abort", "not needed"]).expect_code(0);
        world.run(&["task", "abort", ME]).expect_code(1);
    }
}

/// What destroys says before what it destroys, and a dry run changes nothing.
#[test]
fn fc05_what_goes_is_named_with_dates_and_count() {
    for store in DURABLE {
        let world = World::with_talk(store);
        let dry = world.run(&["sessions", "delete", "#1", "--dry-run"]).expect_code(0);
        let told = dry.out.strip_prefix(&format!("{ME}\n")).unwrap();
        assert!(told.starts_with("#1 "), "{}", dry.out);
        assert!(dry.out.contains(" messages, "), "{}", dry.out);
        let pruned = world.run(&["sessions", "prune", "--limit", "1", "--dry-run"]).expect_code(0);
        assert!(pruned.out.contains("would go"), "{}", pruned.out);
        let before = world.run(&["sessions", "list", "--json"]).expect_code(0).json();
        assert_eq!(before.as_array().map(Vec::len), Some(2), "a dry run drops nothing");
        let erased = world.run(&["erase", ME, "--session", "1", "--dry-run"]).expect_code(0);
        assert!(erased.out.starts_with(told.trim_end()), "{}", erased.out);
        let deleted = world.run(&["sessions", "delete", "#1"]).expect_code(0);
        assert!(deleted.out.starts_with(&dry.out), "{}", deleted.out);
        world.run(&["sessions", "delete", "#1", "--dry-run"]).expect_code(1);
    }
}

/// A dry run tells the truth, a file of bad lines is a failure, and nothing is never the answer.
#[test]
fn fc23_what_is_said_is_true() {
    let world = World::with_talk("sqlite:log.db");
    let nowhere = world.run(&["erase", "agent:main:cli:direct:nobody", "3", "--dry-run"]).expect_code(1);
    assert!(nowhere.err.contains("agent:main:cli:direct:nobody"), "{}", nowhere.err);
    let missing = world.run(&["erase", ME, "999", "--dry-run"]).expect_code(0);
    assert_eq!(missing.out, "Nothing would be erased.\n");
    assert!(missing.err.contains("there is no message 999"), "{}", missing.err);
    let there = world.run(&["erase", ME, "2", "--dry-run"]).expect_code(0);
    let told = "#1 \"Find me a quiet hotel in Lisbon\", 1 message, 2026-03-01 10:00\n  2  user: Find me a quiet hotel in Lisbon\n";
    assert_eq!(
        there.out,
        format!("{told}{ME}: 1 entry would be erased (messages, and what was made of them)\n")
    );
    // What the erasure would refuse, the dry run refuses: an entry that holds no words.
    let opened = world.run(&["erase", ME, "1", "--dry-run"]);
    let refused = world.run(&["erase", ME, "1"]).expect_code(1);
    assert_eq!((opened.out.as_str(), &opened.err), ("Nothing would be erased.\n", &refused.err));
    world.file("bad.jsonl", "nonsense\n{}\n");
    world.run(&["replay", "bad.jsonl"]).expect_code(1);
    let kept = world.run(&["task", "show", ME]).expect_code(0);
    assert!(kept.out.starts_with("Nothing is kept yet"), "{}", kept.out);
}

/// X-17: an erasure reaches the lines that were typed into chats.
#[test]
fn fc14_an_erasure_deletes_the_history_of_the_chat() {
    let world = World::with_talk("sqlite:log.db");
    let history = ".local/share/segue/history";
    world.file(history, "Find me a quiet hotel in Lisbon\n");
    world.run(&["erase", ME, "2", "--dry-run"]).expect_code(0);
    assert!(world.path(history).exists());
    world.run(&["erase", ME, "2"]).expect_code(0);
    assert!(!world.path(history).exists());
}

/// Where several people talk, what deletes does not take the scope that somebody has just written in.
#[test]
fn fc21_what_deletes_does_not_guess_whose_scope_is_meant() {
    for store in DURABLE {
        let world = World::with_talk(store);
        let other = r#"{"at":"2026-03-02T10:00:00Z","scope":"agent:main:cli:direct:you","text":"mine"}
{"at":"2026-03-02T10:01:00Z","scope":"agent:main:cli:direct:you","text":"/new"}
"#;
        world.file("other.jsonl", other);
        world.run(&["replay", "other.jsonl", "--store", store]).expect_code(0);
        for args in [
            &["sessions", "delete", "1"][..],
            &["sessions", "prune", "--limit", "1"],
            &["memory", "forget", "3"],
        ] {
            let refused = world.run(args).expect_code(2);
            assert!(refused.err.contains("it is not said which scope is meant"), "{args:?}: {}", refused.err);
            assert!(refused.err.contains("agent:main:cli:direct:you"), "{args:?}: {}", refused.err);
        }
        // A look changes nothing, so it may guess, and says whom it means.
        let dry = world.run(&["sessions", "delete", "1", "--dry-run"]).expect_code(0).out;
        assert!(dry.starts_with("agent:main:cli:direct:you\n"), "{dry}");
        // It is configured, typed, or confirmed.
        let configured = World::with_talk(store).variable("SEGUE_SESSION_SCOPE", ME);
        configured.file("other.jsonl", other);
        configured.run(&["replay", "other.jsonl", "--store", store]).expect_code(0);
        let deleted = configured.run(&["sessions", "delete", "1"]).expect_code(0).out;
        assert!(deleted.starts_with(&format!("{ME}\n#1 ")), "{deleted}");
        assert!(configured.run(&["sessions", "list"]).out.starts_with(&format!("{ME}\n")));
        let deleted = world.run(&["sessions", "delete", "1", "--yes"]).expect_code(0).out;
        assert!(deleted.starts_with("agent:main:cli:direct:you\n#1 \"mine\""), "{deleted}");
        world.run(&["sessions", "delete", &format!("{ME}#1")]).expect_code(0);
    }
}
