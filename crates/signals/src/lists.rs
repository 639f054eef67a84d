//! Lists of words and phrases, looked up once for a whole list instead of once for each entry.

use aho_corasick::AhoCorasick;

/// Words, sorted.
#[derive(Debug)]
pub(crate) struct Words(Vec<&'static str>);

impl Words {
    /// Reads a list with a sign between words.
    pub(crate) fn new(list: &'static str, between: char) -> Self {
        let mut words: Vec<&'static str> = list.split(between).collect();
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.binary_search(&word).is_ok()
    }
}

/// Phrases that are looked for in a text.
#[derive(Debug)]
pub(crate) struct Phrases {
    list: Vec<String>,
    /// `None` only if the list were too long for one.
    automaton: Option<AhoCorasick>,
}

impl Phrases {
    pub(crate) fn new(list: Vec<String>) -> Self {
        let automaton = AhoCorasick::new(&list).ok();
        Self { list, automaton }
    }

    /// Looks for phrases in small letters whatever the case of a text's Latin letters.
    pub(crate) fn in_any_case(list: Vec<String>) -> Self {
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&list).ok();
        Self { list, automaton }
    }

    /// Reads a list with a sign between phrases.
    pub(crate) fn between(list: &str, sign: char) -> Self {
        Self::new(list.split(sign).map(str::to_owned).collect())
    }

    /// Whether one of them is in a text.
    pub(crate) fn any_in(&self, text: &str) -> bool {
        match &self.automaton {
            Some(automaton) => automaton.is_match(text),
            None => self.list.iter().any(|phrase| text.contains(phrase)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_phrases_are_anywhere() {
        let words = Words::new("over|again", '|');
        assert!(words.has("again") && !words.has("aga"));
        let phrases = Phrases::new(vec![" no ".to_owned(), "不对".to_owned()]);
        assert!(phrases.any_in(" oh no no ") && phrases.any_in("这不对") && !phrases.any_in("nothing"));
    }
}
