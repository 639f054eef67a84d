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
    let said = "hello\nlet's talk about something else\n/nwe\n/new what is a monad?\n";
    let chat = ["chat", "--scope", "agent:main:cli:direct:me", "--store", "memory:", "--explain"];
    let out = world.run_with(&chat, said.as_bytes()).expect_code(0).seen();
    for part in [
        "  It went on in #1 (100 % sure). It is the first message here.\n",
        "  A model would be given 1 message of #1, 1 token.\n",
        "  New session #2, as you asked. /undo goes back to #1.\n",
        "  It started #2 (100 % sure). You asked for it ",
        "Did you mean /new?\n",
        "  A model would be given 1 message of #3, 6 tokens.\n",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}

/// R-14: a question names its answers, a number is one of them, and the held message is answered then.
#[test]
fn r14_a_question_is_answered_by_its_number() {
    let world = World::new();
    world.file("segue.toml", super::chat_model::ASKS);
    for (answer, told, given) in [
        ("1", "  Continuing in #1.\n", "  A model would be given 4 messages of #1, "),
        (
            "2",
            "  New session #2, with your message. /undo goes back to #1 \"My Python script\n",
            "  A model would be given 1 message of #2, ",
        ),
    ] {
        let said = format!("{}{answer}\n", super::chat_model::JUMP);
        let chat = ["chat", "--scope", "agent:main:cli:direct:me", "--store", "memory:", "--explain"];
        let out = world.run_with(&chat, said.as_bytes()).expect_code(0).seen();
        let asked = out.find("  1 /continue   2 /fresh   (your message waits)\n").expect(&out);
        let after = &out[asked..];
        assert!(after.contains(told) && after.contains(given), "{answer}:\n{out}");
        assert_eq!(after.matches("A model would be given").count(), 1, "{out}");
    }
}

/// What the README promises for the first minute is what happens, word by word.
#[test]
fn the_first_minute_of_the_readme() {
    let readme = include_str!("../../../../README.md");
    let (_, block) = readme.split_once("```text\n#1 › ").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let block = format!("#1 › {block}");
    let typed = block.lines().filter_map(|line| Some(format!("{}\n", line.split_once(" › ")?.1)));
    let typed: String = typed.collect();
    let world = World::new();
    let chat = ["chat", "--scope", "agent:main:cli:direct:me", "--store", "memory:"];
    let ran = world.run_with(&chat, typed.as_bytes()).expect_code(0);
    let mut rest = ran.out.as_str();
    for line in block.lines().filter(|line| *line != "..." && !line.contains(" › ")) {
        let (_, after) = rest.split_once(line).unwrap_or_else(|| panic!("{line}\n{}", ran.seen()));
        rest = after;
    }
    assert!(typed.lines().count() >= 4);
}

/// First contact, row 25: no decision is told unless it is asked for, and some words end a chat.
#[test]
fn a_chat_is_quiet_and_ends_on_a_word() {
    let world = World::new();
    let chat = ["chat", "--scope", "s", "--store", "sqlite:chat.db"];
    for word in ["exit", "quit", " exit ", "/quit"] {
        let said = format!("hello\n{word}\nnever said\n");
        assert_eq!(world.run_with(&chat, said.as_bytes()).expect_code(0).seen(), "", "{word}");
    }
    let shown = world.run(&["sessions", "show", "s", "--store", "sqlite:chat.db", "--json"]).json();
    assert_eq!(shown["conversation_state"].as_array().unwrap().len(), 4, "{shown}");
}
