//! Streams: several conversations of one person with an assistant, one after the other.

use anyhow::{Context as _, ensure};
use segue_core::Timestamp;
use segue_core::message::Role;
use serde::Deserialize;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
pub struct Stream {
    pub id: String,
    pub lang: String,
    pub kind: String,
    pub turns: Vec<Turn>,
}

#[derive(Clone, Deserialize)]
pub struct Turn {
    pub role: String,
    pub text: String,
    pub at: Timestamp,
    #[serde(default)]
    boundary: u8,
    /// Which conversation of the stream it belongs to.
    #[serde(default)]
    pub conv: usize,
    /// The conversation that it goes back to.
    pub returns_to: Option<usize>,
    /// What makes it hard, if anything does.
    pub hard: Option<String>,
}

impl Turn {
    pub fn is_new(&self) -> bool {
        self.boundary == 1
    }

    pub fn is_user(&self) -> bool {
        self.role == "user"
    }

    pub fn role(&self) -> anyhow::Result<Role> {
        Role::named(&self.role).with_context(|| format!("{:?} is no role", self.role))
    }

    /// Its first words, on one line.
    pub fn preview(&self) -> String {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.chars().take(PREVIEW_CHARS).collect()
    }
}

const PREVIEW_CHARS: usize = 90;

pub fn read(file: &Path) -> anyhow::Result<Vec<Stream>> {
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("{shown} cannot be read: check the path"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let streams: Vec<Stream> = lines
        .map(|(at, line)| {
            serde_json::from_str(line).with_context(|| format!("{shown}:{}: it is no stream", at + 1))
        })
        .collect::<anyhow::Result<_>>()?;
    ensure!(!streams.is_empty(), "{shown} holds no stream");
    Ok(streams)
}
