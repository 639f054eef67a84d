//! The daemon that is put under load.

use crate::Result;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A running `segue serve`.
pub struct Daemon {
    child: Child,
    /// Where it listens.
    pub address: String,
}

/// The folder of a daemon's store, and its configuration.
pub struct Place {
    folder: TempDir,
    program: PathBuf,
}

impl Place {
    /// Makes a folder with a configuration.
    pub fn new(settings: &str) -> Result<Self> {
        let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/segue");
        let program = std::env::var_os("SEGUE").map_or(usual, PathBuf::from);
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("segue.toml"), settings)?;
        Ok(Self { folder, program })
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a token, and returns its secret.
    pub fn token(&self) -> Result<String> {
        let store = format!("sqlite:{}", self.path().join("segue.db").display());
        let made = Command::new(&self.program).args(["token", "add", "load", "--store", &store]).output()?;
        match made.status.success() {
            true => Ok(String::from_utf8(made.stdout)?.trim().to_owned()),
            false => Err(String::from_utf8_lossy(&made.stderr).into_owned().into()),
        }
    }

    /// Starts a daemon.
    pub fn start(&self) -> Result<Daemon> {
        let path = |name: &str| self.path().join(name);
        let mut child = Command::new(&self.program)
            .args(["serve", "--addr", "127.0.0.1:0", "--config"])
            .arg(path("segue.toml"))
            .arg("--store")
            .arg(format!("sqlite:{}", path("segue.db").display()))
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", self.program.display()))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let address =
            line.trim().strip_prefix("listening on http://").ok_or("it does not listen")?.to_owned();
        Ok(Daemon { child, address })
    }
}

impl Daemon {
    /// Kills it at once.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Returns how much memory it holds, in bytes.
    pub fn memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
        Ok(kilobytes * 1024)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
