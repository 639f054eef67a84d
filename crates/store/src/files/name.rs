//! Names of files and folders.

use segue_core::digest::Digest;
use segue_core::scope::Key;
use segue_core::segment;
use std::fmt::Write;

/// The longest name of a scope's folder, in bytes: well below what file systems allow.
const FOLDER_BYTES_MAX: usize = 120;
/// How much of the key is left to read in a name that had to be shortened.
const FOLDER_READABLE_BYTES: usize = 80;
/// How many digits of the key's digest tell shortened names apart.
const FOLDER_DIGEST_DIGITS: usize = 32;

/// Returns the name of a scope's folder.
///
/// Two keys never share a name, also where upper and lower case are the same: capitals are written as
/// numbers. No name holds a dot or a separator, so none can leave the folder or meet another file of
/// the store.
pub(super) fn folder(key: &Key) -> String {
    let mut name = String::with_capacity(key.as_str().len());
    for byte in key.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => name.push(char::from(byte)),
            b':' => name.push('_'),
            _ => push_code(&mut name, byte),
        }
    }
    if name.len() > FOLDER_BYTES_MAX {
        let digest = Digest::of_body(key.as_str().as_bytes()).to_string();
        name.truncate(FOLDER_READABLE_BYTES);
        // '~' stands in no other name.
        name.push('~');
        name.push_str(&digest[..FOLDER_DIGEST_DIGITS]);
    }
    if is_device(&name) {
        let first = name.remove(0);
        let mut coded = String::new();
        push_code(&mut coded, first as u8);
        name.insert_str(0, &coded);
    }
    name
}

/// Finds the key whose folder has a name. Names that had to be shortened do not tell.
pub(super) fn key(name: &str) -> Option<Key> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'_' => b':',
            b'%' => {
                let code = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&code).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    let key: Key = String::from_utf8(bytes).ok()?.parse().ok()?;
    (folder(&key) == name).then_some(key)
}

fn push_code(name: &mut String, byte: u8) {
    // Writing to a string cannot fail.
    let _ = write!(name, "%{byte:02x}");
}

/// Tells whether Windows takes the name for a device.
fn is_device(name: &str) -> bool {
    let numbered = |port: &str| {
        name.strip_prefix(port).is_some_and(|n| n.len() == 1 && n.chars().all(|c| c.is_ascii_digit()))
    };
    matches!(name, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

/// A file of a scope that holds entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum LogFile {
    /// The structural entries of the log.
    Journal,
    /// The other entries of a segment.
    Segment(segment::Number),
}

impl LogFile {
    /// Returns the file's name.
    pub(super) fn file_name(self) -> String {
        match self {
            Self::Journal => "journal.jsonl".to_owned(),
            Self::Segment(segment::Number(number)) => format!("{number:06}.jsonl"),
        }
    }

    /// Finds the segment whose file has a name.
    pub(super) fn segment_named(name: &str) -> Option<segment::Number> {
        let number = segment::Number(name.strip_suffix(".jsonl")?.parse().ok()?);
        (Self::Segment(number).file_name() == name).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name_of(key: &str) -> String {
        folder(&key.parse().expect("a key"))
    }

    #[test]
    fn folders_can_be_read_and_cannot_escape() {
        assert_eq!(name_of("agent:main:telegram:direct:user123"), "agent_main_telegram_direct_user123");
        assert_eq!(name_of(".."), "%2e%2e");
        assert_eq!(name_of("../x"), "%2e%2e%2fx");
        assert_eq!(name_of("A_b"), "%41%5fb");
        assert_eq!(name_of("con"), "%63on");
        assert_eq!(name_of("com1"), "%63om1");
        assert_eq!(name_of("🙂"), "%f0%9f%99%82");
        assert_eq!(name_of(&"x".repeat(1024)).len(), FOLDER_READABLE_BYTES + 1 + FOLDER_DIGEST_DIGITS);
    }

    #[test]
    fn segment_files_have_one_spelling() {
        assert_eq!(LogFile::segment_named("000007.jsonl"), Some(segment::Number(7)));
        assert_eq!(LogFile::segment_named("1234567.jsonl"), Some(segment::Number(1_234_567)));
        for name in ["7.jsonl", "+00007.jsonl", "000007.jsonl.torn", "journal.jsonl", "0000007.jsonl"] {
            assert_eq!(LogFile::segment_named(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn folders_never_meet(a in "[a-cA-C:_%~./é-]{1,60}", b in "[a-cA-C:_%~./é-]{1,60}") {
            let (name, other) = (name_of(&a), name_of(&b));
            prop_assert_eq!(name.to_lowercase() == other.to_lowercase(), a == b);
            let found = key(&name).map(|key| key.as_str().to_owned());
            prop_assert_eq!(found, (!name.contains('~')).then_some(a));
            prop_assert!(name.len() <= FOLDER_BYTES_MAX && !name.contains(['.', '/', '\\', ':']));
        }
    }
}
