//! The sentence that says what was found: "shares: parser, empty; 2 of 9 words new".

use crate::features::Read;
use crate::profile::Profile;

/// Words that are named; more would not be read.
const NAMED_MAX: usize = 4;
/// Characters of one named word.
const NAMED_CHARS_MAX: usize = 24;

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
    let count = format!("{new} of {all} words new");
    if shared.is_empty() {
        return format!("shares no word; {count}");
    }
    // The rarest words say most; of equals, the first one in the message.
    shared.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named: Vec<String> =
        shared.iter().take(NAMED_MAX).map(|(_, word)| word.chars().take(NAMED_CHARS_MAX).collect()).collect();
    format!("shares: {}; {count}", named.join(", "))
}
