//! A session of `psql` that stays open, for transactions of other programs.

use crate::postgres::{Cluster, Error};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A session, over when it is dropped.
#[derive(Debug)]
pub struct Session {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    /// Opens a session of the owner of everything.
    pub fn open(cluster: &Cluster, database: &str) -> Result<Self, Error> {
        let mut process = cluster
            .program("psql")
            .args([
                "--no-psqlrc",
                "--quiet",
                "--tuples-only",
                "--no-align",
                "--dbname",
                &cluster.url(database),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Error::Missing);
        };
        Ok(Self { process, input, output: BufReader::new(output) })
    }

    /// Runs SQL, and returns the first line of its answer once it is there.
    pub fn run(&mut self, sql: &str) -> Result<String, Error> {
        writeln!(self.input, "{sql};")?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = (self.process.kill(), self.process.wait());
    }
}
