//! The rolling profile of a session: what it has been about, in a fixed amount of memory.
//!
//! a message is compared with the conversation, not with single messages. Every observation
//! costs the same whatever the length of the session.

use crate::embed::Vector;
use crate::features::cues::Cues;
use crate::hash::WordHash;
use crate::terms::Terms;
use crate::text::Reading;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// The host; not part of the conversation's topic.
    System,
    /// A tool's result; not part of the conversation's topic.
    Tool,
}

/// How many of the latest messages are remembered one by one.
pub(crate) const RECENT: usize = 6;
/// Tokens of the previous message's end that are remembered.
pub(crate) const TAIL_TOKENS: usize = 10;
const FAST_DECAY: f32 = 0.6;
const SLOW_DECAY: f32 = 0.92;
/// the summary vector is taken anew after so many messages.
const SUMMARY_EVERY: u32 = 8;

/// What is remembered of one earlier message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trace {
    pub(crate) role: Role,
    pub(crate) vector: Vector,
    pub(crate) cues: Cues,
    pub(crate) tokens: u32,
    pub(crate) asks: bool,
    pub(crate) tail: [WordHash; TAIL_TOKENS],
    pub(crate) tail_len: usize,
    pub(crate) opening: WordHash,
}

/// What a session has been about so far.
///
/// Made empty for a new session, fed by [`crate::Classifier::observe`] with each message, and
/// given to [`crate::Classifier::judge`] with the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    messages: u32,
    pub(crate) fast: Vector,
    pub(crate) slow: Vector,
    pub(crate) whole: Vector,
    pub(crate) summary: Vector,
    recent: [Option<Trace>; RECENT],
    pub(crate) memory: Memory,
    pub(crate) scripts: Scripts,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            messages: 0,
            fast: Vector::ZERO,
            slow: Vector::ZERO,
            whole: Vector::ZERO,
            summary: Vector::ZERO,
            recent: [None; RECENT],
            memory: Memory::default(),
            scripts: Scripts::default(),
        }
    }
}

impl Profile {
    /// Makes the profile of a session in which nothing was said yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many messages it has seen; those of tools and hosts do not count.
    #[must_use]
    pub fn messages(&self) -> u32 {
        self.messages
    }

    /// The trace of an earlier message: 0 is the last one.
    pub(crate) fn back(&self, steps: u32) -> Option<&Trace> {
        let at = self.messages.checked_sub(steps + 1)?;
        if steps as usize >= RECENT {
            return None;
        }
        self.recent[at as usize % RECENT].as_ref()
    }

    /// The last message of a role among those remembered.
    pub(crate) fn last_of(&self, role: Role) -> Option<&Trace> {
        (0..RECENT as u32).filter_map(|steps| self.back(steps)).find(|trace| trace.role == role)
    }

    pub(crate) fn observe(
        &mut self,
        role: Role,
        reading: &Reading<'_>,
        terms: &Terms,
        cues: Cues,
        asks: bool,
    ) {
        let vector = terms.vector.unit();
        self.fast = self.fast.scaled(FAST_DECAY);
        self.slow = self.slow.scaled(SLOW_DECAY);
        for sum in [&mut self.fast, &mut self.slow, &mut self.whole] {
            sum.add(&vector, 1.0);
        }
        for term in &terms.list {
            self.memory.insert(term.hash, self.messages);
        }
        self.scripts.count(reading);
        self.recent[self.messages as usize % RECENT] = Some(trace(role, reading, vector, cues, asks));
        self.messages += 1;
        if self.messages.is_multiple_of(SUMMARY_EVERY) || self.messages == 2 {
            self.summary = self.slow;
        }
    }
}

fn trace(role: Role, reading: &Reading<'_>, vector: Vector, cues: Cues, asks: bool) -> Trace {
    let tokens = &reading.tokens;
    let last = &tokens[tokens.len().saturating_sub(TAIL_TOKENS)..];
    let mut tail = [WordHash(0); TAIL_TOKENS];
    for (place, token) in tail.iter_mut().zip(last) {
        *place = token.hash;
    }
    let opening = tokens.iter().take(2).map(|token| token.hash).reduce(WordHash::then);
    Trace {
        role,
        vector,
        cues,
        tokens: tokens.len() as u32,
        asks,
        tail,
        tail_len: last.len(),
        opening: opening.unwrap_or(WordHash(0)),
    }
}

const BUCKETS: usize = 256;
const WAYS: usize = 4;

/// When a term was last used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slot {
    hash: u32,
    /// Message number plus one; zero is an empty slot.
    last: u32,
    count: u32,
}

/// The terms of the session, at most a thousand: the longest unused gives way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Memory(Vec<Slot>);

impl Default for Memory {
    fn default() -> Self {
        Self(vec![Slot::default(); BUCKETS * WAYS])
    }
}

/// How a term was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The number of the message it was last used in.
    pub(crate) message: u32,
    pub(crate) count: u32,
}

impl Memory {
    fn bucket(hash: WordHash) -> std::ops::Range<usize> {
        let from = hash.0 as usize % BUCKETS * WAYS;
        from..from + WAYS
    }

    fn insert(&mut self, hash: WordHash, message: u32) {
        let bucket = &mut self.0[Self::bucket(hash)];
        let known = bucket.iter().position(|slot| slot.last > 0 && slot.hash == hash.0);
        let oldest = (0..WAYS).min_by_key(|&at| bucket[at].last).unwrap_or(0);
        let slot = &mut bucket[known.unwrap_or(oldest)];
        let count = if known.is_some() { slot.count.saturating_add(1) } else { 1 };
        *slot = Slot { hash: hash.0, last: message + 1, count };
    }

    pub(crate) fn find(&self, hash: WordHash) -> Option<Use> {
        self.0[Self::bucket(hash)]
            .iter()
            .find(|slot| slot.last > 0 && slot.hash == hash.0)
            .map(|slot| Use { message: slot.last - 1, count: slot.count })
    }
}

/// How much of the conversation was written with and without spaces between words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scripts {
    unspaced: f32,
    spaced: f32,
}

impl Scripts {
    pub(crate) fn of(reading: &Reading<'_>) -> Self {
        let mut scripts = Self::default();
        scripts.count(reading);
        scripts
    }

    fn count(&mut self, reading: &Reading<'_>) {
        use crate::text::Kind;
        self.spaced *= SLOW_DECAY;
        self.unspaced *= SLOW_DECAY;
        for token in &reading.tokens {
            match token.kind {
                Kind::Word => self.spaced += 1.0,
                Kind::Unspaced => self.unspaced += 0.5,
                Kind::Number => {}
            }
        }
    }

    fn share(self) -> Option<f32> {
        let all = self.spaced + self.unspaced;
        (all > 0.0).then(|| self.unspaced / all)
    }

    /// whether words of the one can be found in the other at all. Across languages they
    /// cannot, and that must count as "not known", not as "shares nothing".
    pub(crate) fn comparable(self, other: Self) -> bool {
        match (self.share(), other.share()) {
            (Some(mine), Some(theirs)) => (mine - theirs).abs() < 0.6,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r1_memory_is_bounded_and_the_longest_unused_gives_way() {
        let mut memory = Memory::default();
        for message in 0..50_000_u32 {
            memory.insert(WordHash(message.wrapping_mul(2_654_435_761)), message);
        }
        assert_eq!(memory.0.len(), BUCKETS * WAYS);
        let last = WordHash(49_999_u32.wrapping_mul(2_654_435_761));
        assert_eq!(memory.find(last), Some(Use { message: 49_999, count: 1 }));
    }
}
