//! A clean machine for one test: its own home, no variables, a fixed time zone, no colours.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The stores that keep what they are given.
pub const DURABLE: [&str; 2] = ["sqlite:log.db", "files:log"];

/// A conversation with two sessions and a call of a tool.
pub const TALK: &str = r#"
{"at":"2026-03-01T10:00:00Z","scope":"agent:main:cli:direct:me","role":"user","text":"Find me a quiet hotel in Lisbon","message_id":"1"}
{"at":"2026-03-01T10:00:05Z","scope":"agent:main:cli:direct:me","role":"assistant","text":"","tool_calls":[{"id":"c1","name":"search","arguments":"{\"city\":\"Lisbon\"}"}]}
{"at":"2026-03-01T10:00:06Z","scope":"agent:main:cli:direct:me","role":"tool","text":"Santa Clara","tool_call_id":"c1"}
{"at":"2026-03-01T10:00:09Z","scope":"agent:main:cli:direct:me","role":"assistant","text":"Santa Clara, near the river."}
{"at":"2026-03-01T10:05:00Z","scope":"agent:main:cli:direct:me","role":"user","text":"/new","message_id":"2"}
{"at":"2026-03-01T10:05:30Z","scope":"agent:main:cli:direct:me","role":"user","text":"What do I cook for six?","message_id":"3"}
{"at":"2026-03-01T10:05:36Z","scope":"agent:main:cli:direct:me","role":"assistant","text":"A big lasagne."}
"#;

/// The scope of [`TALK`].
pub const ME: &str = "agent:main:cli:direct:me";

/// A folder that is home and workspace at once.
pub struct World {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
    /// The workspace is the person's own, and its configuration is trusted.
    is_own: bool,
}

/// What a run of the program came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl World {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new(), is_own: true }
    }

    /// A folder that came from somebody else.
    pub fn of_a_stranger() -> Self {
        Self { is_own: false, ..Self::new() }
    }

    /// A world with [`TALK`] in a store.
    pub fn with_talk(store: &str) -> Self {
        let world = Self::new().variable("SEGUE_STORE_URL", store);
        world.file("talk.jsonl", TALK.trim_start());
        world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
        world
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        if name == "segue.toml" && self.is_own {
            let folder = fs::canonicalize(self.folder.path()).unwrap();
            self.file("config/segue/trusted", format!("{}\n", folder.display()));
        }
    }

    /// The program, ready to be started in this world.
    pub fn command(&self) -> Command {
        self.prepared(env!("CARGO_BIN_EXE_segue"))
    }

    /// Any program, ready to be started in this world.
    pub fn prepared(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let home = self.folder.path();
        command.env_clear().current_dir(home).env("HOME", home).env("XDG_CONFIG_HOME", home.join("config"));
        command.env("TZ", "UTC").env("NO_COLOR", "1").env("PATH", "/usr/bin:/bin");
        command.envs(self.variables.iter().cloned());
        command.stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command().args(args).output().unwrap())
    }

    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A program that stops early closes its end; that is its right.
        _ = stdin.write_all(input);
        drop(stdin);
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Runs commands one after the other and writes down what a person would see.
    pub fn script(&self, commands: &str) -> String {
        let mut seen = String::new();
        for line in commands.trim().lines().map(str::trim) {
            let args = words(line);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let ran = self.run(&args).seen().replace(&*self.folder.path().to_string_lossy(), "HOME");
            let ran = without_times(&ran);
            seen.push_str(&format!("$ segue {line}\n{ran}"));
        }
        seen
    }
}

impl Ran {
    pub fn of(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ran = Self { out: text(output.stdout), err: text(output.stderr), code: output.status.code() };
        assert!(!ran.err.contains("panicked") && !ran.err.contains("RUST_BACKTRACE"), "{ran:?}");
        assert!(ran.code.is_some(), "it was killed: {ran:?}");
        ran
    }

    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.seen());
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.seen()))
    }

    /// One JSON value a line.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Output, then standard error with a mark before each line, then the exit code.
    pub fn seen(&self) -> String {
        let err: String = self.err.lines().map(|line| format!("! {line}\n")).collect();
        let code = match self.code {
            Some(0) => String::new(),
            code => format!("[exit {}]\n", code.unwrap_or(-1)),
        };
        format!("{}{err}{code}", self.out)
    }
}

/// Splits a line as a shell does, as far as these tests need it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// What differs from run to run: ids, digests, and times of now. All times that the tests give are in
/// March 2026 and whole seconds.
pub const DIFFERS: [(&str, &str); 5] = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
    (r"\b[0-9a-f]{64}\b", "DIGEST"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "NOW"),
    (r"2026-03-(\d\d \d\d:\d\d)", "March-$1"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d", "a moment ago.."),
];

/// Compares what was seen with a snapshot, apart from what differs from run to run.
macro_rules! check {
    ($name:expr, $seen:expr) => {
        insta::with_settings!({ filters => crate::world::DIFFERS, omit_expression => true }, {
            insta::assert_snapshot!($name, $seen);
        });
    };
    ($seen:expr) => {
        insta::with_settings!({ filters => crate::world::DIFFERS, omit_expression => true }, {
            insta::assert_snapshot!($seen);
        });
    };
}
pub(crate) use check;

/// Takes out how long it took to observe a message: no two runs take the same time.
fn without_times(text: &str) -> String {
    let mut parts = text.split("\"took_us\":");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("\"took_us\":0");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}
