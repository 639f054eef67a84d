//! `segue chat`, fed by a program.

use super::world::World;

/// What is said through a pipe is decided and kept like anything else.
#[test]
fn a_piped_chat_is_kept() {
    let world = World::new();
    let said = "hello\n\n/new\nwhat is a monad?\n";
    let chat = ["chat", "--scope", "s", "--store", "sqlite:chat.db", "--json"];
    let lines = world.run_with(&chat, said.as_bytes()).expect_code(0).json_lines();
    let actions: Vec<&str> = lines.iter().map(|line| line["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["continue", "new", "continue"]);
    let shown = world.run(&["sessions", "show", "s#2", "--store", "sqlite:chat.db", "--json"]);
    let shown = shown.expect_code(0).json();
    assert_eq!(shown["conversation_state"][0]["content"], "what is a monad?");
}

/// A person reads what was decided, why, and what a model would be given.
#[test]
fn a_chat_says_what_it_decided() {
    let world = World::new();
    let said = "hello\nlet's talk about something else\n/nwe\n";
    let out = world.run_with(&["chat", "--scope", "s", "--store", "memory:"], said.as_bytes());
    let out = out.expect_code(0).seen();
    for part in [
        "It is the first message here.",
        "the model would be given 1 message, 1 tokens",
        "New session s#2, as you asked. /undo goes back to s.",
        "Did you mean /new?",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}
