//! Writing, without the panic that `println!` makes of a reader that has gone away or of a full disk.

use crate::paint;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line to standard output.
pub fn line(text: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// Writes bytes to standard output.
pub fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Says on standard error what is wrong, each line as a sentence of its own.
pub fn error(text: impl Display) {
    complain(&paint::error("error:"), text);
}

/// Says on standard error what was not done.
pub fn refused(text: impl Display) {
    complain(&paint::error("refused:"), text);
}

/// Says on standard error what is odd.
pub fn warning(text: impl Display) {
    complain(&paint::warning("warning:"), text);
}

fn complain(word: &str, text: impl Display) {
    let mut err = io::stderr().lock();
    for sentence in text.to_string().lines() {
        // There is nobody left to tell that nobody is listening.
        _ = writeln!(err, "{word} {}", crate::layout::printable(sentence));
    }
}
