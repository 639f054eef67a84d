//! Diagnostics: what was wrong with a skill, for the one who can mend it.

use super::{NAME_CHARS_MAX, Source};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that was wrong with a skill. It never keeps the other skills from loading.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnostic {
    /// Where.
    pub source: Source,
    /// The skill's name: from its front matter, or else its folder's; none if a whole root is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// What.
    pub problem: Problem,
}

/// What can be wrong with a skill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Problem {
    /// There is no `SKILL.md` in the folder.
    MissingFile {},
    /// A skill of the same name stands before it.
    Conflict {
        /// The one that is taken instead.
        hidden_by: Source,
    },
    /// The front matter cannot be understood.
    Malformed {
        /// Why.
        why: String,
    },
    /// An alias is not a word that can be typed; the skill is taken without it.
    BadAlias {
        /// The alias.
        alias: String,
    },
    /// An alias belongs to another skill; the skill is taken without it.
    AliasCollision {
        /// The alias.
        alias: String,
        /// The name of the skill that has it.
        taken_by: String,
    },
    /// The skill is for other platforms.
    WrongPlatform {
        /// The platforms that it is for.
        needs: Vec<String>,
        /// The platform here.
        here: String,
    },
    /// Variables of the environment are not set.
    MissingEnv {
        /// Their names.
        variables: Vec<String>,
    },
    /// Tools are not there.
    MissingTools {
        /// Their names.
        tools: Vec<String>,
    },
    /// The file or folder cannot be read.
    Unreadable {
        /// Why.
        why: String,
    },
    /// The folder or the file is a link that leads back to itself.
    LinkLoop {},
    /// The file is too large.
    TooLarge {
        /// How large it may be.
        bytes_max: u64,
    },
    /// There are too many folders; this one and all after it are left out.
    TooMany {
        /// How many are read.
        folders_max: usize,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingFile {} => write!(f, "there is no {} in the folder", super::FILE_NAME),
            Self::Conflict { hidden_by } => write!(f, "{hidden_by} has the same name and is taken instead"),
            Self::Malformed { why } => write!(f, "its front matter cannot be understood: {why}"),
            Self::BadAlias { alias } => write!(
                f,
                "the alias {alias:?} is left out: an alias has letters, digits, - and _, at most {NAME_CHARS_MAX}"
            ),
            Self::AliasCollision { alias, taken_by } => {
                write!(f, "the alias {alias:?} is left out: it belongs to {taken_by}")
            }
            Self::WrongPlatform { needs, here } => {
                write!(f, "it is for {}, this is {here}", needs.join(", "))
            }
            Self::MissingEnv { variables } => {
                write!(f, "it needs {} in the environment", variables.join(", "))
            }
            Self::MissingTools { tools } => write!(f, "it needs the tools {}", tools.join(", ")),
            Self::Unreadable { why } => write!(f, "it cannot be read: {why}"),
            Self::LinkLoop {} => f.write_str("it is a link that leads back to itself"),
            Self::TooLarge { bytes_max } => write!(f, "it is larger than {bytes_max} bytes"),
            Self::TooMany { folders_max } => {
                write!(f, "there are more than {folders_max} folders; this and all after it are left out")
            }
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.skill {
            Some(skill) => write!(f, "skill {skill} ({}): {}", self.source, self.problem),
            None => write!(f, "skills ({}): {}", self.source, self.problem),
        }
    }
}
