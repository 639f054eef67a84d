//! Paths of files that a task touches: inside the workspace, and readable in one way only.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest path, in bytes.
pub(crate) const PATH_BYTES_MAX: usize = 4096;

/// The path of a file in the workspace, relative to its root, with `/` between folders.
///
/// Each file has one spelling: `./src//a.rs` and `src/b/../a.rs` are `src/a.rs`.
///
/// ```
/// use segue_core::task::path::WorkPath;
/// assert_eq!(WorkPath::new("./src//lib.rs")?.as_str(), "src/lib.rs");
/// assert!(WorkPath::new("../secrets").is_err());
/// # Ok::<(), segue_core::task::path::BadPath>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkPath(String);

/// Why a text is not a path in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// It names no file.
    #[error("{0:?} names no file: give a path relative to the workspace, such as src/main.rs")]
    NoFile(String),
    /// It does not begin in the workspace.
    #[error("{0:?} is not relative: give the path from the root of the workspace, such as src/main.rs")]
    Absolute(String),
    /// It leads out of the workspace.
    #[error("{0:?} leads out of the workspace")]
    Outside(String),
    /// It holds a character that a path cannot hold.
    #[error("{path:?} holds {character:?}, which a path cannot hold{hint}", hint = hint(*.character))]
    Character {
        /// The path.
        path: String,
        /// The character.
        character: char,
    },
    /// It is longer than [`PATH_BYTES_MAX`].
    #[error("a path has at most {PATH_BYTES_MAX} bytes, this one has {0}")]
    TooLong(usize),
    /// Its bytes are no text.
    #[error("{0:?} is not UTF-8: rename the file, or note it in words")]
    NotText(String),
}

fn hint(character: char) -> &'static str {
    if character == '\\' { ": write / between folders" } else { "" }
}

/// Control characters break lines and terminals, marks of direction make a path read as another one, and a
/// backslash is a separator on some systems and part of a name on others.
fn is_odd(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c == '\\' || c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

impl WorkPath {
    /// Makes a path of a text.
    pub fn new(path: &str) -> Result<Self, BadPath> {
        if path.len() > PATH_BYTES_MAX {
            return Err(BadPath::TooLong(path.len()));
        }
        if path.starts_with('/') || path.starts_with("\\\\") || has_drive(path) {
            return Err(BadPath::Absolute(path.to_owned()));
        }
        if let Some(character) = path.chars().find(|c| is_odd(*c)) {
            return Err(BadPath::Character { path: path.to_owned(), character });
        }
        let parts = parts(path).ok_or_else(|| BadPath::Outside(path.to_owned()))?;
        if parts.is_empty() || path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..") {
            return Err(BadPath::NoFile(path.to_owned()));
        }
        // `x/../c:y` is relative as it is written and would not be any more once it is shortened.
        let short = parts.join("/");
        if has_drive(&short) { Err(BadPath::Absolute(path.to_owned())) } else { Ok(Self(short)) }
    }

    /// Makes a path of bytes, as a file system gives them.
    pub fn from_bytes(path: &[u8]) -> Result<Self, BadPath> {
        match std::str::from_utf8(path) {
            Ok(path) => Self::new(path),
            Err(_) if path.len() > PATH_BYTES_MAX => Err(BadPath::TooLong(path.len())),
            Err(_) => Err(BadPath::NotText(String::from_utf8_lossy(path).into_owned())),
        }
    }

    /// Makes a path of one that may begin with the root of the workspace. It reads no file system: links are
    /// not followed.
    pub fn within(root: &str, path: &str) -> Result<Self, BadPath> {
        if !path.starts_with('/') {
            return Self::new(path);
        }
        let outside = || BadPath::Outside(path.to_owned());
        let (inner, root) = (parts(path).ok_or_else(outside)?, parts(root).ok_or_else(outside)?);
        let inner = inner.strip_prefix(root.as_slice()).ok_or_else(outside)?;
        if inner.is_empty() { Err(BadPath::NoFile(path.to_owned())) } else { Self::new(&inner.join("/")) }
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Resolves `.`, `..` and empty parts; nothing if it climbs above where it began.
fn parts(path: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts)
}

impl fmt::Display for WorkPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for WorkPath {
    type Error = BadPath;

    fn try_from(path: String) -> Result<Self, BadPath> {
        Self::new(&path)
    }
}

impl From<WorkPath> for String {
    fn from(path: WorkPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn c6_a_file_has_one_spelling() {
        for text in ["src/a.rs", "./src/a.rs", "src//a.rs", "src/./a.rs", "x/../src/a.rs", "src/b/../a.rs"] {
            assert_eq!(WorkPath::new(text).map(String::from), Ok("src/a.rs".to_owned()), "{text}");
        }
        assert_eq!(WorkPath::new("文档/résumé v2.md").unwrap().as_str(), "文档/résumé v2.md");
        assert_eq!(WorkPath::new("...").unwrap().as_str(), "...");
    }

    #[test]
    fn c6_paths_out_of_the_workspace_are_refused() {
        for text in ["../x", "a/../../x", "..", "./../x", "a/b/../../../x"] {
            assert_eq!(WorkPath::new(text), Err(BadPath::Outside(text.into())), "{text}");
        }
        for text in ["/etc/passwd", "//host/share", "C:\\x", "c:/x", "\\\\host\\share", "z:", "a/../c:/x"] {
            assert_eq!(WorkPath::new(text), Err(BadPath::Absolute(text.into())), "{text}");
        }
        for text in ["", ".", "./", "a/..", "a/", "a/.", "a/b/.."] {
            assert_eq!(WorkPath::new(text), Err(BadPath::NoFile(text.into())), "{text}");
        }
    }

    #[test]
    fn c6_odd_bytes_are_refused_and_shown_escaped() {
        for character in ['\0', '\n', '\u{1b}', '\u{7f}', '\u{85}', '\u{202e}', '\u{feff}', '\\'] {
            let path = format!("src/a{character}b");
            let error = WorkPath::new(&path).unwrap_err();
            assert_eq!(error, BadPath::Character { path, character });
            assert!(!error.to_string().contains(|c: char| c.is_control()), "{error}");
        }
        assert_eq!(WorkPath::from_bytes(b"a\xff.rs"), Err(BadPath::NotText("a\u{fffd}.rs".into())));
        let long = "x".repeat(PATH_BYTES_MAX + 1);
        assert_eq!(WorkPath::new(&long), Err(BadPath::TooLong(long.len())));
        assert!(serde_json::from_str::<WorkPath>(r#""../x""#).is_err());
    }

    #[test]
    fn c6_absolute_paths_are_taken_where_the_root_is_known() {
        assert_eq!(WorkPath::within("/work", "/work/src/a.rs").unwrap().as_str(), "src/a.rs");
        assert_eq!(WorkPath::within("/work/", "src/a.rs").unwrap().as_str(), "src/a.rs");
        for path in ["/workshop/a", "/etc/passwd", "/work/../etc/passwd", "/../work/a"] {
            assert_eq!(WorkPath::within("/work", path), Err(BadPath::Outside(path.into())), "{path}");
        }
        assert!(matches!(WorkPath::within("/work", "/work"), Err(BadPath::NoFile(_))));
    }

    proptest! {
        #[test]
        fn c6_what_is_accepted_stays_inside_and_is_its_own_spelling(text in "[a.:/\\\\\\u{0}-\\u{2}]{0,12}") {
            if let Ok(path) = WorkPath::new(&text) {
                prop_assert_eq!(WorkPath::new(path.as_str()), Ok(path.clone()));
                prop_assert!(path.as_str().split('/').all(|part| !matches!(part, "" | "." | "..")));
            }
        }
    }
}
