//! Labelled dialogues: one JSON object a line.

use serde::Deserialize;

use crate::role::Role;

/// One labelled set.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// What the file is called, without its endings.
    pub name: String,
    /// The dialogues, in the order of the file.
    pub dialogues: Vec<Dialogue>,
}

/// One labelled dialogue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Dialogue {
    /// Names the dialogue within its set.
    pub id: String,
    /// Its language, such as `en`.
    #[serde(default)]
    pub lang: String,
    /// The turns in order.
    pub turns: Vec<Turn>,
}

/// One turn of a dialogue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Turn {
    /// `user`, `assistant`, or the name of a speaker.
    pub role: String,
    /// What was said.
    pub text: String,
    /// 1 where something new begins.
    #[serde(default)]
    pub boundary: u8,
    /// When it was said, in sets that say so.
    #[serde(default)]
    pub at: Option<String>,
}

impl Turn {
    /// Whose turn it is; a named speaker counts as a user.
    #[must_use]
    pub fn role(&self) -> Role {
        match self.role.as_str() {
            "assistant" => Role::Assistant,
            "system" => Role::System,
            "tool" => Role::Tool,
            _ => Role::User,
        }
    }
}

/// Why labelled data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A line is not a dialogue.
    #[error(
        "line {line} is not a labelled dialogue ({source}); each line is {{\"id\",\"turns\":[{{\"role\",\"text\",\"boundary\"}}]}}"
    )]
    Line {
        /// Counted from one.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl Dataset {
    /// Reads the dialogues of a file's text.
    ///
    /// # Errors
    /// Names the first line that is not a labelled dialogue.
    pub fn parse(name: &str, text: &str) -> Result<Self, DataError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let dialogues = lines
            .map(|(at, line)| {
                serde_json::from_str(line).map_err(|source| DataError::Line { line: at + 1, source })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), dialogues })
    }
}
