//! The sentence that says what was found: "shares: parser, empty; 2 of 9 words new".

use super::words;
use crate::hash::WordHash;
use crate::remark::Remark;
use crate::text::{Reading, Window};
use std::fmt::Write;

/// Words that are named; more would not be read.
const NAMED_MAX: usize = 4;
/// Characters of one named word.
const NAMED_CHARS_MAX: usize = 24;

/// Says in a few words what a message shares with those before it.
#[must_use]
pub fn evidence(recent: &[Remark], text: &str) -> String {
    let reading = Reading::new(text, Window::MESSAGE);
    let is_known = |hash: &WordHash| recent.iter().any(|other| other.note.words.binary_search(hash).is_ok());
    let (mut all, mut new) = (0, 0);
    let mut shared: Vec<&str> = Vec::new();
    for word in words::content(&reading).1 {
        all += 1;
        let said = reading.between(word.first, word.last);
        match is_known(&word.hash) {
            false => new += 1,
            true if !shared.contains(&said) => shared.push(said),
            true => {}
        }
    }
    // Long words say most; of equals, the first one in the message.
    shared.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let mut sentence = String::from(if shared.is_empty() { "shares no word" } else { "shares: " });
    for (nth, word) in shared.iter().take(NAMED_MAX).enumerate() {
        sentence.push_str(if nth == 0 { "" } else { ", " });
        sentence.extend(word.chars().take(NAMED_CHARS_MAX));
    }
    // Writing into a string does not fail.
    let _ = write!(sentence, "; {new} of {all} words new");
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::Role;

    #[test]
    fn r13_the_words_that_are_shared_are_named() {
        let talk = [Remark::of(Role::User, "My parser crashes on empty input")];
        assert_eq!(
            evidence(&talk, "does the parser accept empty files?"),
            "shares: parser, empty; 2 of 4 words new"
        );
        assert_eq!(evidence(&talk, "天气预报"), "shares no word; 2 of 2 words new");
        assert_eq!(evidence(&[], ""), "shares no word; 0 of 0 words new");
    }
}
