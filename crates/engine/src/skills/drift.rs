//! Drift: how the skills on disk differ from those that a session took in.

use super::{Skill, SkillSnapshot, folded};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A part of a skill that can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// How its name is written.
    Name,
    /// Its description.
    Description,
    /// Its aliases.
    Aliases,
    /// Where it comes from: another root may have taken its place.
    Source,
    /// Its text.
    Body,
}

/// One difference between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Drift {
    /// The skill is new.
    Added {
        /// Its name.
        skill: String,
    },
    /// The skill is gone, or can no longer be used.
    Removed {
        /// Its name.
        skill: String,
    },
    /// The skill is another than it was.
    Changed {
        /// Its name.
        skill: String,
        /// What changed.
        parts: Vec<Part>,
    },
}

impl Drift {
    /// Returns the name of the skill.
    pub fn skill(&self) -> &str {
        match self {
            Self::Added { skill } | Self::Removed { skill } | Self::Changed { skill, .. } => skill,
        }
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (skill, what) = match self {
            Self::Added { skill } => (skill, "was added"),
            Self::Removed { skill } => (skill, "is gone"),
            Self::Changed { skill, .. } => (skill, "changed on disk"),
        };
        write!(f, "skill {skill} {what} since this session began; /reload_skills uses it as it is now")
    }
}

/// Compares the snapshot of a session with what is there now, in the order of the names.
pub fn drift(old: &SkillSnapshot, new: &SkillSnapshot) -> Vec<Drift> {
    if old.version == new.version {
        return Vec::new();
    }
    let (before, after) = (by_name(old), by_name(new));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differences = names.into_iter().filter_map(|name| match (before.get(name), after.get(name)) {
        (None, Some(skill)) => Some(Drift::Added { skill: skill.name.clone() }),
        (Some(skill), None) => Some(Drift::Removed { skill: skill.name.clone() }),
        (Some(was), Some(is)) => {
            let parts = changed(was, is);
            (!parts.is_empty()).then(|| Drift::Changed { skill: is.name.clone(), parts })
        }
        (None, None) => None,
    });
    differences.collect()
}

fn by_name(snapshot: &SkillSnapshot) -> BTreeMap<String, &Skill> {
    snapshot.skills.iter().map(|skill| (folded(&skill.name), skill)).collect()
}

fn changed(was: &Skill, is: &Skill) -> Vec<Part> {
    let parts = [
        (Part::Name, was.name != is.name),
        (Part::Description, was.description != is.description),
        (Part::Aliases, was.aliases != is.aliases),
        (Part::Source, was.source != is.source),
        (Part::Body, was.body != is.body),
    ];
    parts.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part).collect()
}
