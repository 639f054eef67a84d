//! Nothing is deleted unless somebody asked (findings 1 and 2).

use super::{ANN, list, said_in, world};
use crate::world::World;
use serde_json::json;

/// A conversation in the form of OpenAI.
fn conversation(n: usize) -> String {
    json!({ "messages": [
        { "role": "user", "content": format!("imported question {n}") },
        { "role": "assistant", "content": format!("imported answer {n}") },
    ] })
    .to_string()
}

fn import(world: &World, n: usize) -> String {
    world.file(&format!("old/{n}.json"), conversation(n));
    world.run(&["import", &format!("old/{n}.json"), "--scope", ANN]).expect_code(0).out
}

#[test]
fn fc01_twenty_five_new_sessions_delete_nothing() {
    let world = world();
    let said: String = (1..=25).map(|n| format!("topic number {n}\n/new\n")).collect();
    let ran = super::chat(&world, &[], &said);
    assert!(!ran.out.contains("deleted") && !ran.out.contains("pruned"), "{}", ran.out);
    assert_eq!(list(&world).len(), 26);
    for n in 1..=25 {
        assert_eq!(said_in(&world, n), [format!("user: topic number {n}")]);
    }
    // The list is kept short, what is archived is shown on request, found, and brought back.
    let short = super::chat(&world, &[], "/session list\n").out;
    assert!(!short.contains("topic number 1 ") && short.contains("topic number 25"), "{short}");
    let whole = super::chat(&world, &[], "/session list all\n").out;
    assert!((1..=25).all(|n| whole.contains(&format!("topic number {n} "))), "{whole}");
    let found = world.run(&["recall", ANN, "topic number 1", "--count", "50"]).expect_code(0).out;
    assert!(found.contains("topic number 1\n"), "{found}");
    super::chat(&world, &[], "/session resume 1\n");
    assert!(list(&world).iter().any(|row| row["index"] == 1 && row["active"] == true));
    world.run(&["sessions", "restore", ANN, "2"]).expect_code(0);
    assert!(super::chat(&world, &[], "/session list\n").out.contains("topic number 2 "));
    world.run(&["verify"]).expect_code(0);
}

#[test]
fn fc01_an_import_pushes_nothing_out() {
    let world = world();
    super::chat(&world, &[], "my own first\n/new\nmy own second\n");
    for n in 0..30 {
        import(&world, n);
    }
    super::chat(&world, &[], "/new\nhello\n");
    assert_eq!(list(&world).len(), 33);
    let short = super::chat(&world, &[], "/session list\n").out;
    assert!(short.contains("my own first") && short.contains("my own second"), "{short}");
    for n in 0..30 {
        let found = said_in(&world, n + 3);
        assert_eq!(
            found,
            [format!("user: imported question {n}"), format!("assistant: imported answer {n}")]
        );
    }
}

/// 004 to the letter is one setting away.
#[test]
fn fc01_delete_is_a_setting() {
    let world = world();
    world.file("segue.toml", "[session]\nbacklog_limit = 3\nbacklog = \"delete\"\n");
    let said: String = (1..=5).map(|n| format!("topic number {n}\n/new\n")).collect();
    let ran = super::chat(&world, &[], &said);
    let left: Vec<u64> = list(&world).iter().map(|row| row["index"].as_u64().unwrap()).collect();
    assert_eq!(left, [6, 5, 4], "{}", ran.out);
    let whole = super::chat(&world, &[], "/session list all\n").out;
    assert!(!whole.contains("topic number 1"), "{whole}");
    world.run(&["verify"]).expect_code(0);
}

/// Whatever made it go: somebody deleted it, a clean-up pruned it, or the backlog dropped it.
#[test]
fn fc02_what_was_pruned_comes_back() {
    for how in ["delete", "prune"] {
        let world = world();
        import(&world, 7);
        super::chat(&world, &[], "/new\n");
        match how {
            "delete" => world.run(&["sessions", "delete", ANN]).expect_code(0),
            _ => world.run(&["sessions", "prune", ANN, "--limit", "1"]).expect_code(0),
        };
        comes_back(&world, how);
    }
    // The backlog deletes no imported session; what was said here, exported and dropped by the backlog comes back.
    let world = world();
    world.file("segue.toml", "[session]\nbacklog_limit = 2\nbacklog = \"delete\"\n");
    super::chat(&world, &[], "my own first\n");
    world.file("own.segue", world.run(&["export", ANN]).expect_code(0).out);
    super::chat(&world, &[], "/new\nsecond\n/new\nthird\n");
    assert!(list(&world).iter().all(|row| row["index"] != 1), "{:?}", list(&world));
    let back = world.run(&["import", "own.segue"]).expect_code(0).out;
    assert!(back.contains("Took 1 message over"), "{back}");
    let row = list(&world).into_iter().next().unwrap();
    assert_eq!(said_in(&world, row["index"].as_u64().unwrap()), ["user: my own first"]);
    let again = world.run(&["import", "own.segue"]).expect_code(0).out;
    assert!(again.contains("nothing was changed"), "{again}");
}

fn comes_back(world: &World, how: &str) {
    assert!(list(world).iter().all(|row| row["index"] != 1), "{how}");
    let back = import(world, 7);
    assert!(back.contains("2 of them had been deleted here, and are back."), "{back}");
    let row = list(world).into_iter().find(|row| row["messages"] == 2).unwrap();
    assert_eq!(
        said_in(world, row["index"].as_u64().unwrap()),
        ["user: imported question 7", "assistant: imported answer 7"]
    );
    let again = import(world, 7);
    assert!(again.contains("nothing was changed"), "{again}");
}
