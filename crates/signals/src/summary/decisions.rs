//! What was settled: by a sentence that says so, or by a yes to what was proposed.

use std::collections::VecDeque;
use std::sync::LazyLock;

use super::Speaker;
use super::prose::{ProseMessage, SENTENCE_CHARS_MAX, short};
use crate::phrases::lists::{Phrases, Words};
use crate::phrases::table::DECISION;
use crate::sentences::asks;
use crate::text::padded;

const DECISIONS_MAX: usize = 8;
/// Of one message: more is a plan being told, not a decision.
const PER_MESSAGE_MAX: usize = 3;
/// A longer answer says itself what it decides.
const ACCEPTANCE_CHARS_MAX: usize = 60;
/// How much of a proposal is quoted.
const PROPOSAL_CHARS_MAX: usize = 96;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Decisions {
    made: VecDeque<String>,
    /// What the agent proposed in its last message.
    proposal: Option<String>,
}

/// What a message may settle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settling {
    /// Its sentences that settle something.
    found: Vec<String>,
    /// What it proposes.
    proposal: Option<String>,
    /// What it says, if it is a yes.
    acceptance: Option<String>,
}

impl Settling {
    pub(super) fn of(said: &ProseMessage) -> Self {
        let deciding = said.sentences().filter(|sentence| settles(sentence, said.speaker));
        let found = deciding.take(PER_MESSAGE_MAX).map(|sentence| short(sentence, SENTENCE_CHARS_MAX));
        let found = found.collect();
        let (mut proposal, mut acceptance) = (None, None);
        match said.speaker {
            Speaker::Agent => {
                let proposed = said.sentences().filter(|sentence| proposes(sentence)).last();
                proposal = proposed.map(|sentence| short(sentence, PROPOSAL_CHARS_MAX));
            }
            Speaker::Person => {
                acceptance = accepts(&said.prose).then(|| short(&said.prose, ACCEPTANCE_CHARS_MAX));
            }
        }
        Self { found, proposal, acceptance }
    }
}

impl Decisions {
    pub(super) fn add(&mut self, by: Speaker, settling: &Settling) {
        match by {
            Speaker::Agent => self.proposal.clone_from(&settling.proposal),
            Speaker::Person => {
                if let (Some(proposal), Some(answer)) = (self.proposal.take(), &settling.acceptance) {
                    self.push(format!("{answer} (\"{proposal}\")"));
                    return;
                }
            }
        }
        settling.found.iter().for_each(|decision| self.push(decision.clone()));
    }

    fn push(&mut self, decision: String) {
        self.made.retain(|known| *known != decision);
        if self.made.len() == DECISIONS_MAX {
            self.made.pop_front();
        }
        self.made.push_back(decision);
    }

    pub(super) fn list(&self) -> Vec<String> {
        self.made.iter().cloned().collect()
    }
}

/// Said by anybody, these tell of a decision.
static SETTLED: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("settled"));
/// Said by the person, these make one; the agent only offers with them.
static CHOOSING: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("choosing"));
/// What takes a decision back, or puts it off.
static UNSETTLED: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("unsettled"));

fn settles(sentence: &str, speaker: Speaker) -> bool {
    if asks(sentence) || sentence.chars().count() < 3 {
        return false;
    }
    let text = padded(sentence);
    if UNSETTLED.any_in(&text) {
        return false;
    }
    match speaker {
        Speaker::Agent => SETTLED.any_in(&text),
        Speaker::Person => {
            SETTLED.any_in(&text) || CHOOSING.any_in(&text) || replaces(&text) || chooses_in_chinese(&text)
        }
    }
}

static REPLACING: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("replacing"));
static CHOOSING_VERBS: LazyLock<Vec<&str>> = LazyLock::new(|| DECISION.words("choosing verb zh"));

/// "Use Postgres instead (of MySQL)."
fn replaces(text: &str) -> bool {
    let verb = REPLACING.iter().filter_map(|verb| text.find(verb)).min();
    verb.is_some_and(|at| at <= 12 && text[at..].contains(" instead "))
}

/// "选第二个吧", "用红色的吧": a verb of choice near the beginning, and the particle at the end.
fn chooses_in_chinese(text: &str) -> bool {
    let text = text.trim();
    let close = |verb: &str| text.find(verb).is_some_and(|at| text[..at].chars().count() <= 4);
    CHOOSING_VERBS.iter().any(|verb| close(verb))
        && (text.ends_with('吧') || text.ends_with("好了") || text.ends_with("算了"))
        && !text.contains("不")
}

static PROPOSING: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("proposing"));

fn proposes(sentence: &str) -> bool {
    PROPOSING.any_in(&padded(sentence))
}

static YES: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("yes"));
/// Short words that say yes only where a message begins with them.
static YES_FIRST: LazyLock<Vec<&str>> = LazyLock::new(|| DECISION.words("yes first"));
/// What looks like a no in these is none.
static YES_STILL: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("yes still"));
static NO: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("no"));
static LETTERS: LazyLock<Words> = LazyLock::new(|| DECISION.set("letter"));
static NOT_YES: LazyLock<Phrases> = LazyLock::new(|| DECISION.whole("not yes"));

/// Whether a short message says yes, or names one of what was offered.
fn accepts(message: &str) -> bool {
    let chars = message.trim().chars().count();
    if chars == 0 || chars > ACCEPTANCE_CHARS_MAX || message.contains(['?', '？']) || asks(message.trim()) {
        return false;
    }
    let text = padded(message);
    (LETTERS.has(text.trim())
        || YES.any_in(&text)
        || YES_FIRST.iter().any(|yes| text.trim().starts_with(yes)))
        && (!NOT_YES.any_in(&text) || YES_STILL.any_in(&text) && !NO.any_in(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(lines: &[(Speaker, &str)]) -> Vec<String> {
        let mut decisions = Decisions::default();
        for &(speaker, text) in lines {
            decisions.add(speaker, &Settling::of(&ProseMessage::new(speaker, text)));
        }
        decisions.list()
    }

    #[test]
    fn r5_what_is_settled_is_quoted() {
        for text in [
            "Let's go with the blue one.",
            "We decided to leave on Friday.",
            "I'll take the window seat.",
            "Use Postgres instead.",
            "ok do B",
            "决定周五出发。",
            "就用红色的",
            "选第二个吧",
            "那就订这家酒店",
        ] {
            assert_eq!(decided(&[(Speaker::Person, text)]), [text], "{text}");
        }
        for text in [
            "We haven't decided yet.",
            "Should we go with blue?",
            "If we go with the blue one, it is late.",
            "use a fork",
            "还没决定",
            "怎么决定的？",
            "用不了",
            "I use Linux at work.",
            "",
            "如果就用红色的会怎样",
        ] {
            assert!(decided(&[(Speaker::Person, text)]).is_empty(), "{text}");
        }
    }

    #[test]
    fn r5_a_short_yes_settles_what_was_proposed() {
        let offer = (Speaker::Agent, "Two are free. Shall I book the Sakura or the Fuji?");
        assert_eq!(
            decided(&[offer, (Speaker::Person, "yes, the second one")]),
            ["yes, the second one (\"Shall I book the Sakura or the Fuji?\")"]
        );
        assert_eq!(
            decided(&[(Speaker::Agent, "建议坐高铁。"), (Speaker::Person, "好的")]),
            ["好的 (\"建议坐高铁。\")"]
        );
        for answer in ["no", "not yet", "why the Fuji?", "不用了", "thanks", "hmm, later"] {
            assert!(decided(&[offer, (Speaker::Person, answer)]).is_empty(), "{answer}");
        }
        let told = (Speaker::Agent, "The train leaves at nine.");
        assert!(decided(&[told, (Speaker::Person, "ok")]).is_empty());
        assert!(decided(&[offer, told, (Speaker::Person, "ok")]).is_empty());
        assert!(decided(&[(Speaker::Agent, "I'd go with Rust. Let's use it.")]).is_empty());
    }

    #[test]
    fn r5_the_last_eight_are_kept() {
        let lines: Vec<String> = (0..20).map(|number| format!("Let's use plan {number}.")).collect();
        let said: Vec<(Speaker, &str)> = lines.iter().map(|line| (Speaker::Person, line.as_str())).collect();
        assert_eq!(decided(&said), lines[12..]);
    }
}
