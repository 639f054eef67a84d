//! What a stranger meets first: help, mistyped commands, completions.

use crate::world::{World, check};

/// Every command, as it is typed.
const COMMANDS: [&str; 77] = [
    "serve",
    "token",
    "token add",
    "token list",
    "token revoke",
    "keys",
    "keys new",
    "keys show",
    "keys rotate",
    "backup",
    "restore",
    "move",
    "trust",
    "task",
    "task start",
    "task ask",
    "task finish",
    "task note",
    "task file",
    "task command",
    "task plan",
    "task relate",
    "task flush",
    "task status",
    "task incorporate",
    "task resume",
    "task log",
    "task show",
    "task abort",
    "task compact",
    "task graph",
    "chat",
    "replay",
    "scopes",
    "sessions",
    "sessions list",
    "sessions show",
    "sessions new",
    "sessions resume",
    "sessions fork",
    "sessions split",
    "sessions undo",
    "sessions redo",
    "sessions restore",
    "sessions move",
    "sessions merge",
    "sessions agent",
    "sessions model",
    "sessions skills",
    "sessions reload-skills",
    "sessions reload-persona",
    "sessions rename",
    "sessions title",
    "sessions keep",
    "sessions delete",
    "sessions prune",
    "context",
    "memory",
    "memory list",
    "memory show",
    "memory forget",
    "memory work",
    "retention",
    "retention list",
    "retention work",
    "recall",
    "search",
    "why",
    "doctor",
    "verify",
    "erase",
    "export",
    "import",
    "config",
    "config show",
    "config check",
    "completions",
];

#[test]
fn help_is_what_a_stranger_gets() {
    let world = World::new();
    let bare = world.run(&[]).expect_code(2);
    assert_eq!(bare.out, "");
    let asked = world.run(&["--help"]).expect_code(0);
    assert_eq!(bare.err, asked.out);
    assert!(asked.out.contains("segue replay examples/lisbon.jsonl"));
    check!(world.script("replay --help\nsessions --help"));
}

#[test]
fn the_help_of_every_command_shows_an_example() {
    let world = World::new();
    for command in COMMANDS {
        let ran = world.run(&command.split(' ').chain(["--help"]).collect::<Vec<_>>()).expect_code(0);
        let example = ran.out.split("Example").nth(1).unwrap_or_default();
        assert!(example.contains(&format!("segue {command}")) || command == "config", "{}", ran.out);
        assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
    }
}

/// The list above names every command that there is.
#[test]
fn no_command_is_forgotten() {
    let world = World::new();
    for above in ["", "sessions", "memory", "config", "task", "token", "keys", "retention"] {
        let args = above.split(' ').filter(|word| !word.is_empty()).chain(["--help"]).collect::<Vec<_>>();
        let help = world.run(&args).out;
        let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        for line in list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
            let name = line.split_whitespace().next().unwrap();
            let whole = format!("{above} {name}");
            // Evaluation has tests of its own.
            let elsewhere = ["help", "eval"].contains(&name);
            assert!(COMMANDS.contains(&whole.trim()) || elsewhere, "{whole}");
        }
    }
}

#[test]
fn what_is_mistyped_is_answered_with_a_suggestion() {
    check!(World::new().script(
        "replya x.jsonl
         sessions lst agent:main:main
         scopes --jsno
         sessions list
         sessions list 'two words'
         sessions list a#2
         sessions show a#1
         sessions resume a 0
         sessions resume a two
         sessions split a
         sessions prune a --limit 0
         erase a 0
         export a --format pdf
         why a --last -1"
    ));
}

#[test]
fn completions_for_every_shell() {
    let world = World::new();
    for (shell, sign) in
        [("bash", "complete -F _segue"), ("zsh", "#compdef segue"), ("fish", "complete -c segue")]
    {
        let ran = world.run(&["completions", shell]).expect_code(0);
        assert!(ran.out.contains(sign), "{shell}");
        assert!(ran.out.contains("replay"), "{shell}");
        assert_eq!(ran.err, "");
    }
    assert_eq!(world.run(&["completions", "tcsh"]).code, Some(2));
}

#[test]
fn the_version_is_told() {
    let ran = World::new().run(&["--version"]).expect_code(0);
    assert_eq!(ran.out, format!("segue {}\n", env!("CARGO_PKG_VERSION")));
}
