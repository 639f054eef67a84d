//! Words in front matter: one or a list of them.

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use std::fmt;

/// One word or a list of words, as people write both (`tools: git`, `tools: [git, rg]`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words(pub(super) Vec<String>);

impl Words {
    fn new(words: impl IntoIterator<Item = String>) -> Self {
        let words = words.into_iter().map(|word| word.trim().to_owned());
        Self(words.filter(|word| !word.is_empty()).collect())
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

/// YAML takes `12` and `true` for a number and a truth; here they are words.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word or a list of words")
    }

    fn visit_unit<E>(self) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_none<E>(self) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_bool<E>(self, word: bool) -> Result<Words, E> {
        Ok(Words::new([word.to_string()]))
    }

    fn visit_i64<E>(self, word: i64) -> Result<Words, E> {
        Ok(Words::new([word.to_string()]))
    }

    fn visit_u64<E>(self, word: u64) -> Result<Words, E> {
        Ok(Words::new([word.to_string()]))
    }

    fn visit_f64<E>(self, word: f64) -> Result<Words, E> {
        Ok(Words::new([word.to_string()]))
    }

    fn visit_str<E>(self, word: &str) -> Result<Words, E> {
        Ok(Words::new([word.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = list.next_element::<String>()? {
            words.push(word);
        }
        Ok(Words::new(words))
    }
}
