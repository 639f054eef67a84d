//! R-3: the explicit wish to start over, and what only looks like one.
//!
//! A phrase of 003 is an intent when its clause says nothing else: "let's start over, please" is
//! one, "how do I start over in this game?" is not. So a clause is taken apart into the phrase and
//! the polite words around it, and whatever is left speaks against it.

mod chinese;
pub(crate) mod clauses;
mod english;

use crate::cues::CUES;
use crate::text::{Reading, Window};
use clauses::Clause;

/// How a wish was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// A phrase of the lists, as it stands there or inflected.
    Exact,
    /// Such a phrase, misspelled.
    Typo {
        /// Letters that differ, at most two.
        distance: u8,
    },
    /// Other words for the same wish.
    Paraphrase,
}

/// Why a phrase that is there is no wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionKind {
    /// It stands in quotes, or in pasted text.
    Quoted,
    /// It stands in code.
    Code,
    /// It is denied: "don't start over".
    Negated,
    /// It is asked about: "how do I start a new chat?"
    Question,
    /// It is part of another sentence.
    Inside,
}

/// What a message says about starting over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplicitIntent {
    /// The person wants to start over, or wants another topic.
    StartOver {
        /// The words that say so, as a list entry.
        phrase: String,
        /// How they were recognised.
        how: Match,
        /// One sentence for the decision record.
        evidence: String,
    },
    /// The words are there, the wish is not.
    Mention {
        /// Why not.
        kind: MentionKind,
        /// One sentence for the decision record.
        evidence: String,
    },
    /// Nothing of the kind.
    Absent,
}

impl ExplicitIntent {
    /// Whether the person wants to start over.
    #[must_use]
    pub fn is_start_over(&self) -> bool {
        matches!(self, Self::StartOver { .. })
    }
}

/// What one clause says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finding {
    Wish { phrase: String, how: Match },
    Mention(MentionKind),
    Nothing,
}

/// Looks for the wish to start over.
///
/// ```
/// use segue_signals::intent::explicit_intent;
/// assert!(explicit_intent("ok, let's strat over").is_start_over());
/// assert!(explicit_intent("我们换个话题吧").is_start_over());
/// assert!(!explicit_intent("don't start over, just fix the last step").is_start_over());
/// ```
#[must_use]
pub fn explicit_intent(text: &str) -> ExplicitIntent {
    let (head, _) = Window::PHRASES.cut(text);
    let stripped = clauses::strip(head);
    let mut mention = None;
    for clause in clauses::split(&stripped.text) {
        match judge(&clause) {
            Finding::Wish { phrase, how } => {
                let evidence = match how {
                    Match::Exact => format!("says \"{phrase}\""),
                    Match::Typo { distance } => format!("says \"{phrase}\" with {distance} letters wrong"),
                    Match::Paraphrase => format!("says \"{phrase}\" in other words"),
                };
                return ExplicitIntent::StartOver { phrase, how, evidence };
            }
            Finding::Mention(kind) => mention = mention.or(Some(kind)),
            Finding::Nothing => {}
        }
    }
    let hidden = || stripped.hidden.iter().find(|(_, text)| mentions(text)).map(|&(kind, _)| kind);
    match mention.or_else(hidden) {
        Some(kind) => ExplicitIntent::Mention { kind, evidence: sentence(kind).to_owned() },
        None => ExplicitIntent::Absent,
    }
}

/// Tells whether a message says that it is about something else, and not about what: nothing can be compared with it.
///
/// ```
/// use segue_signals::intent::is_bare_wish;
/// assert!(is_bare_wish("Let's start over."));
/// assert!(!is_bare_wish("New topic: how do I bake bread?"));
/// ```
#[must_use]
pub fn is_bare_wish(text: &str) -> bool {
    if text.len() > BARE_BYTES_MAX {
        return false;
    }
    let stripped = clauses::strip(text);
    let mut wished = false;
    for clause in clauses::split(&stripped.text) {
        match judge(&clause) {
            Finding::Wish { phrase, how } => {
                let misspelled = if let Match::Typo { distance } = how { usize::from(distance) } else { 0 };
                let bare = match phrase.is_ascii() {
                    true => english::left_over(&clause, &phrase) <= misspelled,
                    false => clause.text.chars().count() <= phrase.chars().count() + POLITE_CHARS_MAX,
                };
                if !bare {
                    return false;
                }
                wished = true;
            }
            Finding::Mention(_) | Finding::Nothing if says_nothing(clause.text) => {}
            Finding::Mention(_) | Finding::Nothing => return false,
        }
    }
    wished && stripped.hidden.is_empty()
}

fn says_nothing(text: &str) -> bool {
    CUES.says_nothing(&Reading::new(text, Window::MESSAGE).tokens)
}

/// A longer message says more than a wish.
const BARE_BYTES_MAX: usize = 160;
/// What may stand around a wish in Chinese: 我们换个话题吧.
const POLITE_CHARS_MAX: usize = 4;

fn judge(clause: &Clause<'_>) -> Finding {
    match chinese::judge(clause) {
        Finding::Nothing => english::judge(clause),
        found => found,
    }
}

/// Whether the words of a wish are anywhere in a text.
fn mentions(text: &str) -> bool {
    clauses::split(text).any(|clause| judge(&clause) != Finding::Nothing)
}

fn sentence(kind: MentionKind) -> &'static str {
    match kind {
        MentionKind::Quoted => "the phrase is quoted, not meant",
        MentionKind::Code => "the phrase stands in code",
        MentionKind::Negated => "the phrase is denied",
        MentionKind::Question => "the phrase is asked about",
        MentionKind::Inside => "the phrase is part of another sentence",
    }
}
