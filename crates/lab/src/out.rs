//! Writing to standard output, without the panic that `println!` makes of a reader that has gone away.

use serde::Serialize;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line.
pub fn line(text: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// Writes a value as one line of JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(line(serde_json::to_string(value)?)?)
}
