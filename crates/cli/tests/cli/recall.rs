//! `segue recall` and `segue search`.

use crate::world::{DURABLE, ME, World};

/// M-D2: the shape that others depend on, the same from every store.
#[test]
fn m_d2_recall_prints_fragments_with_their_source() {
    let mut before = None;
    for store in DURABLE {
        let world = World::with_talk(store);
        let found = world.run(&["recall", ME, "which hotels in Lisbon", "--why", "to book", "--json"]).json();
        let fragment = &found["fragments"][0];
        assert_eq!(fragment["session"], ME);
        assert_eq!(fragment["segment"], format!("{ME}/1"));
        assert_eq!((&fragment["role"], &fragment["rationale"]), (&"user".into(), &"to book".into()));
        assert_eq!(fragment["text"], "Find me a quiet hotel in Lisbon");
        assert!(fragment["seq"].is_u64() && fragment["score"].as_f64().unwrap() > 0.0);
        assert!(before.is_none_or(|before| before == found), "all stores find the same");
        before = Some(found);
        // The latest session is in the context already.
        let latest = world.run(&["recall", ME, "lasagne", "--why", "x", "--json"]).json();
        assert_eq!(latest["fragments"].as_array().unwrap().len(), 0);
        let latest = world.run(&["recall", ME, "lasagne", "--why", "x", "--also-latest", "--json"]).json();
        assert_eq!(latest["fragments"][0]["session"], format!("{ME}#2"));
        world.run(&["verify"]).expect_code(0);
    }
}

/// M-D2: without a query or a rationale nothing is recalled.
#[test]
fn m_d2_recall_refuses_without_a_query_or_a_reason() {
    let world = World::with_talk("sqlite:log.db");
    let ran = world.run(&["recall", ME, "hotel", "--json"]).expect_code(0).json();
    assert_eq!(ran["fragments"][0]["rationale"], "asked on the command line");
    let ran = world.run(&["recall", ME, "hotel", "--why", " "]).expect_code(2);
    assert_eq!(ran.err, "error: a recall needs a rationale: say why earlier sessions are looked into\n");
    let ran = world.run(&["recall", ME, "", "--why", "to book"]).expect_code(2);
    assert_eq!(ran.err, "error: there is nothing to look for: a recall needs a query\n");
    let ran = world.run(&["recall", "agent:main:cli:direct:nobody", "hotel", "--why", "x"]).expect_code(1);
    assert!(ran.err.contains("there is no scope"), "{}", ran.err);
}

#[test]
fn recall_and_search_for_people() {
    let world = World::with_talk("sqlite:log.db");
    let ran = world.run(&["recall", ME, "hotel", "--why", "to book"]).expect_code(0);
    assert!(ran.out.starts_with("#1 \"Find me a quiet hotel in Lisbon\", message "), "{}", ran.out);
    assert!(ran.out.contains("\n  user: Find me a quiet hotel in Lisbon\n"), "{}", ran.out);
    let ran = world.run(&["recall", ME, "zeppelin", "--why", "x"]).expect_code(0);
    assert_eq!(ran.out, "Nothing about that was found in earlier sessions of this scope.\n");
    let other =
        r#"{"at":"2026-03-02T10:00:00Z","scope":"agent:main:cli:direct:you","text":"a hotel for two"}"#;
    world.file("other.jsonl", other);
    world.run(&["replay", "other.jsonl", "--store", "sqlite:log.db"]).expect_code(0);
    let found = world.run(&["search", "hotel", "--json"]).json();
    let mut sessions: Vec<&str> =
        found["fragments"].as_array().unwrap().iter().map(|f| f["session"].as_str().unwrap()).collect();
    sessions.sort_unstable();
    assert_eq!(sessions, [ME, "agent:main:cli:direct:you"]);
    assert_eq!(world.run(&["search", "zeppelin"]).expect_code(0).out, "Nothing about that was found.\n");
}
