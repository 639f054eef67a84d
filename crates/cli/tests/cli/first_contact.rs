//! What a new user meets on the command line (first contact, rows 14 and 21 to 23).

use crate::world::{DURABLE, ME, World};

/// Row 21: the scope that was written last need not be typed.
#[test]
fn the_last_scope_is_the_default() {
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
            let (default, named) = (world.run(args).expect_code(0), world.run(&typed).expect_code(0));
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

/// Row 23: a dry run tells the truth, a file of bad lines is a failure, and nothing is never the answer.
#[test]
fn what_is_said_is_true() {
    let world = World::with_talk("sqlite:log.db");
    let nowhere = world.run(&["erase", "agent:main:cli:direct:nobody", "3", "--dry-run"]).expect_code(1);
    assert!(nowhere.err.contains("agent:main:cli:direct:nobody"), "{}", nowhere.err);
    let missing = world.run(&["erase", ME, "999", "--dry-run"]).expect_code(0);
    assert_eq!(missing.out, "Nothing would be erased.\n");
    assert!(missing.err.contains("there is no message 999"), "{}", missing.err);
    let there = world.run(&["erase", ME, "2", "--dry-run"]).expect_code(0);
    assert_eq!(there.out, format!("{ME}: 1 would be erased\n"));
    world.file("bad.jsonl", "nonsense\n{}\n");
    world.run(&["replay", "bad.jsonl"]).expect_code(1);
    let kept = world.run(&["task", "show", ME]).expect_code(0);
    assert!(kept.out.starts_with("Nothing is kept yet"), "{}", kept.out);
}

/// Row 14: an erasure reaches the lines that were typed into chats.
#[test]
fn x17_an_erasure_deletes_the_history_of_the_chat() {
    let world = World::with_talk("sqlite:log.db");
    let history = ".local/share/segue/history";
    world.file(history, "Find me a quiet hotel in Lisbon\n");
    world.run(&["erase", ME, "2", "--dry-run"]).expect_code(0);
    assert!(world.path(history).exists());
    world.run(&["erase", ME, "2"]).expect_code(0);
    assert!(!world.path(history).exists());
}
