//! Colours, on a terminal only.

use owo_colors::{OwoColorize, Stream, Style};
use std::fmt::Display;

fn styled(stream: Stream, text: impl Display, style: Style) -> String {
    text.if_supports_color(stream, |text| text.style(style)).to_string()
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
