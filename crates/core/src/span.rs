//! Spans: how a session sees segments without copying them.

use crate::entry::Seq;
use crate::segment;
use serde::{Deserialize, Serialize};

/// A part of a segment, from one entry to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The segment.
    pub segment: segment::Number,
    /// The first entry that is seen.
    pub first: Seq,
    /// The last entry that is seen.
    pub last: Seq,
    /// How many messages of the segment lie before `first`.
    pub before: u32,
    /// How many messages of the segment lie before or at `last`.
    pub through: u32,
}

impl Span {
    /// Counts the messages in the span.
    pub fn messages(&self) -> u32 {
        self.through.saturating_sub(self.before)
    }

    /// Tells whether an entry of a segment lies in the span.
    pub fn holds(&self, segment: segment::Number, seq: Seq) -> bool {
        self.segment == segment && self.first <= seq && seq <= self.last
    }

    fn touches(&self, next: &Self) -> bool {
        self.segment == next.segment && (next.first <= self.last || self.through == next.before)
    }
}

/// A message at which a view can be cut, with what must be known to count the messages on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The message.
    pub message: Seq,
    /// The segment that holds it.
    pub segment: segment::Number,
    /// For each segment that has entries on both sides: how many of its messages come before `message`.
    pub before: Vec<(segment::Number, u32)>,
}

/// On which side of its message a view is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The message belongs to the later part.
    InFront,
    /// The message belongs to the earlier part.
    Behind,
}

/// The sealed part of a session's view: spans in the order of the log, none of them overlapping.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spans(Vec<Span>);

impl Spans {
    /// Returns the spans in the order of the log.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Span> + ExactSizeIterator {
        self.0.iter()
    }

    /// Counts the messages that are seen.
    pub fn messages(&self) -> u32 {
        self.0.iter().map(Span::messages).sum()
    }

    /// Tells whether an entry of a segment is seen.
    pub fn hold(&self, segment: segment::Number, seq: Seq) -> bool {
        self.0.iter().any(|span| span.holds(segment, seq))
    }

    /// Lists the segments that have entries on both sides of `seq`, or at it.
    pub fn across(&self, seq: Seq) -> Vec<segment::Number> {
        self.0.iter().filter(|s| s.first <= seq && seq <= s.last).map(|s| s.segment).collect()
    }

    /// Returns these spans and the others, in order, each entry once.
    ///
    /// ```
    /// use segue_core::{entry::Seq, segment, span::{Span, Spans}};
    /// let part = |first, last, before, through| {
    ///     let segment = segment::Number(1);
    ///     Spans::default().with(Span { segment, first: Seq(first), last: Seq(last), before, through })
    /// };
    /// assert_eq!(part(1, 9, 0, 4).union(&part(1, 5, 0, 2)), part(1, 9, 0, 4));
    /// assert_eq!(part(1, 5, 0, 2).union(&part(6, 9, 2, 4)), part(1, 9, 0, 4));
    /// ```
    #[must_use]
    pub fn union(&self, others: &Self) -> Self {
        let mut all: Vec<Span> = self.0.iter().chain(&others.0).copied().collect();
        all.sort_by_key(|span| (span.segment, span.first));
        let mut joined: Vec<Span> = Vec::with_capacity(all.len());
        for span in all {
            match joined.last_mut() {
                Some(last) if last.touches(&span) => {
                    last.last = last.last.max(span.last);
                    last.through = last.through.max(span.through);
                }
                _ => joined.push(span),
            }
        }
        joined.sort_by_key(|span| (span.first, span.segment));
        Self(joined)
    }

    /// Returns these spans and one more.
    #[must_use]
    pub fn with(&self, span: Span) -> Self {
        self.union(&Self(vec![span]))
    }

    /// Cuts the view in two.
    pub fn cut(&self, cut: &Cut, side: Side) -> (Self, Self) {
        let (mut earlier, mut later) = (Vec::new(), Vec::new());
        let border = match side {
            Side::InFront => cut.message,
            Side::Behind => cut.message.next(),
        };
        for span in &self.0 {
            if span.last < border {
                earlier.push(*span);
            } else if span.first >= border {
                later.push(*span);
            } else {
                let before = cut.before.iter().find(|(segment, _)| *segment == span.segment);
                let own = u32::from(side == Side::Behind && span.segment == cut.segment);
                let middle = before.map_or(span.before, |(_, n)| n + own);
                earlier.push(Span { last: border.previous(), through: middle, ..*span });
                later.push(Span { first: border, before: middle, ..*span });
            }
        }
        (Self(earlier), Self(later))
    }

    /// Tells whether nothing is seen.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns these spans without the others, each of which must lie inside one of these or outside all.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let mut left = self.0.clone();
        for gone in &others.0 {
            let mut next = Vec::with_capacity(left.len() + 1);
            for span in left {
                if span.segment != gone.segment || gone.last < span.first || span.last < gone.first {
                    next.push(span);
                    continue;
                }
                if span.first < gone.first {
                    next.push(Span { last: gone.first.previous(), through: gone.before, ..span });
                }
                if gone.last < span.last {
                    next.push(Span { first: gone.last.next(), before: gone.through, ..span });
                }
            }
            left = next;
        }
        Self(left)
    }

    /// Returns what is seen behind an entry, to be read on from there.
    #[must_use]
    pub fn behind(&self, seq: Seq) -> Self {
        let later = self.0.iter().filter(|span| span.last > seq);
        Self(later.map(|span| Span { first: span.first.max(seq.next()), ..*span }).collect())
    }

    /// Takes the spans apart into those that begin before `seq` and those that begin at it or later.
    pub fn apart(&self, seq: Seq) -> (Self, Self) {
        let (earlier, later) = self.0.iter().partition(|span| span.first < seq);
        (Self(earlier), Self(later))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A log in which each entry is a message of one of three segments.
    fn segment_of(seq: u64) -> segment::Number {
        segment::Number([1, 1, 2, 1, 3, 2][seq as usize % 6])
    }

    fn messages_before(segment: segment::Number, seq: u64) -> u32 {
        (1..seq).filter(|s| segment_of(*s) == segment).count() as u32
    }

    fn span(first: u64, len: u64) -> Span {
        let (segment, last) = (segment_of(first), first + len);
        Span {
            segment,
            first: Seq(first),
            last: Seq(last),
            before: messages_before(segment, first),
            through: messages_before(segment, last + 1),
        }
    }

    fn seen(spans: &Spans) -> BTreeSet<u64> {
        (1..200).filter(|s| spans.hold(segment_of(*s), Seq(*s))).collect()
    }

    fn any_spans() -> impl Strategy<Value = Spans> {
        prop::collection::vec((1u64..100, 0u64..20), 0..8).prop_map(|parts| {
            parts.into_iter().fold(Spans::default(), |all, (at, len)| all.with(span(at, len)))
        })
    }

    proptest! {
        #[test]
        fn union_sees_what_either_sees_and_counts_it_once(a in any_spans(), b in any_spans()) {
            let both = a.union(&b);
            let expected: BTreeSet<u64> = seen(&a).union(&seen(&b)).copied().collect();
            prop_assert_eq!(both.messages() as usize, expected.len());
            prop_assert_eq!(seen(&both), expected);
            prop_assert_eq!(both.union(&a), both);
        }

        #[test]
        fn cutting_loses_nothing_and_union_mends_it(view in any_spans(), pick in 0usize..100, behind: bool) {
            let all: Vec<u64> = seen(&view).into_iter().collect();
            prop_assume!(!all.is_empty());
            let at = all[pick % all.len()];
            let before = view.across(Seq(at)).into_iter().map(|s| (s, messages_before(s, at))).collect();
            let cut = Cut { message: Seq(at), segment: segment_of(at), before };
            let side = if behind { Side::Behind } else { Side::InFront };
            let (earlier, later) = view.cut(&cut, side);
            let border = if behind { at + 1 } else { at };
            prop_assert_eq!(seen(&earlier), all.iter().copied().filter(|s| *s < border).collect());
            prop_assert_eq!(seen(&later), all.iter().copied().filter(|s| *s >= border).collect());
            prop_assert_eq!((earlier.messages() + later.messages()) as usize, all.len());
            prop_assert_eq!(seen(&earlier.union(&later)), seen(&view));
            prop_assert_eq!(seen(&view.without(&later)), seen(&earlier));
            prop_assert_eq!(view.without(&later).messages(), earlier.messages());
            prop_assert_eq!(view.without(&earlier).messages(), later.messages());
        }
    }
}
