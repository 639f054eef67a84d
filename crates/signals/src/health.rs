//! R-7: whether the conversation gets anywhere.

use crate::profile::Role;
use crate::text::{Window, fold};

/// One message, oldest first in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthMessage<'a> {
    /// Who wrote it.
    pub role: Role,
    /// What it says.
    pub text: &'a str,
}

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

/// Messages that are looked at, counted from the end.
pub const MESSAGES_MAX: usize = 16;
const ERROR_REPEATS_MIN: usize = 3;
const NEGATIVES_MIN: usize = 2;
const CONTRADICTION_SPAN: usize = 5;

/// Judges the end of a conversation; only the last sixteen messages count.
///
/// ```
/// use segue_signals::{Role, health::{HealthMessage, HealthState, judge_health}};
/// let says = |role, text| HealthMessage { role, text };
/// let talk = [
///     says(Role::Assistant, "Try this."), says(Role::User, "no"),
///     says(Role::Assistant, "Then this."), says(Role::User, "wrong again"),
/// ];
/// assert_eq!(judge_health(&talk).state, HealthState::Bad);
/// ```
#[must_use]
pub fn judge_health(messages: &[HealthMessage<'_>]) -> Health {
    let recent = &messages[messages.len().saturating_sub(MESSAGES_MAX)..];
    let checks = [error_loop(recent), frustration(recent), contradiction(recent), dead_end(recent)];
    let findings: Vec<Finding> = checks.into_iter().flatten().collect();
    let state = if findings.is_empty() { HealthState::Good } else { HealthState::Bad };
    let said: Vec<String> = findings.iter().map(Finding::sentence).collect();
    let evidence = if said.is_empty() { "no trouble found".to_owned() } else { said.join("; ") };
    Health { state, findings, evidence }
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

const ERROR_WORDS: [&str; 14] = [
    "error",
    "exception",
    "failed",
    "failure",
    "traceback",
    "panicked",
    "cannot ",
    "fatal",
    "denied",
    "错误",
    "失败",
    "异常",
    "报错",
    "无法",
];

/// A quick look, because this is asked of every recent message for every message: most tell of no error.
fn may_tell_of_an_error(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let wide = |ch: char| ('\u{ff01}'..='\u{ff5e}').contains(&ch);
    ERROR_WORDS.iter().any(|word| lower.contains(word)) || lower.chars().any(wide)
}

fn error_loop(messages: &[HealthMessage<'_>]) -> Option<Finding> {
    let mut seen: Vec<(String, usize, String)> = Vec::new();
    for message in messages {
        let mut here: Vec<String> = Vec::new();
        let (text, _) = Window::PHRASES.cut(message.text);
        if !may_tell_of_an_error(text) {
            continue;
        }
        for line in text.lines() {
            let error = plain(line.trim());
            if error.chars().count() >= 4
                && ERROR_WORDS.iter().any(|word| error.contains(word))
                && !here.contains(&error)
            {
                match seen.iter_mut().find(|(known, _, _)| *known == error) {
                    Some((_, times, _)) => *times += 1,
                    None => seen.push((error.clone(), 1, line.trim().to_owned())),
                }
                here.push(error);
            }
        }
    }
    let (_, times, line) = seen.into_iter().rev().max_by_key(|(_, times, _)| *times)?;
    (times >= ERROR_REPEATS_MIN).then(|| Finding::ErrorLoop { error: line.chars().take(80).collect(), times })
}

const NEGATIVES: &str = "no|nope|wrong|not this|not that|still wrong|still not|nothing works|doesnt work|does not work|not working|incorrect|thats not|that is not|thats wrong|bad|useless|not right|not what i|still broken|again wrong|no no|still fails|still failing|still the same|same error|same problem|didnt work|did not work|didnt help|ugh|terrible|stop|\
不对|不是|错了|不行|没用|还是不行|不是这个|还是错|又错|不好|没有用|还是一样|不能用|不管用|还是报错|还是不对|烦";
const NEGATIVE_CHARS_MAX: usize = 40;

fn is_short_negative(text: &str) -> bool {
    let text: String = plain(text.trim()).chars().filter(|ch| *ch != '\'').collect();
    if text.chars().count() > NEGATIVE_CHARS_MAX {
        return false;
    }
    let words: Vec<&str> =
        text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let joined = format!(" {} ", words.join(" "));
    NEGATIVES.split('|').any(|phrase| {
        if phrase.is_ascii() { joined.contains(&format!(" {phrase} ")) } else { text.contains(phrase) }
    })
}

fn frustration(messages: &[HealthMessage<'_>]) -> Option<Finding> {
    let mut count = 0;
    for (at, message) in messages.iter().enumerate().rev() {
        match message.role {
            Role::User if is_short_negative(message.text) => {
                // A plain "no" to a question is an answer, not a complaint.
                let asked = at > 0 && super::features::ends_with_question(messages[at - 1].text.trim_end());
                let bare = message.text.trim().chars().count() <= 4;
                if asked && bare {
                    break;
                }
                count += 1;
            }
            Role::User => break,
            Role::Assistant | Role::System | Role::Tool => {}
        }
    }
    (count >= NEGATIVES_MIN).then_some(Finding::Frustration { messages: count })
}

const NEGATIONS: &str =
    "not|no|never|cannot|cant|isnt|arent|doesnt|dont|wont|didnt|wasnt|unable|without|neither";
const FILLERS: &str = "the|a|an|is|are|it|this|that|to|of|in|on|and|you|i|does|do|will|can|be|was|were|yes|sorry|actually|so|but|there";

/// A statement without its polarity: its words in order, and whether it is denied.
fn statement(sentence: &str) -> Option<(Vec<String>, bool)> {
    let plain: String = plain(sentence).chars().filter(|ch| *ch != '\'').collect();
    let mut denied = false;
    let mut words = Vec::new();
    let listed = |list: &str, word: &str| list.split('|').any(|known| known == word);
    for word in plain.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if listed(NEGATIONS, word) {
            denied = !denied;
        } else if word.is_ascii() {
            if !listed(FILLERS, word) {
                // "supports" and "support" are one word here.
                words.push(word.trim_end_matches('s').to_owned());
            }
        } else {
            let bare = word.replace(['不', '没', '未'], "");
            denied ^= (word.chars().count() - bare.chars().count()) % 2 == 1;
            words.extend(bare.chars().filter(|ch| !"的了是有会能它这那".contains(*ch)).map(String::from));
        }
    }
    (words.len() >= 2).then_some((words, denied))
}

fn contradiction(messages: &[HealthMessage<'_>]) -> Option<Finding> {
    let last = &messages[messages.len().saturating_sub(CONTRADICTION_SPAN)..];
    let mut earlier: Vec<(Vec<String>, bool)> = Vec::new();
    for message in last.iter().filter(|message| message.role == Role::Assistant) {
        let text = Window::MESSAGE.cut(message.text).0;
        let sentences =
            text.split(['.', '!', '\n', '。', '！', ';', '；']).filter(|text| !text.contains(['?', '？']));
        let mut mine = Vec::new();
        for sentence in sentences.take(24) {
            let Some((words, denied)) = statement(sentence) else { continue };
            let opposite = earlier.iter().any(|(other, was)| *was != denied && alike(&words, other));
            if opposite {
                return Some(Finding::Contradiction {
                    statement: sentence.trim().chars().take(80).collect(),
                });
            }
            mine.push((words, denied));
        }
        earlier.extend(mine);
    }
    None
}

fn alike(one: &[String], other: &[String]) -> bool {
    let shared = one.iter().filter(|word| other.contains(word)).count();
    let longest = one.len().max(other.len());
    shared * 5 >= longest * 4
}

const HELPLESS: &str = "i cant help|i cannot help|im unable|i am unable|i dont know|i do not know|im not able|i am not able|theres nothing|there is nothing|no way to|impossible|im not sure|i give up|cant do that|cannot do that|no idea|无法帮|不知道|没有办法|没办法|做不到|不清楚|帮不了|无能为力";
const NEXT_STEPS: &str = "you can|you could|try|let me|would you|could you|i can|i could|instead|alternatively|next|should i|shall i|want me|if you|check|可以|试试|要不要|建议|或者|您可|你可|需要我|不妨|检查|换";

fn dead_end(messages: &[HealthMessage<'_>]) -> Option<Finding> {
    let last = messages.iter().rev().find(|message| message.role == Role::Assistant)?;
    let text: String = plain(last.text).chars().filter(|ch| *ch != '\'').collect();
    let has = |list: &str| list.split('|').any(|phrase| text.contains(phrase));
    (has(HELPLESS) && !has(NEXT_STEPS) && !text.contains('?')).then_some(Finding::DeadEnd)
}
