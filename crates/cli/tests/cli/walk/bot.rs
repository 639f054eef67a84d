//! What a bot shows, whether it asks the model, and a way in for other languages (findings 8, 9 and 10).

use super::{ANN, world};
use crate::world::World;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A program that listens, and says where on its first line.
struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}"));
        Self { address: address.to_owned(), child }
    }

    fn daemon(world: &World) -> Self {
        Self::start(world.command().args(["serve", "--addr", "127.0.0.1:0"]))
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (address, length) = (&self.address, body.len());
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn say(&self, text: &str) -> Value {
        self.post("/api/v1/messages", &json!({ "scope": ANN, "text": text }))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn fc08_people_read_numbers_and_titles() {
    let world = world();
    let daemon = Listening::daemon(&world);
    daemon.say("Plan a trip to Japan in April");
    for (text, part) in [
        ("/new", "#2"),
        ("How do I bake rye bread?", ""),
        ("/session list", "Plan a trip to Japan in April"),
        ("/session resume 1", "#1 \"Plan a trip to Japan in April\""),
        ("/undo", "#2"),
        ("/status", "#2"),
        ("/why", ""),
    ] {
        let turn = daemon.say(text);
        let say = turn["say"].as_str().unwrap_or_default();
        assert!(say.contains(part), "{text}: {turn}");
        assert!(!say.contains("agent:main"), "no keys for people: {text}: {say}");
    }
}

#[test]
fn fc09_the_outcome_says_whether_the_model_is_called() {
    let world = world();
    world.file("segue.toml", "lifecycle.shift.threshold = 0.999\nlifecycle.question = \"hold\"\n");
    let daemon = Listening::daemon(&world);
    for (text, wants_reply) in [
        ("My Python script reads a CSV of orders with pandas and takes four minutes.", true),
        ("It has 2 GB, and I need only the order id, the date and the amount.", true),
        ("/session list", false),
        ("What else can I do to make pandas read the CSV faster?", true),
        // A question holds the message until it is answered; then the model is to be called.
        ("My grandmother turns ninety on Sunday, which flowers last longest in a vase?", false),
        ("/fresh", true),
        ("/new", false),
        ("/new What is a monad?", true),
        ("/nwe", false),
    ] {
        let turn = daemon.say(text);
        assert_eq!(turn["wants_reply"], json!(wants_reply), "{text}: {turn}");
        let has_options = turn["question"]["options"].as_array().is_some_and(|options| options.len() >= 2);
        assert_eq!(has_options, text.starts_with("My grandmother"), "{turn}");
    }
}

/// The bot of docs/bot.md: Python, its standard library, a scripted model, and the daemon.
#[test]
fn fc10_a_bot_in_python() {
    let example = |name: &str| -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bot").join(name)
    };
    let world = world();
    if world.prepared("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is missing");
        return;
    }
    let daemon = Listening::daemon(&world);
    let model = Listening::start(world.prepared("python3").arg(example("model.py")).arg("0"));
    let url = |listening: &Listening| format!("http://{}", listening.address);
    let mut bot = world.prepared("python3");
    bot.arg(example("bot.py")).args([url(&daemon), url(&model)]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut bot = bot.spawn().unwrap();
    let typed = "My script reads a large CSV with pandas.\nIt has 2 GB, and I need three columns.\n/new\n\
                 What is a good lentil soup?\n/undo\n";
    bot.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let out = bot.wait_with_output().unwrap();
    assert!(out.status.success());
    let out = String::from_utf8(out.stdout).unwrap();
    let lines: Vec<&str> = out.lines().filter(|line| !line.starts_with('*')).collect();
    assert_eq!(
        lines,
        [
            "I was given 1 message. You said: My script reads a large CSV with pandas.",
            "I was given 3 messages. You said: It has 2 GB, and I need three columns.",
            "I was given 1 message. You said: What is a good lentil soup?",
        ]
    );
    assert_eq!(out.lines().filter(|line| line.starts_with("* ")).count(), 2, "{out}");
    // The same model, by the name of the configuration, for who types.
    world.file("bot.toml", std::fs::read(example("bot.toml")).unwrap());
    let config = world.run(&["config", "show", "--config", "bot.toml"]).expect_code(0).out;
    assert!(config.contains("http://127.0.0.1:8080/v1"), "{config}");
}
