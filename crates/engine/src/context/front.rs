//! The front of a context: what stands before the messages.

use super::budget::Budget;
use crate::persona::Persona;
use crate::pins::Pinned;
use crate::skills::SkillSnapshot;
use serde::Serialize;
use std::fmt;

/// A part of a context; they stand in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Who the agent is.
    Persona,
    /// Which skills there are.
    Skills,
    /// What the active agent is told.
    Instructions,
    /// The summary that the session began with.
    CarryOver,
    /// The summary of what is not shown any more.
    Summary,
    /// Messages.
    Messages,
}

impl Part {
    /// Returns the part's name, as it stands in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Persona => "persona",
            Self::Skills => "skills",
            Self::Instructions => "instructions",
            Self::CarryOver => "carry_over",
            Self::Summary => "summary",
            Self::Messages => "messages",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text before the messages, in the host's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Front {
    /// Which part it is.
    pub part: Part,
    /// What it says.
    pub text: String,
    /// How many tokens it takes.
    pub tokens: u64,
}

impl Front {
    pub(super) fn new(budget: &Budget<'_>, part: Part, text: String) -> Self {
        Self { part, tokens: budget.text(&text), text }
    }
}

/// Writes what the session is pinned to, without the parts that say nothing.
pub(super) fn written(budget: &Budget<'_>, pinned: &Pinned) -> Vec<Front> {
    let instructions = pinned.instructions.as_deref().unwrap_or_default().trim().to_owned();
    let texts = [
        (Part::Persona, persona(&pinned.persona)),
        (Part::Skills, index(&pinned.skills)),
        (Part::Instructions, instructions),
    ];
    let said = texts.into_iter().filter(|(_, text)| !text.is_empty());
    said.map(|(part, text)| Front::new(budget, part, text)).collect()
}

fn persona(persona: &Persona) -> String {
    let parts = persona.parts.iter().map(|part| format!("# {}\n\n{}", part.name, part.text.trim()));
    parts.collect::<Vec<_>>().join("\n\n")
}

/// Lists the skills in a line each: the model asks for the text of those that it needs.
fn index(skills: &SkillSnapshot) -> String {
    if skills.skills.is_empty() {
        return String::new();
    }
    let line = |skill: &crate::skills::Skill| {
        let description = skill.description.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("- {}: {description}", skill.name)
    };
    let lines: Vec<String> = skills.skills.iter().map(line).collect();
    format!("# Skills\n\n{}", lines.join("\n"))
}
