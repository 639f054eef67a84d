//! The sentence that says what was found: "shares: parser, empty; 2 of 9 words new".

use crate::features::Read;
use crate::profile::Profile;
use std::fmt::Write;

/// Words that are named; more would not be read.
const NAMED_MAX: usize = 4;
/// Characters of one named word.
const NAMED_CHARS_MAX: usize = 24;
/// What a sentence usually takes.
const SENTENCE_BYTES: usize = 64;

pub(crate) fn sentence(profile: &Profile, read: &Read<'_>) -> String {
    let terms = read.terms.list.iter().filter(|term| term.is_content());
    let (mut all, mut new) = (0, 0);
    let mut shared: Vec<(f32, &str)> = Vec::new();
    for term in terms {
        all += 1;
        if profile.memory.find(term.hash).is_none() {
            new += 1;
            continue;
        }
        let word = read.reading.between(term.first, term.last);
        if !shared.iter().any(|(_, known)| *known == word) {
            shared.push((term.weight, word));
        }
    }
    // The rarest words say most; of equals, the first one in the message.
    shared.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut sentence = String::with_capacity(SENTENCE_BYTES);
    sentence.push_str(if shared.is_empty() { "shares no word" } else { "shares: " });
    for (nth, (_, word)) in shared.iter().take(NAMED_MAX).enumerate() {
        sentence.push_str(if nth == 0 { "" } else { ", " });
        sentence.extend(word.chars().take(NAMED_CHARS_MAX));
    }
    // Writing into a string does not fail.
    let _ = write!(sentence, "; {new} of {all} words new");
    sentence
}
