//! Labelled dialogues: one JSON object a line.

use serde::Deserialize;

use crate::profile::Role;

/// What a boundary means in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// An unrelated conversation begins.
    Session,
    /// Something else begins inside the conversation.
    Task,
    /// The talk drifts to another topic.
    Topic,
}

impl Meaning {
    /// Reads the name of a folder; `None` for folders that hold something else.
    #[must_use]
    pub fn from_folder(name: &str) -> Option<Self> {
        match name {
            "session" => Some(Self::Session),
            "task" => Some(Self::Task),
            "topic" => Some(Self::Topic),
            _ => None,
        }
    }
}

/// Which part of a set a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Split {
    /// For fitting.
    Train,
    /// For choosing thresholds and for figures.
    Dev,
}

/// One labelled set.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The file's name without its endings, as `--leave-out` takes it.
    pub name: String,
    /// What its boundaries mean.
    pub meaning: Meaning,
    /// Which part it is.
    pub split: Split,
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
    /// 1 where another task begins, in sets that label both.
    #[serde(default)]
    pub task_switch: Option<u8>,
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
    /// There is nothing to fit.
    #[error("no `session` or `task` set with a train part is left to fit; check the folder and --leave-out")]
    NothingToFit,
}

impl Dataset {
    /// Reads the dialogues of a file's text.
    ///
    /// # Errors
    /// Names the first line that is not a labelled dialogue.
    pub fn parse(name: &str, meaning: Meaning, split: Split, text: &str) -> Result<Self, DataError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let dialogues = lines
            .map(|(at, line)| {
                serde_json::from_str(line).map_err(|source| DataError::Line { line: at + 1, source })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), meaning, split, dialogues })
    }
}
