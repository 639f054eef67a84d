//! The snapshot: the skills of a session, as they were when they were taken in.

use super::{Diagnostic, folded};
use segue_core::digest::Digest;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a skill comes from; the first root wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// The folder of the project.
    Workspace,
    /// The folder of the person.
    User,
    /// What comes with the program.
    Bundled,
}

impl Root {
    /// All roots, the strongest first.
    pub const ALL: [Self; 3] = [Self::Workspace, Self::User, Self::Bundled];

    /// Returns the root's name, as it stands in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::User => "user",
            Self::Bundled => "bundled",
        }
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A place under a root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The root.
    pub root: Root,
    /// The path below the root, with `/` between its parts, so that a moved root keeps its snapshot.
    pub path: String,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.root, self.path)
    }
}

/// A skill that the session can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is for, in the author's words.
    pub description: String,
    /// Other names for it, in the author's order, without those that were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Where it was found.
    pub source: Source,
    /// The digest of the text after the front matter.
    pub body: Digest,
}

/// The content hash of the skills in a snapshot: unchanged skills, same version (L-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub Digest);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The skills of a session, and what was wrong with the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillSnapshot {
    /// The content hash of `skills`; `diagnostics` are not in it, because they change no session.
    pub version: Version,
    /// The skills, in the order of their names.
    pub skills: Vec<Skill>,
    /// What was wrong, in the order of the roots and paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillSnapshot {
    /// Makes a snapshot; the version comes from the skills.
    pub fn new(skills: Vec<Skill>, diagnostics: Vec<Diagnostic>) -> Self {
        Self { version: version_of(&skills), skills, diagnostics }
    }

    /// Tells whether the version still fits the skills, after reading a stored snapshot.
    pub fn is_whole(&self) -> bool {
        self.version == version_of(&self.skills)
    }
}

impl Default for SkillSnapshot {
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new())
    }
}

/// Finds a skill by its name or an alias, upper and lower case alike (L-6).
pub fn resolve<'a>(snapshot: &'a SkillSnapshot, word: &str) -> Option<&'a Skill> {
    let word = folded(word.trim());
    let by_name = snapshot.skills.iter().find(|skill| folded(&skill.name) == word);
    by_name.or_else(|| {
        snapshot.skills.iter().find(|skill| skill.aliases.iter().any(|alias| folded(alias) == word))
    })
}

/// Every part goes in with its length, so that no two lists of skills have the same bytes.
fn version_of(skills: &[Skill]) -> Version {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"segue skills 1\0");
    count(&mut hasher, skills.len());
    for skill in skills {
        for text in [&skill.name, &skill.description, skill.source.root.name(), &skill.source.path] {
            part(&mut hasher, text);
        }
        count(&mut hasher, skill.aliases.len());
        skill.aliases.iter().for_each(|alias| part(&mut hasher, alias));
        hasher.update(&skill.body.0);
    }
    Version(Digest(hasher.finalize().into()))
}

fn part(hasher: &mut blake3::Hasher, text: &str) {
    count(hasher, text.len());
    hasher.update(text.as_bytes());
}

fn count(hasher: &mut blake3::Hasher, count: usize) {
    hasher.update(&(count as u64).to_le_bytes());
}
