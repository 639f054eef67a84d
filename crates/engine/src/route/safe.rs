//! Ids made safe: what a channel calls a person, a group or a thread, as a part of a scope key.
//!
//! The rule, in order:
//!
//! 1. White space at the ends goes, and ASCII letters become lower case. Two ids that differ in nothing
//!    else are one id. Letters outside ASCII stay as they are: Unicode has different letters with the same
//!    lower case (the Kelvin sign and `k`), and so two people could meet.
//!    On a channel whose ids are case-sensitive ([`Case::Kept`]) an upper-case ASCII letter is escaped like the
//!    characters below instead: `Ab` is `%41b`, which no other id ever becomes.
//! 2. Letters and digits of any script and `-_.+@=` stay. Every other character becomes `%` and two
//!    lower-case hexadecimal digits for each of its bytes in UTF-8; so does `%` itself, which makes the
//!    rule reversible.
//! 3. What is now longer than [`BYTES_MAX`] becomes its beginning, `~` and a digest of the whole. `~`
//!    never comes from an id, so a short id cannot pose as a long one.

/// The longest id that stands in a key as it is, in bytes.
pub const BYTES_MAX: usize = 128;

/// How much of a longer id is kept for the reader, in bytes.
const HEAD_BYTES_MAX: usize = 64;

/// How many hexadecimal digits of the digest stand for the rest: 128 bits.
const DIGEST_DIGITS: usize = 32;

/// Whether ids of a channel that differ in nothing but the case of their letters are two ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Case {
    /// They are one.
    #[default]
    Ignored,
    /// They are two.
    Kept,
}

impl Case {
    /// All of them, as they are named in the configuration.
    pub const ALL: [(&'static str, Self); 2] =
        [("case-insensitive", Self::Ignored), ("case-sensitive", Self::Kept)];
}

/// Makes an id safe. Nothing is left of an id of white space.
///
/// ```
/// use segue_engine::route::safe;
/// assert_eq!(safe::id(" User_1@Example.org "), "user_1@example.org");
/// assert_eq!(safe::id("../x"), "..%2fx");
/// assert_eq!(safe::id("a#2"), "a%232");
/// assert_eq!(safe::id("李雷"), "李雷");
/// ```
pub fn id(raw: &str) -> String {
    id_by_case(raw, Case::Ignored)
}

/// Makes an id of a channel safe: where case is kept, `aB` is `a%42`, elsewhere `ab`.
pub(crate) fn id_by_case(raw: &str, case: Case) -> String {
    let raw = raw.trim();
    let mut safe = String::with_capacity(raw.len());
    for c in raw.chars() {
        let c = match case {
            Case::Ignored => c.to_ascii_lowercase(),
            Case::Kept => c,
        };
        if stays(c) && !c.is_ascii_uppercase() { safe.push(c) } else { escape(&mut safe, c) }
    }
    shorten(safe)
}

/// Makes an id safe, with a word for an empty one.
pub(crate) fn id_or(raw: &str, empty: &str) -> String {
    Some(id(raw)).filter(|safe| !safe.is_empty()).unwrap_or_else(|| empty.to_owned())
}

/// Writes a character's bytes in hexadecimal.
pub(super) fn escape(to: &mut String, c: char) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        to.push('%');
        to.extend([byte >> 4, byte & 15].iter().filter_map(|digit| DIGITS.get(usize::from(*digit))));
    }
}

fn stays(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '@' | '=')
}

fn shorten(safe: String) -> String {
    if safe.len() <= BYTES_MAX {
        return safe;
    }
    let digest = blake3::hash(safe.as_bytes()).to_hex();
    let digits = digest.get(..DIGEST_DIGITS).unwrap_or(&digest);
    format!("{}~{digits}", head(&safe))
}

/// Returns the beginning, cut neither inside a character nor inside an escape.
fn head(safe: &str) -> &str {
    let mut end = safe.floor_char_boundary(HEAD_BYTES_MAX);
    // An escape has three bytes: look for a `%` among the last two.
    let bytes = safe.as_bytes();
    if let Some(back) = (1..=2).find(|back| bytes.get(end - back) == Some(&b'%')) {
        end -= back;
    }
    safe.get(..end).unwrap_or(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &str) {
        assert_eq!(id(raw), expected, "{raw:?}");
    }

    /// P-1: odd ids become safe ones.
    #[test]
    fn p1_odd_ids_become_safe() {
        check("a:b", "a%3ab");
        check("a%3ab", "a%253ab");
        check("../x", "..%2fx");
        check("a#2", "a%232");
        check("~", "%7e");
        check("a b\tc", "a%20b%09c");
        check("x\u{200b}y", "x%e2%80%8by");
        check("\u{0}", "%00");
        check("👍", "%f0%9f%91%8d");
        check("  \u{3000} ", "");
    }

    /// P-1: ASCII is lower-cased, and nothing else, so that no two letters meet.
    #[test]
    fn p1_only_ascii_is_lower_cased() {
        check("ABC", "abc");
        check("ÄÖ", "ÄÖ");
        check("\u{212a}", "\u{212a}"); // the Kelvin sign is not a k
        check("İ", "İ");
        assert_ne!(id("\u{212a}"), id("K"));
        assert_ne!(id("e\u{301}"), id("é"));
    }

    /// P-1: a long id is shortened, and differs from every other one.
    #[test]
    fn p1_long_ids_are_shortened() {
        let exact = "x".repeat(BYTES_MAX);
        check(&exact, &exact);
        let long = id(&"x".repeat(10 * 1024));
        assert_eq!(long.len(), HEAD_BYTES_MAX + 1 + DIGEST_DIGITS);
        assert_ne!(long, id(&"x".repeat(10 * 1024 + 1)));
        assert_eq!(id(&long).matches('~').count(), 0, "a short id cannot pose as a long one");
    }

    /// P-1: the cut falls neither into a character nor into an escape.
    #[test]
    fn p1_the_cut_falls_between_characters() {
        for before in 0..6 {
            for (odd, safe_odd) in [("李", "李"), (":", "%3a"), ("👍", "%f0%9f%91%8d")] {
                let begin = "z".repeat(before);
                let safe = id(&format!("{begin}{}", odd.repeat(100)));
                let kept = safe.split('~').next().unwrap();
                assert!((HEAD_BYTES_MAX - 3..=HEAD_BYTES_MAX).contains(&kept.len()), "{kept}");
                let whole = format!("{begin}{}", safe_odd.repeat(100));
                assert!(whole.starts_with(kept), "{kept}");
                // Each escape that was begun has its two digits.
                assert!(kept.split('%').skip(1).all(|escape| escape.len() >= 2), "{kept}");
            }
        }
    }
}
