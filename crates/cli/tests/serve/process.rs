//! A daemon of the real program, and a plain client.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How long an answer may take before the test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a store and a configuration.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new(settings: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.configure(settings);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn configure(&self, settings: &str) {
        std::fs::write(self.path("segue.toml"), settings).unwrap();
    }

    /// What the daemons of this place have logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap()
    }

    pub fn command(&self, address: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
        command.env_clear().env("HOME", self.0.path()).current_dir(self.0.path());
        command.args(["serve", "--addr", address, "--config", "segue.toml", "--store", "sqlite:segue.db"]);
        command
    }

    pub fn start(&self, more: &[&str]) -> Daemon {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.path("log")).unwrap();
        let mut child =
            self.command("127.0.0.1:0").args(more).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim_end().rsplit("http://").next().unwrap().trim_end_matches("\"}").to_owned();
        Daemon { child, out, first_line: line, address }
    }
}

/// A running daemon.
pub struct Daemon {
    child: Child,
    out: BufReader<ChildStdout>,
    pub first_line: String,
    pub address: String,
}

impl Daemon {
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end: how it ended, and what else it has printed.
    pub fn ended(mut self) -> (ExitStatus, String) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap(), rest)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks once: status and body, or nothing if the connection broke.
pub fn try_ask(address: &str, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let head = format!(
        "host: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}",
        body.len()
    );
    stream.write_all(format!("{method} {path} HTTP/1.1\r\n{head}\r\n\r\n{body}").as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let length = head.to_ascii_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    // An answer that was cut is none.
    (length.is_none_or(|length| body.len() == length))
        .then(|| Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned())))?
}

/// Asks once, and has to be answered.
pub fn ask(address: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    try_ask(address, method, path, body).unwrap_or_else(|| panic!("{method} {path}: no answer"))
}

/// Reads something that is there.
pub fn get(address: &str, path: &str) -> Value {
    let (status, body) = ask(address, "GET", path, "");
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}
