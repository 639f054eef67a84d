//! What all providers take: ids, names and arguments of calls, and texts.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The longest id of a call: OpenAI's chat once took 40 characters and takes 64 now, its responses 64.
const ID_CHARS_MAX: usize = 40;

/// The longest name of a tool that all three take.
const NAME_CHARS_MAX: usize = 64;

/// How many hexadecimal digits of a digest stand for an id: 96 bits.
const DIGEST_DIGITS: usize = 24;

/// Tells whether a text says nothing; Anthropic refuses such a text.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control())
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Gives ids to calls, each only once.
#[derive(Default)]
pub(super) struct Ids {
    given: HashSet<String>,
    /// How often an id came that could not stay.
    replaced: HashMap<String, u64>,
}

impl Ids {
    /// Returns the id itself where a provider takes it and it is new; else one that is made from it.
    ///
    /// What is made depends on the calls before it only, so that it stays when the conversation goes on.
    pub(super) fn next(&mut self, id: &str) -> String {
        let fits = (1..=ID_CHARS_MAX).contains(&id.len()) && id.chars().all(is_plain);
        if fits && self.given.insert(id.to_owned()) {
            return id.to_owned();
        }
        let count = self.replaced.entry(id.to_owned()).or_default();
        loop {
            let made = made(id, *count);
            *count += 1;
            // The log may hold an id that looks like a made one.
            if self.given.insert(made.clone()) {
                return made;
            }
        }
    }
}

fn made(id: &str, count: u64) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&count.to_le_bytes());
    hasher.update(id.as_bytes());
    let digest = hasher.finalize().to_hex();
    digest.chars().take(DIGEST_DIGITS).fold("call_".to_owned(), |mut made, digit| {
        made.push(digit);
        made
    })
}

/// Returns the name of a tool with letters that every provider takes: `fs.read` becomes `fs_read`.
pub(super) fn name(name: &str) -> String {
    let plain = |c| if is_plain(c) { c } else { '_' };
    let name: String = name.trim().chars().take(NAME_CHARS_MAX).map(plain).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// The arguments of a call: always an object.
///
/// Models write broken JSON at times. That is kept as the text in the field `arguments`, so that the model
/// sees what it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    text: String,
    object: Map<String, Value>,
}

impl Arguments {
    pub(super) fn of(written: &str) -> Self {
        let text = written.trim();
        if text.is_empty() {
            return Self { text: "{}".to_owned(), object: Map::new() };
        }
        match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(object) => Self { text: text.to_owned(), object },
            Err(_) => {
                let object = Map::from_iter([("arguments".to_owned(), Value::from(written))]);
                Self { text: Value::Object(object.clone()).to_string(), object }
            }
        }
    }

    /// Returns the arguments as JSON text; the model's own text where it is an object.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the arguments as an object.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l7_ids_are_given_once() {
        let mut ids = Ids::default();
        let long = "x".repeat(41);
        let given: Vec<String> =
            ["a", "a", "", "", "a|b", &long, &"x".repeat(40), "a"].iter().map(|id| ids.next(id)).collect();
        assert_eq!((given[0].as_str(), given[6].len()), ("a", 40));
        assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len());
        let fits = |id: &String| (1..=ID_CHARS_MAX).contains(&id.len()) && id.chars().all(is_plain);
        assert!(given.iter().all(fits), "{given:?}");
        let mut spoilt = Ids::default();
        assert_eq!(spoilt.next(&given[1]), given[1]);
        assert_eq!(spoilt.next("a"), "a");
        assert_ne!(spoilt.next("a"), given[1], "an id in the log that looks like a made one");
    }

    #[test]
    fn l7_names_and_arguments_fit_every_provider() {
        for (written, fits) in [("search", "search"), ("fs.read", "fs_read"), ("查", "_"), (" ", "tool")] {
            assert_eq!(name(written), fits);
        }
        assert_eq!(name(&"n".repeat(99)).len(), 64);
        for (written, fits) in [
            ("", "{}"),
            (" {\"a\": 1} ", "{\"a\": 1}"),
            ("[1]", "{\"arguments\":\"[1]\"}"),
            ("{\"a\":", "{\"arguments\":\"{\\\"a\\\":\"}"),
        ] {
            assert_eq!(Arguments::of(written).text(), fits);
        }
    }
}
