//! R-7: whether the conversation gets anywhere.

use std::sync::LazyLock;

use crate::hash::WordHash;
use crate::phrases::lists::{Phrases, Words};
use crate::phrases::table::HEALTH;
use crate::remark::KEPT_MAX;
use crate::role::Role;
use crate::text::{Window, fold};

/// Whether the conversation is productive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthState {
    /// Nothing is wrong.
    Good,
    /// It is stuck.
    Bad,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The same error, three times or more.
    ErrorLoop {
        /// The beginning of the error.
        error: String,
        /// How often.
        times: usize,
    },
    /// Short negative messages in a row.
    Frustration {
        /// How many.
        messages: usize,
    },
    /// The agent said a thing and its opposite within five messages.
    Contradiction {
        /// The later statement.
        statement: String,
    },
    /// The agent's last message leads nowhere.
    DeadEnd,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Good if nothing was found.
    pub state: HealthState,
    /// Everything that was found.
    pub findings: Vec<Finding>,
    /// One sentence for the decision record.
    pub evidence: String,
}

const ERROR_REPEATS_MIN: usize = 3;
const NEGATIVES_MIN: usize = 2;
const CONTRADICTION_SPAN: usize = 5;
/// How much of an error or a statement is shown.
const SHOWN_CHARS_MAX: usize = 80;
/// A "no" with nothing to it.
const BARE_CHARS_MAX: usize = 4;
/// How many sentences of a message are read as statements.
const CLAIMS_MAX: usize = 24;

/// Judges the end of a conversation; only the last sixteen messages count.
///
/// ```
/// use segue_signals::{Role, health::{HealthState, Symptoms, judge_health}};
/// let talk = [
///     Symptoms::of(Role::Assistant, "Try this."), Symptoms::of(Role::User, "no"),
///     Symptoms::of(Role::Assistant, "Then this."), Symptoms::of(Role::User, "wrong again"),
/// ];
/// assert_eq!(judge_health(&talk).state, HealthState::Bad);
/// ```
#[must_use]
pub fn judge_health<'a>(messages: impl IntoIterator<Item = &'a Symptoms>) -> Health {
    let messages: Vec<&Symptoms> = messages.into_iter().collect();
    let recent = &messages[messages.len().saturating_sub(KEPT_MAX)..];
    let checks = [error_loop(recent), frustration(recent), contradiction(recent), dead_end(recent)];
    let findings: Vec<Finding> = checks.into_iter().flatten().collect();
    let state = if findings.is_empty() { HealthState::Good } else { HealthState::Bad };
    let said: Vec<String> = findings.iter().map(Finding::sentence).collect();
    let evidence = if said.is_empty() { "no trouble found".to_owned() } else { said.join("; ") };
    Health { state, findings, evidence }
}

/// What one message shows of the conversation's health.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symptoms {
    role: Role,
    /// Its errors as they compare, and as they were written; each once.
    errors: Vec<(String, String)>,
    mood: Mood,
    /// Whether it asks something at its end.
    asks: bool,
    /// What an agent claims.
    claims: Vec<Claim>,
    way: Way,
}

/// How a person takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mood {
    #[default]
    Calm,
    /// A short negative message.
    Negative,
    /// Nothing but a "no".
    BareNo,
}

/// Whether an agent's message leads on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    #[default]
    Open,
    DeadEnd,
}

/// A statement without its polarity: its words in order, and whether it is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Claim {
    words: Vec<WordHash>,
    polarity: Polarity,
    sentence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Polarity {
    Asserted,
    Denied,
}

impl Symptoms {
    /// Reads a message.
    #[must_use]
    pub fn of(role: Role, text: &str) -> Self {
        let by_person = role == Role::User;
        let by_agent = role == Role::Assistant;
        let negative = by_person && is_short_negative(text);
        Self {
            role,
            errors: errors(text),
            mood: match () {
                () if !negative => Mood::Calm,
                () if text.trim().chars().count() <= BARE_CHARS_MAX => Mood::BareNo,
                () => Mood::Negative,
            },
            asks: crate::cues::ends_with_question(text.trim_end()),
            claims: if by_agent { claims(text) } else { Vec::new() },
            way: if by_agent && leads_nowhere(text) { Way::DeadEnd } else { Way::Open },
        }
    }
}

impl Finding {
    fn sentence(&self) -> String {
        match self {
            Self::ErrorLoop { error, times } => format!("the same error {times} times: {error}"),
            Self::Frustration { messages } => format!("{messages} short negative messages in a row"),
            Self::Contradiction { statement } => format!("the agent contradicts itself: {statement}"),
            Self::DeadEnd => "the agent offers no next step".to_owned(),
        }
    }
}

/// Lower case, plain width, digits and addresses made equal: two reports of one error differ in them.
fn plain(text: &str) -> String {
    let (head, _) = Window::PHRASES.cut(text);
    let mut out = String::with_capacity(head.len());
    for ch in head.chars().map(fold) {
        if ch.is_ascii_digit() {
            if !out.ends_with('#') {
                out.push('#');
            }
        } else {
            out.extend(ch.to_lowercase());
        }
    }
    out
}

static ERRORS: LazyLock<Phrases> = LazyLock::new(|| HEALTH.anywhere("error"));

/// A quick look: most messages tell of no error.
fn may_tell_of_an_error(text: &str) -> bool {
    static IN_ANY_CASE: LazyLock<Phrases> = LazyLock::new(|| Phrases::in_any_case(HEALTH.entries("error")));
    let wide = |ch: char| ('\u{ff01}'..='\u{ff5e}').contains(&ch);
    IN_ANY_CASE.any_in(text) || !text.is_ascii() && text.chars().any(wide)
}

fn errors(text: &str) -> Vec<(String, String)> {
    let mut errors: Vec<(String, String)> = Vec::new();
    let (text, _) = Window::PHRASES.cut(text);
    if !may_tell_of_an_error(text) {
        return errors;
    }
    for line in text.lines() {
        let error = plain(line.trim());
        if error.chars().count() >= 4
            && ERRORS.any_in(&error)
            && !errors.iter().any(|(known, _)| *known == error)
        {
            errors.push((error, line.trim().chars().take(SHOWN_CHARS_MAX).collect()));
        }
    }
    errors
}

fn error_loop(messages: &[&Symptoms]) -> Option<Finding> {
    let mut seen: Vec<(&str, usize, &str)> = Vec::new();
    for (error, line) in messages.iter().flat_map(|message| &message.errors) {
        match seen.iter_mut().find(|(known, _, _)| known == error) {
            Some((_, times, _)) => *times += 1,
            None => seen.push((error, 1, line)),
        }
    }
    let (_, times, line) = seen.into_iter().rev().max_by_key(|(_, times, _)| *times)?;
    (times >= ERROR_REPEATS_MIN).then(|| Finding::ErrorLoop { error: line.to_owned(), times })
}

const NEGATIVE_CHARS_MAX: usize = 40;
/// No run of digits is that long.
const NEGATIVE_BYTES_MAX: usize = 400;

fn is_short_negative(text: &str) -> bool {
    // Words of a script with spaces count as a whole: "no" is not in "nothing".
    static NEGATIVES: LazyLock<Phrases> = LazyLock::new(|| HEALTH.whole("negative"));
    // What stays of it, however long its numbers are: most messages are too long for a short one.
    let stays = |ch: &char| !ch.is_ascii_digit() && *ch != '\'';
    let text = text.trim();
    if text.len() > NEGATIVE_BYTES_MAX {
        return false;
    }
    if text.chars().map(fold).filter(stays).nth(NEGATIVE_CHARS_MAX).is_some() {
        return false;
    }
    let text: String = plain(text).chars().filter(|ch| *ch != '\'').collect();
    if text.chars().count() > NEGATIVE_CHARS_MAX {
        return false;
    }
    let words: Vec<&str> =
        text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    NEGATIVES.any_in(&format!(" {} ", words.join(" ")))
}

fn frustration(messages: &[&Symptoms]) -> Option<Finding> {
    let mut count = 0;
    for (at, message) in messages.iter().enumerate().rev().filter(|(_, message)| message.role == Role::User) {
        match message.mood {
            Mood::Calm => break,
            // A plain "no" to a question is an answer, not a complaint.
            Mood::BareNo if at > 0 && messages[at - 1].asks => break,
            Mood::BareNo | Mood::Negative => count += 1,
        }
    }
    (count >= NEGATIVES_MIN).then_some(Finding::Frustration { messages: count })
}

fn claims(text: &str) -> Vec<Claim> {
    let text = Window::MESSAGE.cut(text).0;
    let sentences =
        text.split(['.', '!', '\n', '。', '！', ';', '；']).filter(|text| !text.contains(['?', '？']));
    sentences.take(CLAIMS_MAX).filter_map(claim).collect()
}

fn claim(sentence: &str) -> Option<Claim> {
    static DENYING: LazyLock<Words> = LazyLock::new(|| HEALTH.clauses("negation"));
    static EMPTY: LazyLock<Words> = LazyLock::new(|| HEALTH.clauses("filler"));
    let plain: String = plain(sentence).chars().filter(|ch| *ch != '\'').collect();
    let mut denials = 0;
    let mut words = Vec::new();
    for word in plain.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if DENYING.has(word) {
            denials += 1;
        } else if word.is_ascii() {
            if !EMPTY.has(word) {
                // "supports" and "support" are one word here.
                words.push(WordHash::of(word.trim_end_matches('s')));
            }
        } else {
            let mut letter = [0; 4];
            for ch in word.chars() {
                if "不没未".contains(ch) {
                    denials += 1;
                } else if !"的了是有会能它这那".contains(ch) {
                    words.push(WordHash::of(ch.encode_utf8(&mut letter)));
                }
            }
        }
    }
    let polarity = if denials % 2 == 1 { Polarity::Denied } else { Polarity::Asserted };
    let sentence = sentence.trim().chars().take(SHOWN_CHARS_MAX).collect();
    (words.len() >= 2).then_some(Claim { words, polarity, sentence })
}

fn contradiction(messages: &[&Symptoms]) -> Option<Finding> {
    let last = &messages[messages.len().saturating_sub(CONTRADICTION_SPAN)..];
    let mut earlier: Vec<&Claim> = Vec::new();
    for message in last {
        let mine = &message.claims;
        let contradicts =
            |one: &&Claim| earlier.iter().any(|other| other.polarity != one.polarity && alike(one, other));
        if let Some(claim) = mine.iter().find(contradicts) {
            return Some(Finding::Contradiction { statement: claim.sentence.clone() });
        }
        earlier.extend(mine);
    }
    None
}

fn alike(one: &Claim, other: &Claim) -> bool {
    let shared = one.words.iter().filter(|word| other.words.contains(word)).count();
    let longest = one.words.len().max(other.words.len());
    shared * 5 >= longest * 4
}

fn leads_nowhere(text: &str) -> bool {
    static HELPLESSNESS: LazyLock<Phrases> = LazyLock::new(|| HEALTH.anywhere("helpless"));
    static STEPS: LazyLock<Phrases> = LazyLock::new(|| HEALTH.anywhere("next step"));
    let text: String = plain(text).chars().filter(|ch| *ch != '\'').collect();
    HELPLESSNESS.any_in(&text) && !STEPS.any_in(&text) && !text.contains('?')
}

fn dead_end(messages: &[&Symptoms]) -> Option<Finding> {
    let last = messages.iter().rev().find(|message| message.role == Role::Assistant)?;
    (last.way == Way::DeadEnd).then_some(Finding::DeadEnd)
}
