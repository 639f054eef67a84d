//! `segue chat` on a terminal, typed at as a person types (first contact, rows 3, 4, 14 and 25). It needs tmux, and says so
//! where there is none.

use crate::chat_endpoint::{Endpoint, Reply};
use crate::world::World;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long something may take before it counts as never.
const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal with a chat in it.
struct Terminal<'a> {
    world: &'a World,
    socket: String,
}

fn has_tmux() -> bool {
    let found = Command::new("tmux").arg("-V").output().is_ok_and(|ran| ran.status.success());
    if !found {
        eprintln!("skipped: tmux is missing, so nobody can type at a terminal");
    }
    found
}

impl<'a> Terminal<'a> {
    fn open(world: &'a World, chat: &[&str]) -> Self {
        let socket = world.path("tmux").to_string_lossy().into_owned();
        let terminal = Self { world, socket };
        let program = env!("CARGO_BIN_EXE_segue");
        let line = [&[program, "chat"], chat].concat().join(" ");
        terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "40",
            &format!("{line}; echo ended"),
        ]);
        terminal.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
        terminal.wait_for("›");
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        let mut command = self.world.prepared("tmux");
        let ran = command.args(["-S", &self.socket]).args(args).env("TERM", "xterm").output().unwrap();
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-200"])
    }

    #[track_caller]
    #[allow(clippy::disallowed_methods, reason = "a terminal tells nobody that it has drawn")]
    fn wait_for(&self, text: &str) {
        let begun = Instant::now();
        while !self.screen().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "{text} never came:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Presses Ctrl-D until the chat has ended: between two prompts nobody reads the keyboard.
    #[track_caller]
    #[allow(clippy::disallowed_methods, reason = "a terminal tells nobody that it has drawn")]
    fn end(&self) {
        let begun = Instant::now();
        while !self.screen().contains("ended") {
            assert!(begun.elapsed() < PATIENCE, "Ctrl-D never ended it:\n{}", self.screen());
            self.tmux(&["send-keys", "C-d"]);
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn type_line(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
        self.tmux(&["send-keys", "Enter"]);
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn said(world: &World) -> Vec<String> {
    let shown =
        world.run(&["sessions", "show", "s", "--store", "sqlite:chat.db", "--json"]).expect_code(0).json();
    let text = |m: &serde_json::Value| {
        format!("{}: {}", m["role"].as_str().unwrap(), m["content"].as_str().unwrap())
    };
    shown["conversation_state"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn a_paste_is_one_message() {
    if !has_tmux() {
        return;
    }
    let world = World::new();
    let lines: Vec<String> = (1..=200).map(|n| format!("line {n} of what was pasted")).collect();
    world.file("paste.txt", lines.join("\n"));
    let terminal = Terminal::open(&world, &["--scope", "s", "--store", "sqlite:chat.db"]);
    terminal.tmux(&["load-buffer", &world.path("paste.txt").to_string_lossy()]);
    terminal.tmux(&["paste-buffer", "-p"]);
    terminal.wait_for("line 200 of what was pasted");
    terminal.tmux(&["send-keys", "Enter"]);
    terminal.type_line("exit");
    terminal.wait_for("ended");
    drop(terminal);
    assert_eq!(said(&world), [format!("user: {}", lines.join("\n"))]);
    let history = std::fs::read_to_string(world.path(".local/share/segue/history")).unwrap();
    assert!(history.contains("line 7 of what was pasted"));
}

#[test]
fn what_is_typed_while_a_reply_comes_is_answered_in_order() {
    if !has_tmux() {
        return;
    }
    let world = World::new();
    let model = Endpoint::new(vec![
        Reply::Hangs(&["Once upon a time "]),
        Reply::Says(&["Second answer."]),
        Reply::Says(&["Third answer."]),
    ]);
    let chat = ["--scope", "s", "--store", "sqlite:chat.db", "--model-url", model.url(), "--model-name", "m"];
    let terminal = Terminal::open(&world, &chat);
    terminal.type_line("first");
    terminal.wait_for("Once upon");
    terminal.type_line("second");
    terminal.wait_for("(next: second)");
    terminal.type_line("third");
    terminal.wait_for("(next: third)");
    terminal.tmux(&["send-keys", "C-c"]);
    terminal.wait_for("Third answer.");
    terminal.end();
    drop(terminal);
    assert_eq!(
        said(&world),
        [
            "user: first",
            "assistant: Once upon a time [interrupted]",
            "user: second",
            "assistant: Second answer.",
            "user: third",
            "assistant: Third answer.",
        ]
    );
}

/// Row 14: what is said in a store that is forgotten is kept nowhere.
#[test]
fn a_chat_that_is_forgotten_leaves_no_history() {
    if !has_tmux() {
        return;
    }
    let world = World::new();
    let terminal = Terminal::open(&world, &["--store", "memory:"]);
    terminal.type_line("nobody should ever read this");
    terminal.type_line("quit");
    terminal.wait_for("ended");
    drop(terminal);
    assert!(!world.path(".local/share/segue/history").exists());
}
