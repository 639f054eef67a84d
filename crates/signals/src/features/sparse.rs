//! Hashed features: which words, in which order, and whether the session knows them.

use super::Read;
use crate::hash::WordHash;
use crate::profile::Profile;
use crate::text::Token;

/// Weights per output: two to this power.
pub const BUCKET_BITS: u32 = 17;
/// Tokens from the beginning and from the end of the message that become n-grams.
const HEAD_TOKENS: usize = 40;
const TAIL_TOKENS: usize = 16;
const TERMS_MAX: usize = 48;

/// One feature that is present, and how much it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Active {
    pub bucket: u32,
    pub value: f32,
}

/// Families of features; the same word in two families has two weights.
#[derive(Clone, Copy)]
enum Family {
    One = 1,
    Two,
    Three,
    Opening,
    Ending,
    PreviousOne,
    PreviousTwo,
    PreviousEnding,
    NewTerm,
    OldTerm,
    Cross,
    CrossAsked,
    CrossOpening,
}

struct Collector(Vec<Active>);

impl Collector {
    fn add(&mut self, family: Family, hash: WordHash, value: f32) {
        let mixed = WordHash(family as u32).then(hash);
        let bucket = mixed.0 >> (32 - BUCKET_BITS);
        self.0.push(Active { bucket, value });
    }
}

pub(super) fn features(profile: &Profile, read: &Read<'_>, comparable: bool) -> Vec<Active> {
    let mut out = Collector(Vec::with_capacity(128));
    let tokens = &read.reading.tokens;
    ngrams(&mut out, tokens);
    previous(&mut out, profile, tokens);
    if comparable {
        known_terms(&mut out, profile, read);
    }
    out.0
}

fn ngrams(out: &mut Collector, tokens: &[Token]) {
    let head = &tokens[..tokens.len().min(HEAD_TOKENS)];
    let tail_from = tokens.len().saturating_sub(TAIL_TOKENS).max(head.len());
    let tail = &tokens[tail_from..];
    let count = head.len() + tail.len();
    if count == 0 {
        return;
    }
    let value = 1.0 / (count as f32).sqrt();
    for part in [head, tail] {
        for (at, token) in part.iter().enumerate() {
            let one = token.hash;
            out.add(Family::One, one, value);
            let Some(second) = part.get(at + 1) else { continue };
            let two = one.then(second.hash);
            out.add(Family::Two, two, value);
            let Some(third) = part.get(at + 2) else { continue };
            out.add(Family::Three, two.then(third.hash), value);
        }
    }
    let mut opening = None;
    for token in head.iter().take(4) {
        let joined = opening.map_or(token.hash, |start: WordHash| start.then(token.hash));
        out.add(Family::Opening, joined, 0.5);
        opening = Some(joined);
    }
    if let [.., before, last] = tokens {
        out.add(Family::Ending, last.hash, 0.3);
        out.add(Family::Ending, before.hash.then(last.hash), 0.3);
    }
}

fn previous(out: &mut Collector, profile: &Profile, tokens: &[Token]) {
    let Some(last) = profile.back(0) else { return };
    let tail = &last.tail[..last.tail_len];
    let opening = tokens.iter().take(2).map(|token| token.hash).reduce(WordHash::then);
    let asked = WordHash(u32::from(last.asks) + 1);
    if let Some(opening) = opening {
        out.add(Family::CrossAsked, asked.then(opening), 0.4);
        out.add(Family::CrossAsked, asked.then(tokens[0].hash), 0.4);
        out.add(Family::CrossOpening, last.opening.then(opening), 0.4);
    }
    if tail.is_empty() {
        return;
    }
    let value = 1.0 / (tail.len() as f32).sqrt();
    for (at, &one) in tail.iter().enumerate() {
        out.add(Family::PreviousOne, one, value);
        if let Some(&second) = tail.get(at + 1) {
            out.add(Family::PreviousTwo, one.then(second), value);
        }
    }
    if let [.., before, end] = tail {
        out.add(Family::PreviousEnding, before.then(*end), 0.4);
        if let Some(first) = tokens.first() {
            out.add(Family::Cross, end.then(first.hash), 0.4);
        }
    }
}

fn known_terms(out: &mut Collector, profile: &Profile, read: &Read<'_>) {
    let terms = &read.terms.list[..read.terms.list.len().min(TERMS_MAX)];
    if terms.is_empty() {
        return;
    }
    let value = 1.0 / (terms.len() as f32).sqrt();
    for term in terms {
        let family = match profile.memory.find(term.hash) {
            Some(_) => Family::OldTerm,
            None => Family::NewTerm,
        };
        out.add(family, term.hash, value);
    }
}
