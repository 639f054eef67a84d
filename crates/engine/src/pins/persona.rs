//! The persona: who the agent is, in the files that a person writes for it.
//!
//! A session takes them in when it opens and keeps them until `/reload_persona` (L-4).

use segue_core::digest::Digest;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most that all files have together, in bytes.
pub const BYTES_MAX: u64 = 1024 * 1024;

/// A file of the persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Name {
    /// What the agent holds dear.
    #[serde(rename = "SOUL.md")]
    Soul,
    /// Who the agent is.
    #[serde(rename = "IDENTITY.md")]
    Identity,
    /// Who the person is.
    #[serde(rename = "USER.md")]
    User,
    /// How the agent works here.
    #[serde(rename = "AGENTS.md")]
    Agents,
}

impl Name {
    /// All files, in the order in which the model is given them.
    pub const ALL: [Self; 4] = [Self::Soul, Self::Identity, Self::User, Self::Agents];

    /// Returns the name of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Soul => "SOUL.md",
            Self::Identity => "IDENTITY.md",
            Self::User => "USER.md",
            Self::Agents => "AGENTS.md",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One file and what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The file.
    pub name: Name,
    /// What it says.
    pub text: String,
}

/// Something about the persona that a person should know. It never keeps the rest from loading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Diagnostic {
    /// The folder is not there.
    MissingFolder {},
    /// A file is not there.
    MissingFile {
        /// The file.
        name: Name,
    },
    /// A file cannot be read.
    Unreadable {
        /// The file.
        name: Name,
        /// Why.
        why: String,
    },
    /// The files are too large together, and none was taken in.
    TooLarge {
        /// How large they are.
        bytes: u64,
        /// How large they may be.
        bytes_max: u64,
        /// The largest file.
        largest: Name,
    },
}

impl Diagnostic {
    /// Tells whether it says no more than that there is no such file: nobody needs a persona.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::MissingFolder {} | Self::MissingFile { .. } => true,
            Self::Unreadable { .. } | Self::TooLarge { .. } => false,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingFolder {} => f.write_str("the folder of the persona is not there"),
            Self::MissingFile { name } => write!(f, "{name} is not there"),
            Self::Unreadable { name, why } => write!(f, "{name} cannot be read: {why}"),
            Self::TooLarge { bytes, bytes_max, largest } => fmt::Display::fmt(
                &Error::TooLarge { bytes: *bytes, bytes_max: *bytes_max, largest: *largest },
                f,
            ),
        }
    }
}

/// Why a persona was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The files are too large together.
    #[error(
        "the persona has {bytes} bytes, {over} more than the {bytes_max} that are taken; shorten {largest}",
        over = bytes.saturating_sub(*bytes_max)
    )]
    TooLarge {
        /// How large they are.
        bytes: u64,
        /// How large they may be.
        bytes_max: u64,
        /// The largest file.
        largest: Name,
    },
}

/// The persona of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    /// The content hash of `parts`; `diagnostics` are not in it.
    pub version: Digest,
    /// The files that are there and say something, in the order of [`Name::ALL`].
    pub parts: Vec<Part>,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

impl Default for Persona {
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new())
    }
}

impl Persona {
    /// Makes a persona; the version comes from its parts.
    pub fn new(parts: Vec<Part>, diagnostics: Vec<Diagnostic>) -> Self {
        Self { version: version_of(&parts), parts, diagnostics }
    }

    /// Reads the persona in a folder. A file that is not there is a diagnostic.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        match fs::metadata(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self::new(Vec::new(), vec![Diagnostic::MissingFolder {}]));
            }
            // Whatever else is wrong with the folder is wrong with each file, and said there.
            Err(_) | Ok(_) => {}
        }
        if is_linked_out(folder) {
            let unreadable = |name| Diagnostic::Unreadable { name, why: LINKED_OUT.to_owned() };
            let there = Name::ALL.into_iter().filter(|name| folder.join(name.as_str()).exists());
            return Ok(Self::new(Vec::new(), there.map(unreadable).collect()));
        }
        let sizes = Name::ALL.map(|name| (size(&folder.join(name.as_str())), name));
        let bytes: u64 = sizes.iter().map(|(bytes, _)| *bytes).sum();
        let largest = sizes.iter().max().map_or(Name::Soul, |(_, name)| *name);
        let too_large = |bytes| Error::TooLarge { bytes, bytes_max: BYTES_MAX, largest };
        if bytes > BYTES_MAX {
            return Err(too_large(bytes));
        }
        let (mut parts, mut diagnostics) = (Vec::new(), Vec::new());
        let mut left = BYTES_MAX;
        for name in Name::ALL {
            let file = folder.join(name.as_str());
            if leaves(folder, &file) {
                let why = "it is a link that leaves the folder".to_owned();
                diagnostics.push(Diagnostic::Unreadable { name, why });
                continue;
            }
            match text(&file, left) {
                // A file can have grown since it was measured.
                Ok(text) if text.len() as u64 > left => {
                    return Err(too_large(BYTES_MAX - left + text.len() as u64));
                }
                Ok(text) => {
                    left -= text.len() as u64;
                    if !text.trim().is_empty() {
                        parts.push(Part { name, text });
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    diagnostics.push(Diagnostic::MissingFile { name });
                }
                Err(error) => {
                    diagnostics.push(Diagnostic::Unreadable { name, why: error.kind().to_string() });
                }
            }
        }
        Ok(Self::new(parts, diagnostics))
    }

    /// Makes the persona of a session that began although the files could not be taken: an empty one that says so.
    pub fn refused(error: Error) -> Self {
        let Error::TooLarge { bytes, bytes_max, largest } = error;
        Self::new(Vec::new(), vec![Diagnostic::TooLarge { bytes, bytes_max, largest }])
    }

    /// Tells whether the version still fits the parts, after reading a stored persona.
    pub fn is_whole(&self) -> bool {
        self.version == version_of(&self.parts)
    }

    /// Returns what a file says; nothing, if it is not there.
    pub fn part(&self, name: Name) -> Option<&str> {
        self.parts.iter().find(|part| part.name == name).map(|part| part.text.as_str())
    }
}

/// Lists the files that say something else now than when the session took them in.
pub fn drift(old: &Persona, new: &Persona) -> Vec<Name> {
    Name::ALL.into_iter().filter(|name| old.part(*name) != new.part(*name)).collect()
}

fn version_of(parts: &[Part]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"segue persona 1\0");
    for part in parts {
        hasher.update(part.name.as_str().as_bytes());
        hasher.update(&(part.text.len() as u64).to_le_bytes());
        hasher.update(part.text.as_bytes());
    }
    Digest(hasher.finalize().into())
}

/// What is said of a folder that is a link to somewhere else.
pub(crate) const LINKED_OUT: &str = "its folder is a link that leaves the workspace";

/// Tells whether a folder of the workspace, which a relative path names, is a link to somewhere outside of it. Who wants
/// that names the other folder.
pub(crate) fn is_linked_out(folder: &Path) -> bool {
    folder.is_relative() && leaves(Path::new("."), folder)
}

/// Tells whether a file is a link to somewhere outside of its folder. What came with a folder must not show the model what
/// else is on the machine.
pub(crate) fn leaves(folder: &Path, file: &Path) -> bool {
    match (fs::canonicalize(folder), fs::canonicalize(file)) {
        (Ok(folder), Ok(file)) => !file.starts_with(folder),
        // What is not there is told by who reads it.
        (Err(_), _) | (_, Err(_)) => false,
    }
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| if metadata.is_file() { metadata.len() } else { 0 })
}

fn text(file: &Path, bytes_max: u64) -> io::Result<String> {
    // A pipe would be waited for without end.
    if !fs::metadata(file)?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    let mut text = String::new();
    File::open(file)?.take(bytes_max + 1).read_to_string(&mut text)?;
    Ok(text)
}
