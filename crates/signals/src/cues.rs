//! Cues: small closed lists of words that say what a message does rather than what it is about.
//!
//! The learned part could find them by itself in the sets it was fitted on. Written down they also
//! hold for texts that look like none of them.

use std::sync::LazyLock;

use crate::hash::WordHash;
use crate::phrases::table::CUE;
use crate::text::{Reading, Token, Window, fold};

/// What a word or phrase does in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cue {
    Greeting,
    Parting,
    Thanks,
    Closing,
    OfferMore,
    Agree,
    Disagree,
    Anaphora,
    Continue,
    Request,
    Question,
    Switch,
    Refer,
    Done,
}

impl Cue {
    pub(crate) const COUNT: usize = 14;
    /// Each with its list in `phrases/cue.txt`.
    const LISTS: [(Self, &'static str); Self::COUNT] = [
        (Self::Greeting, "greeting"),
        (Self::Parting, "parting"),
        (Self::Thanks, "thanks"),
        (Self::Closing, "closing"),
        (Self::OfferMore, "offers more"),
        (Self::Agree, "agree"),
        (Self::Disagree, "disagree"),
        (Self::Anaphora, "anaphora"),
        (Self::Continue, "continue"),
        (Self::Request, "request"),
        (Self::Question, "question"),
        (Self::Switch, "switch"),
        (Self::Refer, "refer"),
        (Self::Done, "done"),
    ];

    /// Says yes, no, hello or thanks: what is said about any topic.
    const EMPTY: [Self; 6] =
        [Self::Greeting, Self::Parting, Self::Thanks, Self::Closing, Self::Agree, Self::Disagree];

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of cues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CueSet(u32);

impl CueSet {
    pub(crate) fn has(self, cue: Cue) -> bool {
        self.0 & cue.bit() != 0
    }

    /// One number for each cue, in a fixed order.
    pub(crate) fn numbers(self) -> impl Iterator<Item = f32> {
        (0..Cue::COUNT).map(move |at| ((self.0 >> at) & 1) as f32)
    }
}

/// The cues of one message: anywhere, and among its first words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cues {
    pub(crate) anywhere: CueSet,
    pub(crate) opening: CueSet,
}

/// A question mark among the last characters, also before a closing quote or an emoji.
pub(crate) fn ends_with_question(text: &str) -> bool {
    text.chars().rev().take(4).any(|ch| fold(ch) == '?')
}

/// Words in the opening of a message.
const OPENING_TOKENS: usize = 3;
const PHRASE_TOKENS_MAX: usize = 4;
/// Size of the first filter, in bits; a power of two well above the number of phrases.
const FILTER_BITS: usize = 8_192;

/// The table of all phrases.
pub(crate) static CUES: LazyLock<CueTable> = LazyLock::new(CueTable::new);

/// All phrases by hash, ready for looking up.
#[derive(Clone, Debug)]
pub(crate) struct CueTable {
    phrases: Vec<(WordHash, Cue)>,
    /// Most words are no cue: one bit rules them out without a search.
    filter: Vec<u64>,
}

impl CueTable {
    fn new() -> Self {
        let mut phrases = Vec::new();
        for (cue, list) in Cue::LISTS {
            for phrase in CUE.lines(list).flat_map(|line| line.split('|')) {
                let tokens = Reading::new(phrase, Window::MESSAGE).tokens;
                if let Some(hash) = tokens.iter().map(|token| token.hash).reduce(WordHash::then) {
                    phrases.push((hash, cue));
                }
            }
        }
        phrases.sort_by_key(|&(hash, cue)| (hash, cue as u32));
        let mut filter = vec![0_u64; FILTER_BITS / 64];
        for (hash, _) in &phrases {
            let bit = hash.0 as usize % FILTER_BITS;
            filter[bit / 64] |= 1 << (bit % 64);
        }
        Self { phrases, filter }
    }

    fn find(&self, hash: WordHash, found: &mut u32) {
        let bit = hash.0 as usize % FILTER_BITS;
        if self.filter[bit / 64] & (1 << (bit % 64)) == 0 {
            return;
        }
        let from = self.phrases.partition_point(|&(other, _)| other < hash);
        let same = self.phrases[from..].iter().take_while(|&&(other, _)| other == hash);
        *found |= same.fold(0, |bits, (_, cue)| bits | cue.bit());
    }

    /// Whether a message says no more than yes, no, hello or thanks.
    pub(crate) fn says_nothing(&self, tokens: &[Token]) -> bool {
        let empty = Cue::EMPTY.iter().fold(0, |bits, cue| bits | cue.bit());
        let is_empty = |hash: WordHash| {
            let mut found = 0;
            self.find(hash, &mut found);
            found & empty != 0
        };
        let mut at = 0;
        while at < tokens.len() {
            // The longest phrase of the lists that begins here.
            let mut phrase = None;
            let mut taken = 0;
            for (count, token) in tokens[at..].iter().take(PHRASE_TOKENS_MAX).enumerate() {
                let joined = phrase.map_or(token.hash, |start: WordHash| start.then(token.hash));
                if is_empty(joined) {
                    taken = count + 1;
                }
                phrase = Some(joined);
            }
            if taken == 0 {
                return false;
            }
            at += taken;
        }
        true
    }

    pub(crate) fn cues(&self, tokens: &[Token]) -> Cues {
        let (mut anywhere, mut opening) = (0, 0);
        for at in 0..tokens.len() {
            let mut found = 0;
            let mut phrase = None;
            for token in tokens[at..].iter().take(PHRASE_TOKENS_MAX) {
                let joined = phrase.map_or(token.hash, |start: WordHash| start.then(token.hash));
                self.find(joined, &mut found);
                phrase = Some(joined);
            }
            anywhere |= found;
            if at < OPENING_TOKENS {
                opening |= found;
            }
        }
        Cues { anywhere: CueSet(anywhere), opening: CueSet(opening) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cues(text: &str) -> Cues {
        CueTable::new().cues(&Reading::new(text, Window::MESSAGE).tokens)
    }

    #[test]
    fn phrases_are_found_in_both_languages() {
        assert!(cues("Thanks, that's all I need.").anywhere.has(Cue::Closing));
        assert!(cues("谢谢，没有其他问题了").anywhere.has(Cue::Closing));
        assert!(cues("你好，我想订酒店").opening.has(Cue::Greeting));
        assert_eq!(cues(""), Cues::default());
    }

    #[test]
    fn a_yes_says_nothing_about_a_topic() {
        let says_nothing = |text| CueTable::new().says_nothing(&Reading::new(text, Window::MESSAGE).tokens);
        assert!(says_nothing("ok, thanks!") && says_nothing("好的，谢谢") && says_nothing(""));
        assert!(!says_nothing("ok, the parser") && !says_nothing("好的酒店在哪"));
    }
}
