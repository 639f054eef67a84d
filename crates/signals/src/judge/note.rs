//! Notes: what is kept of a message, so that it can be compared with those after it.

use std::sync::LazyLock;

use super::lexicon::{LEXICON, Mark, Marks};
use super::words;
use crate::code::{Code, code_in};
use crate::cues::{CUES, CueSet, ends_with_question};
use crate::hash::WordHash;
use crate::phrases::lists::Phrases;
use crate::phrases::table::CUE;
use crate::sentences::{asks, is_courtesy, sentences};
use crate::text::{Kind, Reading, Token, Window};

/// Words after which a beginning is over.
const EARLY_TOKENS: usize = 6;
/// A longer message does not merely close the matter: "thanks, that's all", 好了, and little more.
const CLOSING_WORDS_MAX: f32 = 6.0;
/// How much of a message's end is looked at for a question.
const ENDING_BYTES: usize = 400;
/// How much of its beginning is looked at for signs.
const SIGNS_CHARS: usize = 400;
/// Sentences that are counted.
const SENTENCES_MAX: usize = 12;

/// Words that announce material which follows.
static MATERIAL: LazyLock<Phrases> = LazyLock::new(|| CUE.anywhere("material"));
/// Words that take in what was said, at the beginning of a message.
static ACKNOWLEDGING: LazyLock<Vec<String>> = LazyLock::new(|| CUE.entries("acknowledging"));
/// Words that ask for material, in the last sentence of a message.
static WANTING: LazyLock<Phrases> = LazyLock::new(|| CUE.anywhere("wants material"));

/// What is kept of a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    /// Content words, sorted, once each: stems, and pairs of characters where there are no spaces.
    pub(super) words: Vec<WordHash>,
    /// File names, identifiers and the like, sorted, once each.
    pub(super) names: Vec<WordHash>,
    pub(super) anywhere: CueSet,
    pub(super) opening: CueSet,
    pub(super) marks: Marks,
    pub(super) early: Marks,
    pub(super) all_marks: Marks,
    /// Whether it opens with "ok", "thanks" or the like, which is then not looked at.
    pub(super) filler: bool,
    /// Length in words; a character of a script without spaces is half a word.
    pub(super) size: f32,
    pub(super) content: f32,
    pub(super) numbers: f32,
    pub(super) sentences: f32,
    pub(super) lines: f32,
    pub(super) signs: f32,
    pub(super) script: Option<f32>,
    pub(super) capital: bool,
    pub(super) stop: bool,
    pub(super) colon: bool,
    pub(super) question: bool,
    pub(super) asks: bool,
    pub(super) material: bool,
    pub(super) listed: bool,
    pub(super) code: Code,
    pub(super) leaves_open: bool,
    pub(super) closes: bool,
    pub(super) says_nothing: bool,
    /// Whether it opens with "got it" or the like: what was said before is taken in.
    pub(super) acknowledges: bool,
    /// Whether it ends with a request for material: "please paste the text".
    pub(super) wants_material: bool,
    /// The first two words.
    pub(super) first: Option<WordHash>,
}

impl Note {
    pub(crate) fn of(text: &str) -> Self {
        let reading = Reading::new(text, Window::MESSAGE);
        let tokens = &reading.tokens;
        let proper = after_fillers(tokens);
        let cues = CUES.cues(tokens);
        let (content, words) = words::content(&reading);
        let (beginning, end) = (reading.beginning(), ending(text).trim_end());
        let count = |kind| tokens.iter().filter(|token| token.kind == kind).count() as f32;
        let (unspaced, spaced) = (count(Kind::Unspaced) / 2.0, count(Kind::Word));
        let size = unspaced + spaced + count(Kind::Number);
        let all_marks = LEXICON.anywhere(tokens);
        let lower = beginning.to_lowercase();
        let first_char = text.trim_start().chars().next();
        let last_char = end.chars().next_back();
        Self {
            words: words::hashes(&words),
            names: names(beginning),
            anywhere: cues.anywhere,
            opening: cues.opening,
            marks: LEXICON.begin(proper).0,
            early: LEXICON.anywhere(&proper[..proper.len().min(EARLY_TOKENS)]),
            all_marks,
            filler: proper.len() < tokens.len(),
            size,
            content,
            numbers: count(Kind::Number),
            sentences: sentences(beginning).take(SENTENCES_MAX).count() as f32,
            lines: beginning.lines().filter(|line| !line.trim().is_empty()).count() as f32,
            signs: signs(beginning),
            script: (unspaced + spaced >= 2.0).then(|| unspaced / (unspaced + spaced)),
            capital: first_char.is_some_and(char::is_uppercase),
            stop: last_char.is_some_and(|ch| ".!。！".contains(ch)),
            colon: last_char.is_some_and(|ch| ":：".contains(ch)),
            question: ends_with_question(end),
            asks: sentences(beginning).take(SENTENCES_MAX).any(asks),
            material: MATERIAL.any_in(&lower),
            listed: first_char.is_some_and(|ch| ch.is_numeric() || "-*•#>|{[<(\"“'`".contains(ch)),
            code: code_in(text),
            leaves_open: ends_with_question(end)
                && sentences(end).last().is_none_or(|sentence| !is_courtesy(sentence)),
            closes: size <= CLOSING_WORDS_MAX && all_marks.has(Mark::Closing),
            says_nothing: CUES.says_nothing(tokens),
            acknowledges: ACKNOWLEDGING.iter().any(|words| lower.trim_start().starts_with(words.as_str())),
            wants_material: wants_material(end),
            first: tokens.iter().take(2).map(|token| token.hash).reduce(WordHash::then),
        }
    }
}

fn ending(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(ENDING_BYTES))..]
}

/// Whether the last sentence asks for a text, a file or the like.
fn wants_material(end: &str) -> bool {
    let last = sentences(end).last().map(str::to_lowercase);
    last.is_some_and(|last| WANTING.any_in(&last))
}

/// Skips "ok", "thanks" and the like.
fn after_fillers(tokens: &[Token]) -> &[Token] {
    let mut rest = tokens;
    loop {
        let (_, taken) = LEXICON.begin(rest);
        if taken == 0 {
            return rest;
        }
        rest = &rest[taken..];
    }
}

/// How much of a text is signs, as in code and logs.
fn signs(text: &str) -> f32 {
    let (mut all, mut signs) = (0_u32, 0_u32);
    for ch in text.chars().take(SIGNS_CHARS) {
        all += 1;
        signs += u32::from("{}<>=;()[]_\\|/`#$:*".contains(ch));
    }
    signs as f32 / all.max(1) as f32
}

/// Words that only something with a name has: `main.rs`, `--verbose`, `user_id`, `v1.2`.
fn names(text: &str) -> Vec<WordHash> {
    let word = |word: &str| {
        let word = word.trim_matches(|ch: char| !ch.is_alphanumeric());
        let inner = word.contains(['_', '.', '/', '-', '@', '#', ':'])
            || word.chars().skip(1).any(char::is_uppercase);
        (inner && word.len() >= 3 && word.len() <= 80 && word.contains(char::is_alphabetic))
            .then(|| WordHash::of(&word.to_lowercase()))
    };
    let mut names: Vec<WordHash> = text.split_whitespace().filter_map(word).collect();
    names.sort_unstable();
    names.dedup();
    names
}
