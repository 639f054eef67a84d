//! `segue chat` on a terminal, typed at as a person types (findings 3, 4, 14 and 25). It needs tmux; where there is none it
//! says so, and fails if `SEGUE_TMUX` is `required`, as in `scripts/check`.

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
        let is_required = std::env::var_os("SEGUE_TMUX").is_some_and(|asked| asked == "required");
        assert!(!is_required, "tmux is missing, so nobody can type at a terminal");
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
    fn wait_until(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_there(&self.screen()) {
            assert!(begun.elapsed() < PATIENCE, "{what} never came:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    #[track_caller]
    fn wait_for(&self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
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

/// A frame of the spinner.
fn is_spinner(c: char) -> bool {
    ('\u{2801}'..='\u{28ff}').contains(&c)
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
fn fc03_a_paste_is_one_message() {
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
    let screen = terminal.screen();
    assert!(!screen.contains("200~") && !screen.contains("^["), "escape codes: {screen}");
    drop(terminal);
    assert_eq!(said(&world), [format!("user: {}", lines.join("\n"))]);
    let history = std::fs::read_to_string(world.path(".local/share/segue/history")).unwrap();
    assert!(history.contains("line 7 of what was pasted"));
}

#[test]
fn fc04_what_is_typed_while_a_reply_comes_is_answered_in_order() {
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

/// What is said in a store that is forgotten is kept nowhere.
#[test]
fn fc14_a_chat_that_is_forgotten_leaves_no_history() {
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

/// `exit`, `quit` and Ctrl-D end a chat and are no messages; a decision is told on request only, with one number for how sure it
/// is; help is not ragged.
#[test]
fn fc25_words_that_quit_and_one_number() {
    if !has_tmux() {
        return;
    }
    let world = World::new();
    for word in ["exit", "quit"] {
        let terminal = Terminal::open(&world, &["--scope", "s", "--store", "sqlite:chat.db"]);
        terminal.type_line("hello");
        terminal.type_line("/help");
        terminal.wait_for("/retry asks the model again");
        terminal.type_line(word);
        terminal.wait_for("ended");
        let screen = terminal.screen();
        assert!(!screen.contains("confidence"), "{screen}");
        let is_ragged = |line: &&str| line.starts_with("  ") && line.trim_end().chars().count() > 100;
        assert_eq!(screen.lines().find(is_ragged), None, "{screen}");
    }
    let terminal = Terminal::open(&world, &["--scope", "s", "--store", "sqlite:chat.db"]);
    terminal.end();
    drop(terminal);
    assert_eq!(said(&world), ["user: hello", "user: hello"]);
}

/// How sure a decision is stands in one place, as one number: by `--explain` as a share, and nowhere beside the figures of the
/// reasons.
#[test]
fn fc25_one_number_for_certainty() {
    let world = World::new();
    let explained = ["chat", "--scope", "t", "--store", "sqlite:chat.db", "--explain"];
    let jump = crate::chat_model::JUMP;
    let told = world.run_with(&explained, jump.as_bytes()).expect_code(0).out;
    let text = told.replace("\n  ", " ");
    let decisions: Vec<&str> = text.split(" % sure). ").collect();
    assert_eq!(decisions.len(), 5, "four messages: {told}");
    assert!(text.contains("It started #2 ("), "{told}");
    let reason = |rest: &&str| rest.split(". ").next().unwrap_or_default().to_owned();
    for reason in decisions.iter().skip(1).map(reason) {
        assert!(!reason.contains('%') && !reason.contains("0."), "a second number: {reason}");
    }
    assert!(!told.contains("confidence"), "{told}");
    let why = world.run(&["why", "t", "--last", "9", "--store", "sqlite:chat.db"]).expect_code(0).out;
    assert!(why.contains("Cause: semantic") && !why.contains("confidence") && !why.contains("sure"), "{why}");
}

/// Ctrl-D while a reply comes ends the chat behind it, and what was typed before it is answered first and found again.
#[test]
fn fc04_ctrl_d_and_the_history_of_what_was_queued() {
    if !has_tmux() {
        return;
    }
    let world = World::new();
    let model = Endpoint::new(vec![Reply::Hangs(&["Once upon a time "]), Reply::Says(&["Second answer."])]);
    let chat = ["--scope", "s", "--store", "sqlite:chat.db", "--model-url", model.url(), "--model-name", "m"];
    let terminal = Terminal::open(&world, &chat);
    terminal.type_line("first");
    terminal.wait_for("Once upon");
    terminal.type_line("second");
    terminal.wait_for("(next: second)");
    terminal.tmux(&["send-keys", "C-d"]);
    terminal.tmux(&["send-keys", "C-c"]);
    terminal.wait_for("Second answer.");
    terminal.wait_for("ended");
    drop(terminal);
    assert_eq!(said(&world).len(), 4);
    let history = std::fs::read_to_string(world.path(".local/share/segue/history")).unwrap();
    assert_eq!(history, "first\nsecond\n");
}

/// A line that is queued has a line of its own, and no frame of the spinner stays behind.
#[test]
fn fc04_a_queued_line_tears_nothing_apart() {
    if !has_tmux() {
        return;
    }
    let world = World::new();
    let model = Endpoint::new(vec![Reply::Hangs(&[]), Reply::Says(&["Second answer."])]);
    let chat = ["--scope", "s", "--store", "sqlite:chat.db", "--model-url", model.url(), "--model-name", "m"];
    let terminal = Terminal::open(&world, &chat);
    terminal.type_line("first");
    terminal.wait_until("a spinner", |screen| screen.contains(is_spinner));
    terminal.type_line("second");
    terminal.wait_for("(next: second)");
    terminal.tmux(&["send-keys", "C-c"]);
    terminal.wait_for("Second answer.");
    terminal.end();
    let screen = terminal.screen();
    assert!(!screen.contains(is_spinner), "{screen}");
}

/// A paste that is under way when a reply ends is one message.
#[test]
fn fc03_a_paste_while_a_reply_ends_is_one_message() {
    if !has_tmux() {
        return;
    }
    let world = World::new();
    let model = Endpoint::new(vec![Reply::Hangs(&["Once upon a time "]), Reply::Says(&["Second answer."])]);
    let chat = ["--scope", "s", "--store", "sqlite:chat.db", "--model-url", model.url(), "--model-name", "m"];
    let terminal = Terminal::open(&world, &chat);
    terminal.type_line("first");
    terminal.wait_for("Once upon");
    // The terminal sends the beginning of the paste, then the reply is stopped, then comes the rest.
    terminal.tmux(&["send-keys", "-H", "1b", "5b", "32", "30", "30", "7e", "6f", "6e", "65", "0a"]);
    terminal.tmux(&["send-keys", "C-c"]);
    terminal.tmux(&["send-keys", "-H", "74", "77", "6f", "1b", "5b", "32", "30", "31", "7e", "0d"]);
    terminal.wait_for("Second answer.");
    terminal.end();
    drop(terminal);
    let said = said(&world);
    assert!(said.contains(&"user: one\ntwo".to_owned()), "{said:?}");
}

/// Issue 16, row 6: what was typed does not come back when the chat ends, after something was deleted here or elsewhere.
#[test]
fn x17_a_deleted_line_does_not_come_back_into_the_history() {
    if !has_tmux() {
        return;
    }
    let world = World::new();
    let history = || std::fs::read_to_string(world.path(".local/share/segue/history")).unwrap_or_default();
    let terminal = Terminal::open(&world, &["--scope", "s", "--store", "sqlite:chat.db"]);
    terminal.type_line("my SECRET one");
    terminal.wait_for("my SECRET one");
    terminal.type_line("/new");
    terminal.wait_for("#2");
    assert!(history().contains("SECRET"), "it is there before");
    terminal.type_line("/session delete 1");
    terminal.wait_for("Deleted");
    terminal.type_line("my SECOND secret");
    terminal.wait_for("#2 › my SECOND");
    let erased = world.run(&["erase", "s", "--session", "2", "--store", "sqlite:chat.db"]);
    erased.expect_code(0);
    terminal.type_line("and on");
    terminal.wait_for("and on");
    terminal.end();
    drop(terminal);
    assert!(!history().contains("SEC"), "{}", history());
}
