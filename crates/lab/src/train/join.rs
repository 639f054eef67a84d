//! More session boundaries: conversations of different sets put one after the other.
//!
//! A boundary in one set has the habits of that set. Joined across sets (of one language: a change
//! of language must not become a sign of a boundary, R-9), only what holds everywhere is left.

use super::own::OWN_SETS;
use segue_signals::boundary::Output;
use segue_signals::eval::label;
use segue_signals::eval::{Dataset, Dialogue, Meaning, Turn};
use segue_signals::internals::SplitMix;

const SEGMENTS_MIN: usize = 3;
const SEGMENTS_MORE: usize = 4;
/// Longer conversations are cut to a random stretch, or most turns would be far from a boundary.
const SEGMENT_TURNS_MAX: usize = 16;

/// How often a conversation is joined in the middle.
const MIDDLE: f32 = 0.15;

/// How often an answer is left out.
const UNANSWERED: f32 = 0.08;
/// How often a conversation's answers are made long: today's assistants say in one turn what these sets
/// say in four.
const LONG_ANSWERS: f32 = 0.35;
const LONG_ANSWER_BYTES: usize = 600;

/// A conversation about one thing.
#[derive(Clone, Debug)]
struct Segment<'a> {
    turns: &'a [Turn],
    meaning: Meaning,
}

/// Joins conversations of the sets at random into `count` dialogues for each language.
pub(crate) fn join(sets: &[&Dataset], count: usize, random: &mut SplitMix) -> Vec<Dialogue> {
    let mut languages: Vec<&str> =
        sets.iter().flat_map(|set| &set.dialogues).map(|dialogue| dialogue.lang.as_str()).collect();
    languages.sort_unstable();
    languages.dedup();
    let mut out = Vec::new();
    for language in languages {
        // A set each, so that a small set is drawn from as often as a large one.
        let pools: Vec<Vec<Segment<'_>>> = sets
            .iter()
            .flat_map(|set| std::iter::repeat_n(set, share(&set.name)))
            .map(|set| segments(set, language))
            .filter(|pool| !pool.is_empty())
            .collect();
        for at in 0..count {
            out.push(one(&pools, language, at, random));
        }
    }
    out
}

/// Our own conversations are the only ones with an assistant as people use one today: they count twice.
fn share(name: &str) -> usize {
    if OWN_SETS.contains(&name) { 2 } else { 1 }
}

fn segments<'a>(set: &'a Dataset, language: &str) -> Vec<Segment<'a>> {
    let mut out = Vec::new();
    for dialogue in set.dialogues.iter().filter(|dialogue| dialogue.lang == language) {
        let mut from = 0;
        if set.meaning == Meaning::Session {
            for (at, turn) in dialogue.turns.iter().enumerate() {
                if turn.boundary == 1 && at > from {
                    out.push(Segment { turns: &dialogue.turns[from..at], meaning: set.meaning });
                    from = at;
                }
            }
        }
        out.push(Segment { turns: &dialogue.turns[from..], meaning: set.meaning });
    }
    out
}

fn one(pools: &[Vec<Segment<'_>>], language: &str, number: usize, random: &mut SplitMix) -> Dialogue {
    let count = SEGMENTS_MIN + random.below(SEGMENTS_MORE);
    let mut turns = Vec::new();
    // Often the neighbours come from one set: the hard case is another conversation of the same kind.
    let home = random.below(pools.len());
    for _ in 0..count {
        let pool = &pools[if random.unit() < 0.5 { home } else { random.below(pools.len()) }];
        let segment = &pool[random.below(pool.len())];
        append(&mut turns, segment, random);
    }
    Dialogue { id: format!("joined-{language}-{number}"), lang: language.to_owned(), turns }
}

/// Mostly a conversation begins with its beginning. Sometimes it is joined in the middle: what is
/// then new is its matter alone, not the manner in which people open a conversation.
fn beginning(segment: &[Turn], random: &mut SplitMix) -> usize {
    if random.unit() >= MIDDLE {
        return 0;
    }
    let from = random.below(segment.len());
    let user = |at: &usize| segment[*at].role == "user" || segment[*at].role.len() == 1;
    (from..segment.len().saturating_sub(1)).find(user).unwrap_or(0)
}

/// An answer with the next answers of the same conversation behind it.
fn longer(segment: &[Turn], at: usize) -> String {
    let mut text = segment[at].text.clone();
    // After the last answer come the first ones: what matters is that they are about the same thing.
    let others = segment[at + 1..].iter().chain(&segment[..at]).skip(1).step_by(2);
    for other in others {
        if text.len() > LONG_ANSWER_BYTES {
            break;
        }
        text.push(' ');
        text.push_str(&other.text);
    }
    text
}

fn append(turns: &mut Vec<Turn>, segment: &Segment<'_>, random: &mut SplitMix) {
    let meaning = segment.meaning;
    let segment = &segment.turns[beginning(segment.turns, random)..];
    let mut end = segment.len().min(SEGMENT_TURNS_MAX);
    // People leave without a farewell, and in the middle of things.
    let cut = random.unit();
    if cut < 0.3 && end > 4 {
        end = 3 + random.below(end - 3);
    } else if cut < 0.6 && end > 4 && end == segment.len() {
        end -= 2;
    }
    let joined = turns.len();
    let long_answers = random.unit() < LONG_ANSWERS;
    for (at, turn) in segment[..end].iter().enumerate() {
        let role = match turn.role.as_str() {
            "user" | "assistant" => turn.role.clone(),
            // Two people who chat: one of them takes the assistant's chair.
            _ => if at % 2 == 0 { "user" } else { "assistant" }.to_owned(),
        };
        // People also write twice before anyone answers.
        if role == "assistant" && random.unit() < UNANSWERED {
            continue;
        }
        let begins = at == 0 && joined > 0;
        let switch = label(Output::Task, meaning, turn).map(u8::from);
        turns.push(Turn {
            text: if long_answers && role == "assistant" { longer(segment, at) } else { turn.text.clone() },
            role,
            boundary: u8::from(begins),
            task_switch: if begins { Some(1) } else { switch },
            at: None,
        });
    }
}
