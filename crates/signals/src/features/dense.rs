//! Dense features: similarity, overlap, novelty, cues and shape, in a fixed order.

use super::{Read, cues::Cue};
use crate::embed::{DIMENSIONS, Vector};
use crate::profile::{Profile, RECENT, Role, Trace};

const SIMILARITIES: usize = 16;
const OVERLAPS: usize = 14;
const SHAPES: usize = 13;
const CUES: usize = 5 * Cue::COUNT;
const PLAIN: usize = SIMILARITIES + OVERLAPS + SHAPES + CUES;
const MEANINGS: usize = 4 * DIMENSIONS;
/// How many dense features there are.
pub const DENSE: usize = PLAIN + MEANINGS;

/// Writes features one after the other; what does not fit is dropped, which a test rules out.
struct Writer<'a> {
    out: &'a mut [f32; DENSE],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, value: f32) {
        if let Some(place) = self.out.get_mut(self.at) {
            *place = value;
        }
        self.at += 1;
    }

    /// A value that may be missing is two numbers, so that "missing" is not mistaken for zero.
    fn maybe(&mut self, value: Option<f32>) {
        self.put(value.unwrap_or(0.0));
        self.put(if value.is_some() { 0.0 } else { 1.0 });
    }
}

pub(super) fn features(profile: &Profile, read: &Read<'_>, comparable: bool) -> [f32; DENSE] {
    let mut out = [0.0; DENSE];
    let mut writer = Writer { out: &mut out, at: 0 };
    similarities(&mut writer, profile, &read.terms.vector);
    overlaps(&mut writer, profile, read, comparable);
    shapes(&mut writer, profile, read);
    all_cues(&mut writer, profile, read);
    meanings(&mut writer, profile, &read.terms.vector);
    debug_assert_eq!(writer.at, DENSE);
    out
}

fn similarities(out: &mut Writer<'_>, profile: &Profile, vector: &Vector) {
    out.maybe(vector.cosine(&profile.fast));
    out.maybe(vector.cosine(&profile.slow));
    out.maybe(vector.cosine(&profile.summary));
    out.maybe(profile.last_of(Role::User).and_then(|last| vector.cosine(&last.vector)));
    out.maybe(profile.last_of(Role::Assistant).and_then(|last| vector.cosine(&last.vector)));
    let traces = || (0..RECENT as u32).filter_map(|steps| profile.back(steps));
    out.maybe(traces().filter_map(|trace| vector.cosine(&trace.vector)).reduce(f32::max));
    // How close the conversation is to itself: a low cosine means less in one that wanders.
    out.maybe(profile.back(0).and_then(|last| last.vector.cosine(&profile.slow)));
    out.maybe(profile.fast.cosine(&profile.slow));
}

/// How much of a message the session already knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// Weight of all terms.
    pub weight: f32,
    /// Weight of the terms that were used in the session.
    pub seen: f32,
    /// In the last message, and in the last four.
    pub seen_last: f32,
    pub seen_recent: f32,
    pub content: u32,
    pub content_seen: u32,
    pub content_recent: u32,
    /// The weight of the most telling shared term.
    pub best: f32,
    pub repeats: f32,
}

pub fn overlap(profile: &Profile, read: &Read<'_>) -> Overlap {
    let mut overlap = Overlap::default();
    let now = profile.messages();
    for term in &read.terms.list {
        overlap.weight += term.weight;
        overlap.content += u32::from(term.is_content());
        let Some(seen) = profile.memory.find(term.hash) else { continue };
        let age = now.saturating_sub(seen.message);
        overlap.seen += term.weight;
        overlap.content_seen += u32::from(term.is_content());
        overlap.best = overlap.best.max(term.weight);
        overlap.repeats += term.weight * (seen.count as f32).ln_1p();
        if age <= 1 {
            overlap.seen_last += term.weight;
        }
        if age <= 4 {
            overlap.seen_recent += term.weight;
            overlap.content_recent += u32::from(term.is_content());
        }
    }
    overlap
}

fn overlaps(out: &mut Writer<'_>, profile: &Profile, read: &Read<'_>, comparable: bool) {
    let overlap = overlap(profile, read);
    let known = comparable && overlap.weight > 0.0;
    let share = |part: f32| known.then(|| part / overlap.weight);
    let count = |number: u32| known.then(|| (number as f32).ln_1p());
    out.maybe(share(overlap.seen));
    out.put(share(overlap.seen_last).unwrap_or(0.0));
    out.put(share(overlap.seen_recent).unwrap_or(0.0));
    out.put(count(overlap.content_seen).unwrap_or(0.0));
    out.put(count(overlap.content_recent).unwrap_or(0.0));
    out.put(count(overlap.content - overlap.content_seen).unwrap_or(0.0));
    out.put(count(overlap.content).unwrap_or(0.0));
    out.put(share(overlap.repeats).unwrap_or(0.0));
    out.put(if known { overlap.best } else { 0.0 });
    let none_seen = known && overlap.content_seen == 0;
    out.put(if none_seen { 1.0 } else { 0.0 });
    out.put(if none_seen && overlap.content >= 2 { 1.0 } else { 0.0 });
    out.put(if overlap.content == 0 { 1.0 } else { 0.0 });
    out.put(if comparable { 0.0 } else { 1.0 });
}

fn shapes(out: &mut Writer<'_>, profile: &Profile, read: &Read<'_>) {
    let tokens = read.reading.tokens.len();
    let number = |holds: bool| if holds { 1.0 } else { 0.0 };
    out.put((tokens as f32).ln_1p() / 3.0);
    out.put(number(tokens <= 3));
    out.put(number(tokens >= 12));
    out.put(number(read.asks));
    let numbers = read.reading.tokens.iter().filter(|token| token.kind == crate::text::Kind::Number);
    out.put((numbers.count() as f32).ln_1p());
    out.put(number(read.reading.beginning().chars().take(600).any(|ch| ch == '\n')));
    out.put((profile.messages() as f32).ln_1p() / 3.0);
    out.put(number(profile.messages() <= 2));
    out.put(number(profile.messages() <= 4));
    let last = profile.back(0);
    out.put(last.map_or(0.0, |last| (last.tokens as f32).ln_1p() / 3.0));
    out.put(number(last.is_some_and(|last| last.asks)));
    let user = profile.last_of(Role::User);
    out.put(user.map_or(0.0, |user| (user.tokens as f32).ln_1p() / 3.0));
    out.put(user.map_or(0.0, |user| (tokens as f32).ln_1p() / 3.0 - (user.tokens as f32).ln_1p() / 3.0));
}

fn all_cues(out: &mut Writer<'_>, profile: &Profile, read: &Read<'_>) {
    let none = Default::default();
    let of = |trace: Option<&Trace>| trace.map_or(none, |trace| trace.cues);
    let last = of(profile.back(0));
    let before = of(profile.last_of(Role::User));
    let sets = [read.cues.anywhere, read.cues.opening, last.anywhere, last.opening, before.anywhere];
    for number in sets.into_iter().flat_map(super::cues::CueSet::numbers) {
        out.put(number);
    }
}

fn meanings(out: &mut Writer<'_>, profile: &Profile, vector: &Vector) {
    let (mine, fast, slow) = (vector.unit(), profile.fast.unit(), profile.slow.unit());
    // A unit vector's numbers are small; scaled, they move the model as much as other features do.
    const SCALE: f32 = 4.0;
    for at in 0..DIMENSIONS {
        out.put(mine.0[at] * SCALE);
    }
    for at in 0..DIMENSIONS {
        out.put(fast.0[at] * SCALE);
    }
    for at in 0..DIMENSIONS {
        out.put(mine.0[at] * fast.0[at] * SCALE * SCALE);
    }
    for at in 0..DIMENSIONS {
        out.put(mine.0[at] * slow.0[at] * SCALE * SCALE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Reader;
    use crate::text::Window;

    #[test]
    fn every_feature_has_its_place() {
        let reader = Reader::new(crate::embed::Table::load(crate::assets::WORDS).unwrap());
        let mut profile = Profile::new();
        reader.observe(&mut profile, Role::User, "book a hotel in Chicago");
        let read = reader.read("two rooms please", Window::MESSAGE);
        let mut out = [0.0; DENSE];
        let mut writer = Writer { out: &mut out, at: 0 };
        similarities(&mut writer, &profile, &read.terms.vector);
        assert_eq!(writer.at, SIMILARITIES);
        overlaps(&mut writer, &profile, &read, true);
        assert_eq!(writer.at, SIMILARITIES + OVERLAPS);
        shapes(&mut writer, &profile, &read);
        assert_eq!(writer.at, SIMILARITIES + OVERLAPS + SHAPES);
        all_cues(&mut writer, &profile, &read);
        assert_eq!(writer.at, PLAIN);
        meanings(&mut writer, &profile, &read.terms.vector);
        assert_eq!(writer.at, DENSE);
    }
}
