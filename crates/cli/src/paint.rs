//! Colours, on a terminal only.

use crate::layout;
use owo_colors::{OwoColorize, Stream, Style};
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Stands where the escape of our own paint goes, until it is written: a text that has an escape of its own, or tries to
/// have ours, has no paint. Nobody can guess it.
pub static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\u{f8ff}{:016x}\u{f8ff}", RandomState::new().hash_one("paint")));

/// What begins every paint.
const ESCAPE: char = '\u{1b}';

fn styled(stream: Stream, text: impl Display, style: Style) -> String {
    let text = layout::printable(&text.to_string()).into_owned();
    let painted = text.if_supports_color(stream, |text| text.style(style)).to_string();
    if painted.contains(ESCAPE) { painted.replace(ESCAPE, &MARK) } else { painted }
}

/// The word before an error.
pub fn error(text: impl Display) -> String {
    styled(Stream::Stderr, text, Style::new().red().bold())
}

/// The word before a warning.
pub fn warning(text: impl Display) -> String {
    styled(Stream::Stderr, text, Style::new().yellow().bold())
}

/// What is bad, in the output itself.
pub fn bad(text: impl Display) -> String {
    styled(Stream::Stdout, text, Style::new().red().bold())
}

/// What stands back.
pub fn dim(text: impl Display) -> String {
    styled(Stream::Stdout, text, Style::new().dimmed())
}

/// What stands out.
pub fn strong(text: impl Display) -> String {
    styled(Stream::Stdout, text, Style::new().bold())
}

/// A boundary.
pub fn boundary(text: impl Display) -> String {
    styled(Stream::Stdout, text, Style::new().cyan().bold())
}

/// The person.
pub fn user(text: impl Display) -> String {
    styled(Stream::Stdout, text, Style::new().green())
}

/// What the engine says.
pub fn engine(text: impl Display) -> String {
    styled(Stream::Stdout, text, Style::new().yellow())
}
