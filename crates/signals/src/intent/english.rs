//! The wish to start over, in English.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::clauses::Clause;
use super::{Finding, Match, MentionKind};
use crate::phrases::lists::Words;
use crate::phrases::pattern::Pattern;
use crate::phrases::table::INTENT;
use crate::phrases::typo::{self, Spelled};

static NEW_MISSPELLED: LazyLock<Words> = LazyLock::new(|| INTENT.set("new misspelled"));
static NEXT: LazyLock<Words> = LazyLock::new(|| INTENT.set("next en"));
static ABOUT: LazyLock<Words> = LazyLock::new(|| INTENT.set("about en"));
static NEGATIONS: LazyLock<Words> = LazyLock::new(|| INTENT.set("negation en"));
static ASKING: LazyLock<Words> = LazyLock::new(|| INTENT.set("asking en"));
static WISHING: LazyLock<Words> = LazyLock::new(|| INTENT.set("wishing en"));

/// The phrases, and what is known about each word of the lists.
struct Grammar {
    /// The listed phrases, then the paraphrases.
    patterns: Vec<(Pattern<&'static str>, Match)>,
    words: HashMap<&'static str, Known>,
    /// Words that may be meant by a misspelled one, sorted.
    vocabulary: Vec<Spelled<'static>>,
}

/// What is known about a word. One look into the lists answers everything that is asked about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    /// It may stand around a wish.
    is_frame: bool,
    /// It is no misspelling of another.
    is_real: bool,
    /// One of those that every wish has.
    is_anchor: bool,
    /// A listed phrase has it.
    is_listed: bool,
    /// The patterns that can begin with it, one bit each.
    begins: u128,
}

impl Grammar {
    fn known(&self, word: &str) -> Known {
        self.words.get(word).copied().unwrap_or_default()
    }
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let patterns = |list: &str, how: Match| {
        INTENT.lines(list).map(move |line| (Pattern::parse(line, |choice| vec![choice]), how))
    };
    let patterns: Vec<(Pattern<&'static str>, Match)> =
        patterns("listed en", Match::Exact).chain(patterns("paraphrase en", Match::Paraphrase)).collect();
    let mut words: HashMap<&'static str, Known> = HashMap::new();
    for (at, (pattern, how)) in patterns.iter().enumerate() {
        for word in pattern.units().copied() {
            let known = words.entry(word).or_default();
            known.is_real = true;
            known.is_listed |= *how == Match::Exact;
        }
        for word in pattern.beginnings().copied() {
            words.entry(word).or_default().begins |= 1 << at;
        }
    }
    for word in INTENT.words("anchor en") {
        words.entry(word).or_default().is_anchor = true;
    }
    for word in INTENT.words("frame en") {
        words.entry(word).or_default().is_frame = true;
    }
    let real = INTENT.words("real en").into_iter();
    for word in real.chain(NEXT.iter()).chain(NEGATIONS.iter()).chain(ASKING.iter()) {
        words.entry(word).or_default().is_real = true;
    }
    let mut vocabulary: Vec<&str> =
        words.iter().filter(|(_, known)| known.is_listed).map(|(word, _)| *word).collect();
    vocabulary.sort_unstable();
    Grammar { patterns, words, vocabulary: vocabulary.into_iter().map(Spelled::new).collect() }
});

/// Words without apostrophes, so that "let's" and "lets" are one.
fn words(text: &str) -> Vec<Cow<'_, str>> {
    text.split(|ch: char| !(ch.is_alphanumeric() || ch == '\'' || ch == '\u{fffc}'))
        .map(|word| match word.contains('\'') {
            true => Cow::Owned(word.replace('\'', "")),
            false => Cow::Borrowed(word),
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// More words than this are no clause but a text without punctuation.
const WORDS_MAX: usize = 40;

/// In a longer clause a misspelled phrase would not stand alone anyway.
const TYPO_WORDS_MAX: usize = 10;

pub(super) fn judge(clause: &Clause<'_>) -> Finding {
    let words = words(clause.text);
    if words.is_empty() || words.len() > WORDS_MAX {
        return Finding::Nothing;
    }
    let plain: Vec<&str> = words.iter().map(Cow::as_ref).collect();
    let known: Vec<Known> = plain.iter().map(|word| GRAMMAR.known(word)).collect();
    if known.iter().any(|known| known.is_anchor) {
        let exact = find(&plain, &known, clause);
        if exact != Finding::Nothing {
            return exact;
        }
    }
    if plain.len() > TYPO_WORDS_MAX {
        return Finding::Nothing;
    }
    let Some((corrected, distance)) = correct(&plain, &known) else { return Finding::Nothing };
    let fixed: Vec<&str> = corrected.iter().map(AsRef::as_ref).collect();
    let known: Vec<Known> = fixed.iter().map(|word| GRAMMAR.known(word)).collect();
    match find(&fixed, &known, clause) {
        Finding::Wish { phrase, .. } => Finding::Wish { phrase, how: Match::Typo { distance } },
        Finding::Mention(_) | Finding::Nothing => Finding::Nothing,
    }
}

/// How many words of a clause are neither part of the phrase nor merely polite.
pub(super) fn left_over(clause: &Clause<'_>, phrase: &str) -> usize {
    let counts = |word: &&Cow<'_, str>| {
        !GRAMMAR.known(word).is_frame && !phrase.split(' ').any(|part| part == word.as_ref())
    };
    words(clause.text).iter().filter(counts).count()
}

/// How many words a pattern takes from the front.
fn takes(pattern: &Pattern<&'static str>, words: &[&str]) -> Option<usize> {
    pattern.longest(words, &|word, meant| word == meant)
}

fn find(words: &[&str], known: &[Known], clause: &Clause<'_>) -> Finding {
    let mut mention = Finding::Nothing;
    // Only patterns that can begin with one of the words are tried, in their order.
    let mut begun = known.iter().fold(0, |all, known| all | known.begins);
    while begun != 0 {
        let at = begun.trailing_zeros() as usize;
        begun &= begun - 1;
        let (pattern, how) = &GRAMMAR.patterns[at];
        for (from, _) in known.iter().enumerate().filter(|(_, known)| known.begins & (1 << at) != 0) {
            let Some(count) = takes(pattern, &words[from..]).filter(|&count| count > 0) else {
                continue;
            };
            match around(&words[..from], &words[from + count..], clause) {
                None => {
                    let phrase = words[from..from + count].join(" ");
                    return Finding::Wish { phrase, how: *how };
                }
                // Only the listed phrases are worth reporting as mentions.
                Some(kind) if *how == Match::Exact => mention = Finding::Mention(kind),
                Some(_) => {}
            }
        }
    }
    mention
}

/// What the words around a phrase make of it; nothing if they leave it a wish.
fn around(left: &[&str], right: &[&str], clause: &Clause<'_>) -> Option<MentionKind> {
    let left = match left {
        ["why", "dont", "we" | "you", rest @ ..] | ["why", "not", rest @ ..] => rest,
        ["if", "you" | "its" | "thats", "dont" | "ok" | "okay" | "alright" | "fine", "mind", rest @ ..] => {
            rest
        }
        ["what", "if", "we", rest @ ..] => rest,
        _ => left,
    };
    let frame = |word: &&str| GRAMMAR.known(word).is_frame;
    let denied = left.iter().enumerate().any(|(at, word)| {
        let mind = *word == "dont" && left.get(at + 1).is_some_and(|next| *next == "mind");
        // "I'd rather start over" wants it; "rather than start over" does not.
        let rather = *word == "rather" && left.get(at + 1).is_none_or(|next| *next != "than");
        NEGATIONS.has(word) && !mind && !rather
    });
    if denied {
        return Some(MentionKind::Negated);
    }
    if clause.conditional && !left.starts_with(&["if", "you", "dont", "mind"]) {
        return Some(MentionKind::Inside);
    }
    if tells(left) {
        return Some(MentionKind::Inside);
    }
    let right_frames = right.iter().take_while(|word| frame(word)).count();
    let rest = &right[right_frames..];
    let continues = matches!(right, ["with", "a", "clean" | "fresh" | "new" | "blank" | "empty", ..] if right.len() <= 5)
        || right.first().is_some_and(|word| ABOUT.has(word) && right.len() > 1)
        || rest.first().is_some_and(|word| NEXT.has(word) && !rest.contains(&"over"))
        || right.first().is_some_and(|word| NEXT.has(word) && right.get(1) != Some(&"over"));
    if left.iter().all(frame) && (rest.is_empty() || continues) {
        // "it is a fresh start" tells; "is it a new chat?" asks.
        let asks = clause.asks && left.first().is_some_and(|word| ASKING.has(word));
        return asks.then_some(MentionKind::Question);
    }
    let asking = clause.asks || left.first().is_some_and(|word| ASKING.has(word));
    Some(if asking { MentionKind::Question } else { MentionKind::Inside })
}

/// "I change the subject" tells what someone does; "can I change the subject" asks for it.
fn tells(left: &[&str]) -> bool {
    let Some((subject, before)) = left.split_last() else { return false };
    matches!(*subject, "i" | "we" | "you" | "they" | "it") && !before.iter().any(|word| WISHING.has(word))
}

/// Puts listed words in the place of misspelled ones; at most two letters in all.
fn correct<'a>(words: &[&'a str], known: &[Known]) -> Option<(Vec<Cow<'a, str>>, u8)> {
    let mut left = 2;
    let mut total = 0;
    let mut out = Vec::with_capacity(words.len());
    for (word, known) in words.iter().zip(known) {
        let fixed = if known.is_frame || known.is_real { None } else { nearest(word, left) };
        match fixed {
            Some((meant, distance)) => {
                left -= distance;
                total += distance;
                out.extend(meant.into_iter().map(Cow::Owned));
            }
            None => out.push(Cow::Borrowed(*word)),
        }
    }
    (total > 0).then_some((out, total as u8))
}

/// Two words of a phrase that were written as one have so many letters each.
const PART_LETTERS_MIN: usize = 3;

fn nearest(word: &str, left: usize) -> Option<(Vec<String>, usize)> {
    let grammar = &*GRAMMAR;
    if left == 0 || !word.is_ascii() {
        return None;
    }
    let spelled = Spelled::new(word);
    // A missing space: "newchat".
    let parts =
        grammar.vocabulary.iter().filter(|first| spelled.has_letters_of(**first)).filter_map(|first| {
            let rest = word.strip_prefix(first.word)?;
            let is_long = first.word.len() >= PART_LETTERS_MIN && rest.len() >= PART_LETTERS_MIN;
            (is_long && grammar.known(rest).is_listed).then_some((first.word, rest))
        });
    if let Some((first, second)) = parts.min_by_key(|(first, _)| first.len()) {
        return Some((vec![first.to_owned(), second.to_owned()], 1));
    }
    if NEW_MISSPELLED.has(word) {
        return Some((vec!["new".to_owned()], 1));
    }
    let near = |meant: Spelled<'_>| {
        let limit = match meant.word.len() {
            0..=3 => 0,
            4..=6 => 1,
            letters => typo::allowed(letters + 4),
        };
        typo::distance(spelled, meant, limit.min(left))
    };
    grammar
        .vocabulary
        .iter()
        .filter_map(|meant| near(*meant).map(|distance| (distance, meant.word)))
        .min()
        .map(|(distance, meant)| (vec![meant.to_owned()], distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tries every pattern at every word.
    fn find_slowly(words: &[&str], clause: &Clause<'_>) -> Finding {
        let mut mention = Finding::Nothing;
        for (pattern, how) in &GRAMMAR.patterns {
            for from in 0..words.len() {
                let Some(count) = takes(pattern, &words[from..]).filter(|&count| count > 0) else {
                    continue;
                };
                match around(&words[..from], &words[from + count..], clause) {
                    None => {
                        return Finding::Wish { phrase: words[from..from + count].join(" "), how: *how };
                    }
                    Some(kind) if *how == Match::Exact => mention = Finding::Mention(kind),
                    Some(_) => {}
                }
            }
        }
        mention
    }

    #[test]
    fn every_pattern_has_its_bit() {
        assert!(GRAMMAR.patterns.len() <= 128);
        for (pattern, _) in &GRAMMAR.patterns {
            assert!(pattern.beginnings().next().is_some());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn r3_the_short_way_finds_what_the_long_way_finds(
            picked in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
            asks in any::<bool>(),
            conditional in any::<bool>(),
        ) {
            // Words that stand side by side in a pattern, so that something is found often enough.
            let mut words = Vec::new();
            for (pattern, word) in picked {
                let (pattern, _) = pattern.get(&GRAMMAR.patterns);
                let all: Vec<&str> = pattern.units().copied().collect();
                let at = word.index(all.len());
                words.push(all[at]);
                words.extend(all.get(at + 1));
            }
            let text = words.join(" ");
            let clause = Clause { text: &text, asks, conditional, alone: true };
            let known: Vec<Known> = words.iter().map(|word| GRAMMAR.known(word)).collect();
            prop_assert_eq!(find(&words, &known, &clause), find_slowly(&words, &clause));
        }
    }
}
