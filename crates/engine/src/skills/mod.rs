//! Skills: folders with a `SKILL.md`, which a session takes in once and keeps (L-2 to L-6).
//!
//! [`load()`] reads the roots and gives a [`SkillSnapshot`]. Everything after that works on the snapshot
//! alone: [`resolve`] finds a skill in it, [`drift()`] compares it with a later one. Files that change on
//! disk change nothing until somebody loads again.
//!
//! The order of the rules, each over what the one before left:
//!
//! 1. Precedence: of several skills with one name the one in the workspace wins, then the user's, then
//!    the bundled one. A broken skill keeps its folder's name, so that breaking a file never brings a
//!    different skill in its place.
//! 2. Aliases: a name beats an alias, then the root decides, then the order of the names.
//! 3. Eligibility: tools, platform, environment.
//!
//! Eligibility comes last, so that installing a tool never changes what a word means.

mod alias;
mod diagnostic;
mod drift;
mod eligible;
mod front;
mod load;
mod read;
mod snapshot;
mod words;

pub use diagnostic::{Diagnostic, Problem};
pub use drift::{Drift, Part, drift};
pub use eligible::Surroundings;
pub use load::{Loaded, load};
pub use read::{FILE_BYTES_MAX, FOLDERS_MAX, Roots};
pub use snapshot::{Root, Skill, SkillSnapshot, Source, Version, resolve};

/// The name of the file that makes a folder a skill.
pub const FILE_NAME: &str = "SKILL.md";

/// The most characters in the name or an alias of a skill.
pub const NAME_CHARS_MAX: usize = 64;

/// Tells whether a word can be the name or an alias of a skill: letters and digits of any script, `-` and
/// `_`, beginning with a letter or a digit.
fn is_name(word: &str) -> bool {
    word.chars().count() <= NAME_CHARS_MAX
        && word.starts_with(char::is_alphanumeric)
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// Returns the form in which words are compared: nobody remembers whether a skill is `PDF` or `pdf`.
fn folded(word: &str) -> String {
    word.to_lowercase()
}
