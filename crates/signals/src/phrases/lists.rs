//! Lists of words and phrases, looked up once for a whole list instead of once for each entry.

use aho_corasick::AhoCorasick;

/// Words or whole clauses, sorted.
#[derive(Debug)]
pub(crate) struct Words(Vec<&'static str>);

impl Words {
    pub(crate) fn new(mut words: Vec<&'static str>) -> Self {
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.binary_search(&word).is_ok()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
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

    /// Whether one of them is in a text.
    pub(crate) fn any_in(&self, text: &str) -> bool {
        match &self.automaton {
            Some(automaton) => automaton.is_match(text),
            None => self.list.iter().any(|phrase| text.contains(phrase)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_phrases_are_anywhere() {
        let words = Words::new(vec!["over", "again"]);
        assert!(words.has("again") && !words.has("aga"));
        let phrases = Phrases::new(vec![" no ".to_owned(), "不对".to_owned()]);
        assert!(phrases.any_in(" oh no no ") && phrases.any_in("这不对") && !phrases.any_in("nothing"));
    }
}
