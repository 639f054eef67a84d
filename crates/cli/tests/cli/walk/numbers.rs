//! One number for a session everywhere; undo walks back and redo forward (findings 5 and 15).

use super::{ANN, chat, list, said_in, world};
use serde_json::Value;

fn active(world: &crate::world::World) -> u64 {
    let active = |row: &&Value| row["active"] == true;
    list(world).iter().find(active).unwrap()["index"].as_u64().unwrap()
}

#[test]
fn fc05_one_number_everywhere() {
    let world = world();
    let ran = chat(&world, &[], "the hotel in Lisbon\n/new\nthe recipe for soup\n/new\nthe broken printer\n");
    assert!(ran.out.contains("#2") && ran.out.contains("#3"), "{}", ran.out);
    let listed = chat(&world, &[], "/session list\n").out;
    let numbers: Vec<&str> = listed.lines().filter_map(|line| line.split('#').nth(1)).collect();
    assert!(numbers[0].starts_with("3 ") && numbers[2].starts_with("1 "), "newest first: {listed}");
    // `resume 1` is #1, in the chat and on the command line.
    let resumed = chat(&world, &[], "/session resume 1\n").out;
    assert!(resumed.contains("#1 \"the hotel in Lisbon\""), "{resumed}");
    assert_eq!(active(&world), 1);
    let resumed = world.run(&["sessions", "resume", ANN, "2"]).expect_code(0).out;
    assert!(resumed.contains("#2"), "{resumed}");
    assert_eq!(active(&world), 2);
    // Erasing #3 erases the printer: it is named before, and a dry run tells the same.
    let dry = world.run(&["erase", ANN, "--session", "3", "--dry-run"]).expect_code(0).out;
    assert!(dry.starts_with("#3 ") && dry.contains("the broken printer"), "{dry}");
    assert_eq!(said_in(&world, 3).len(), 1);
    let erased = world.run(&["erase", ANN, "--session", "3"]).expect_code(0).out;
    assert!(erased.contains("the broken printer"), "{erased}");
    assert!(!world.run(&["recall", ANN, "broken printer"]).out.contains("the broken printer"));
    // A number that is gone leaves a gap.
    world.run(&["sessions", "delete", &format!("{ANN}#3")]).expect_code(0);
    chat(&world, &[], "/new\nsomething else\n");
    let left: Vec<u64> = list(&world).iter().map(|row| row["index"].as_u64().unwrap()).collect();
    assert_eq!(left, [4, 2, 1]);
    let wrong = chat(&world, &[], "/session resume 3\n").out;
    assert!(wrong.contains('3') && active(&world) == 4, "{wrong}");
}

#[test]
fn fc15_undo_walks_back_and_redo_forward() {
    let world = world();
    let topics = ["the hotel in Lisbon", "the recipe for soup", "the broken printer"];
    chat(&world, &[], "the hotel in Lisbon\n/new\nthe recipe for soup\n/new\nthe broken printer\n");
    let all = |world: &crate::world::World| -> Vec<Vec<String>> {
        list(world).iter().map(|row| said_in(world, row["index"].as_u64().unwrap())).collect()
    };
    // The first takes back the last boundary, with what was said since.
    chat(&world, &[], "/undo\n");
    assert_eq!((active(&world), said_in(&world, 2).len()), (2, 2));
    // The next ones go back, and mix nothing.
    for _ in 0..3 {
        chat(&world, &[], "/undo\n");
        let mixed = |said: &Vec<String>| topics[..2].iter().all(|topic| said.join("\n").contains(topic));
        assert!(!all(&world).iter().any(mixed), "{:?}", all(&world));
    }
    assert_eq!((active(&world), said_in(&world, 1)), (1, vec!["user: the hotel in Lisbon".to_owned()]));
    // Forward through the same states.
    chat(&world, &[], "/redo\n");
    assert_eq!((active(&world), said_in(&world, 2).len()), (2, 2));
    chat(&world, &[], "/redo\n");
    assert_eq!((active(&world), said_in(&world, 3)), (3, vec!["user: the broken printer".to_owned()]));
    assert_eq!(said_in(&world, 2), ["user: the recipe for soup"]);
    world.run(&["verify"]).expect_code(0);
}

/// A number may be typed as 2, #2 or with its scope, in every verb, and a dry run says what the deletion would.
#[test]
fn fc05_a_number_may_be_typed_in_any_way() {
    let world = world();
    chat(&world, &[], "the hotel in Lisbon\n/new\nthe recipe for soup\n/new\nthe broken printer\n");
    for two in ["2", "#2", &format!("{ANN}#2")] {
        let shown = world.run(&["sessions", "show", two, "--json"]).expect_code(0).json();
        assert_eq!(shown["index"], 2, "{two}");
    }
    for one in ["1", "#1", ANN, &format!("{ANN}#1")] {
        assert_eq!(
            world.run(&["sessions", "show", one, "--json"]).expect_code(0).json()["index"],
            1,
            "{one}"
        );
    }
    for two in ["2", "#2"] {
        world.run(&["sessions", "resume", two]).expect_code(0);
        assert_eq!(active(&world), 2);
        world.run(&["sessions", "resume", ANN, "3"]).expect_code(0);
    }
    world.run(&["sessions", "resume", "nonsense"]).expect_code(2);
    let active = world.run(&["sessions", "delete", "3", "--dry-run"]).expect_code(1);
    let refused = world.run(&["sessions", "delete", "3"]).expect_code(1);
    assert_eq!(
        (active.out, &active.err),
        (String::new(), &refused.err),
        "a dry run says what the deletion would"
    );
    let dry = world.run(&["sessions", "delete", "2", "--dry-run"]).expect_code(0).out;
    assert!(dry.starts_with(&format!("{ANN}\n#2 \"the recipe for soup\", 1 message, ")), "{dry}");
}

/// Who deletes a session in a chat reads what goes: number, title, count and date.
#[test]
fn fc05_a_chat_says_what_is_deleted() {
    let world = world();
    let ran = chat(
        &world,
        &[],
        "the hotel in Lisbon\n/new\nthe recipe for soup\n/session delete 1\n/session delete 7\n",
    );
    let (_, told) = ran
        .out
        .split_once("#1 \"the hotel in Lisbon\", 1 message, ")
        .unwrap_or_else(|| panic!("{}", ran.out));
    assert!(told.contains("Deleted #1."), "{}", ran.out);
}

/// The last exchange goes to another session.
#[test]
fn fc15_an_exchange_is_moved() {
    let world = world();
    chat(&world, &[], "the hotel in Lisbon\n/new\nthe recipe for soup\nhas the hotel a pool?\n");
    chat(&world, &[], "/session move 1\n");
    assert_eq!(said_in(&world, 1), ["user: the hotel in Lisbon", "user: has the hotel a pool?"]);
    assert_eq!(said_in(&world, 2), ["user: the recipe for soup"]);
}
