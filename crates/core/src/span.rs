//! Spans: how a session sees segments without copying them.

mod page;

pub(crate) use page::PAGE_SPANS;
pub use page::{Iter, Page};

use crate::digest::Digest;
use crate::entry::Seq;
use crate::segment;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
///
/// A fork sees what its parent saw. So the list stands in [`Page`]s that views share, and a copy of it costs the same
/// however long it is. Equal lists have equal pages: each page has the next [`PAGE_SPANS`] spans from the beginning.
#[derive(Clone, Default)]
pub struct Spans {
    pages: Option<Arc<Page>>,
    /// What is behind the last page: less than a page.
    tail: Vec<Span>,
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Spans {
    fn eq(&self, other: &Self) -> bool {
        let id = |spans: &Self| spans.pages.as_ref().map(|page| page.id());
        self.tail == other.tail && id(self) == id(other)
    }
}

impl Eq for Spans {}

impl Serialize for Spans {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Spans {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::<Span>::deserialize(from).map(Self::listed)
    }
}

impl FromIterator<Span> for Spans {
    /// Takes spans that are in the order of the log already.
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        Self::listed(spans.into_iter().collect())
    }
}

impl Spans {
    /// Makes a view of a page, which is behind other pages, and of what is behind it; nothing if that is a page or more.
    pub fn of_parts(pages: Option<Arc<Page>>, tail: Vec<Span>) -> Option<Self> {
        (tail.len() < PAGE_SPANS).then_some(Self { pages, tail })
    }

    /// Returns the last page, which knows the pages before it.
    pub fn pages(&self) -> Option<&Arc<Page>> {
        self.pages.as_ref()
    }

    /// Returns what is behind the last page.
    pub fn tail(&self) -> &[Span] {
        &self.tail
    }

    fn listed(all: Vec<Span>) -> Self {
        let mut spans = Self::default();
        all.into_iter().for_each(|span| spans.push(span));
        spans
    }

    /// Makes a view of a list that begins mostly as another view does, and shares its pages as far as that goes.
    fn like(other: &Self, all: &[Span]) -> Self {
        let pages = Page::chain(other.pages.as_ref());
        let shared =
            pages.iter().zip(all.chunks(PAGE_SPANS)).take_while(|(page, part)| page.spans() == *part);
        let shared = shared.count();
        let pages = shared.checked_sub(1).and_then(|last| pages.get(last)).map(|page| Arc::clone(page));
        let mut spans = Self { pages, tail: Vec::new() };
        all.iter().skip(shared * PAGE_SPANS).for_each(|span| spans.push(*span));
        spans
    }

    /// Adds a span at the end.
    fn push(&mut self, span: Span) {
        self.tail.push(span);
        if self.tail.len() == PAGE_SPANS {
            let full = std::mem::take(&mut self.tail);
            self.pages = Some(Page::build(self.pages.take(), full));
        }
    }

    /// Returns the spans in the order of the log.
    pub fn iter(&self) -> Iter<'_> {
        Iter::of(&Page::chain(self.pages.as_ref()), &self.tail)
    }

    /// Returns the spans in which there are messages, in the order of the log. It costs nothing to pass over those without,
    /// however many there are.
    pub fn with_messages(&self) -> impl DoubleEndedIterator<Item = &Span> {
        let pages = Page::spoken_chain(self.pages.as_ref());
        Iter::of(&pages, &self.tail).filter(|span| span.messages() > 0)
    }

    /// Returns the spans of two views in the order of the log, without those at the beginning that both are known to
    /// have.
    pub fn differing<'a>(&'a self, other: &'a Self) -> (Iter<'a>, Iter<'a>) {
        let (mine, theirs) = (Page::chain(self.pages.as_ref()), Page::chain(other.pages.as_ref()));
        // Equal pages have equal pages before them.
        let shared = mine.iter().zip(&theirs).rposition(|(a, b)| a.id() == b.id()).map_or(0, |last| last + 1);
        let behind =
            |pages: &[&'a Arc<Page>], tail: &'a [Span]| Iter::of(pages.get(shared..).unwrap_or(&[]), tail);
        (behind(&mine, &self.tail), behind(&theirs, &other.tail))
    }

    /// Counts the messages that are seen.
    pub fn messages(&self) -> u32 {
        let paged = self.pages.as_ref().map_or(0, |page| page.messages());
        self.tail.iter().fold(paged, |all, span| all.saturating_add(span.messages()))
    }

    /// Tells whether an entry of a segment is seen.
    pub fn hold(&self, segment: segment::Number, seq: Seq) -> bool {
        self.iter().rev().any(|span| span.holds(segment, seq))
    }

    /// Lists the segments that have entries on both sides of `seq`, or at it.
    pub fn across(&self, seq: Seq) -> Vec<segment::Number> {
        self.iter().filter(|s| s.first <= seq && seq <= s.last).map(|s| s.segment).collect()
    }

    /// Adds the segments that are seen to a set. Pages that were looked at before are passed over.
    pub fn add_segments(&self, to: &mut BTreeSet<segment::Number>, looked_at: &mut BTreeSet<Digest>) {
        self.each_new(looked_at, |span| _ = to.insert(span.segment));
    }

    /// Hands out the spans that are not on pages which were looked at before, in no order.
    pub fn each_new(&self, looked_at: &mut BTreeSet<Digest>, mut each: impl FnMut(&Span)) {
        self.tail.iter().for_each(&mut each);
        let mut next = self.pages.as_ref();
        while let Some(page) = next.filter(|page| looked_at.insert(page.id())) {
            page.spans().iter().for_each(&mut each);
            next = page.before();
        }
    }

    /// The same for spans with messages. It costs nothing to pass over pages without.
    pub fn each_new_with_messages(&self, looked_at: &mut BTreeSet<Digest>, mut each: impl FnMut(&Span)) {
        let mut each = |span: &Span| {
            if span.messages() > 0 {
                each(span)
            }
        };
        self.tail.iter().for_each(&mut each);
        let mut next = self.pages.as_ref();
        while let Some(page) = next.filter(|page| looked_at.insert(page.id())) {
            page.spans().iter().for_each(&mut each);
            next = page.spoken_before();
        }
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
        if let Some(appended) = self.followed_by(others) {
            return appended;
        }
        let mut all: Vec<Span> = self.iter().chain(others.iter()).copied().collect();
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
        Self::like(self, &joined)
    }

    /// Returns these spans and the others if all of those are of later segments, which is how views grow.
    fn followed_by(&self, others: &Self) -> Option<Self> {
        let mut bounds =
            ascending(self.pages.as_ref().map_or(Some(Page::NO_BOUNDS), |page| page.bounds())?, &self.tail)?;
        for span in others.iter() {
            bounds = ascending(bounds, std::slice::from_ref(span))?;
        }
        if self.is_empty() {
            return Some(others.clone());
        }
        let mut all = self.clone();
        others.iter().for_each(|span| all.push(*span));
        Some(all)
    }

    /// Returns these spans and one more.
    #[must_use]
    pub fn with(&self, span: Span) -> Self {
        self.union(&Self { pages: None, tail: vec![span] })
    }

    /// Cuts the view in two.
    pub fn cut(&self, cut: &Cut, side: Side) -> (Self, Self) {
        let (mut earlier, mut later) = (Vec::new(), Vec::new());
        let border = match side {
            Side::InFront => cut.message,
            Side::Behind => cut.message.next(),
        };
        for span in self.iter() {
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
        (Self::like(self, &earlier), Self::listed(later))
    }

    /// Tells whether nothing is seen.
    pub fn is_empty(&self) -> bool {
        self.pages.is_none() && self.tail.is_empty()
    }

    /// Returns these spans without the others, each of which must lie inside one of these or outside all.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let (mine, theirs) = self.differing(others);
        let shared = self.iter().len() - mine.len();
        let mut left: Vec<Span> = mine.copied().collect();
        for gone in theirs {
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
        if shared == 0 { Self::like(self, &left) } else { Self::listed(left) }
    }

    /// Returns what is seen behind an entry, to be read on from there.
    #[must_use]
    pub fn behind(&self, seq: Seq) -> Self {
        let later = self.iter().filter(|span| span.last > seq);
        Self::listed(later.map(|span| Span { first: span.first.max(seq.next()), ..*span }).collect())
    }

    /// Takes the spans apart into those that begin before `seq` and those that begin at it or later.
    pub fn apart(&self, seq: Seq) -> (Self, Self) {
        // What was seen when a session began is seldom less than all its pages.
        let paged = self.pages.as_ref().map(|page| page.bounds());
        if paged.is_some_and(|bounds| bounds.is_none_or(|(_, first)| first >= seq)) {
            let (earlier, later): (Vec<Span>, Vec<Span>) = self.iter().partition(|span| span.first < seq);
            return (Self::like(self, &earlier), Self::listed(later));
        }
        let (tail, later): (Vec<Span>, Vec<Span>) = self.tail.iter().partition(|span| span.first < seq);
        (Self { pages: self.pages.clone(), tail }, Self::listed(later))
    }
}

/// Returns the segment and the beginning of the last span if both rise from span to span, beginning behind the given
/// ones: then no span can touch another one.
fn ascending(behind: (segment::Number, Seq), spans: &[Span]) -> Option<(segment::Number, Seq)> {
    spans.iter().try_fold(behind, |(segment, first), span| {
        (span.segment > segment && span.first > first).then_some((span.segment, span.first))
    })
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

    /// A view of many segments, of three entries each.
    fn long(segments: u32) -> Vec<Span> {
        let span = |n: u32| Span {
            segment: segment::Number(n),
            first: Seq(u64::from(n) * 3),
            last: Seq(u64::from(n) * 3 + 2),
            before: 0,
            through: 2,
        };
        (1..=segments).map(span).collect()
    }

    /// Issue 16, row 18: a fork refers to the spans of its parent and copies less than a page of them.
    #[test]
    fn a_chain_of_forks_shares_its_spans() {
        let (mut view, mut pages) = (Spans::default(), BTreeSet::new());
        for span in long(3_000) {
            view = view.with(span);
            assert!(view.tail().len() < PAGE_SPANS);
            let chain = std::iter::successors(view.pages(), |page| page.before());
            // Only the last page can be a new one.
            pages.extend(chain.take(2).map(Arc::as_ptr));
        }
        assert_eq!((view.iter().len(), pages.len()), (3_000, 3_000 / PAGE_SPANS));
        assert_eq!((view.messages(), view.clone().iter().rev().count()), (6_000, 3_000));
    }

    #[test]
    fn a_damaged_chain_of_any_length_is_dropped_without_a_deep_stack() {
        drop(Spans::listed(long(1_000_000)));
    }

    proptest! {
        /// Long views do as lists do, and equal lists are equal views, however they came about.
        #[test]
        fn pages_are_not_seen(segments in 0u32..80, at in 0u64..260, step in 1usize..20) {
            let list = long(segments);
            let grown = list.iter().fold(Spans::default(), |all, span| all.with(*span));
            let read: Spans = serde_json::from_str(&serde_json::to_string(&grown).unwrap()).unwrap();
            let by_parts = list.chunks(step).fold(Spans::default(), |all, part| all.union(&Spans::listed(part.to_vec())));
            let backwards = list.iter().rev().fold(Spans::default(), |all, span| all.with(*span));
            for view in [&grown, &read, &by_parts, &backwards] {
                prop_assert_eq!(view, &Spans::listed(list.clone()));
                prop_assert!(view.iter().eq(&list) && view.iter().rev().eq(list.iter().rev()));
            }
            let silent: Vec<Span> = list.iter().enumerate()
                .map(|(n, span)| Span { through: if (n / step) % 3 == 0 { 2 } else { 0 }, ..*span }).collect();
            let view = Spans::listed(silent.clone());
            prop_assert!(view.with_messages().eq(silent.iter().filter(|span| span.messages() > 0)));
            let (earlier, later) = grown.apart(Seq(at));
            prop_assert!(earlier.iter().eq(list.iter().filter(|span| span.first < Seq(at))));
            prop_assert!(later.iter().eq(list.iter().filter(|span| span.first >= Seq(at))));
            prop_assert_eq!(&earlier.union(&later), &grown);
            prop_assert_eq!(&grown.without(&earlier), &later);
            prop_assert_eq!(&grown.without(&later), &earlier);
            let (mine, theirs) = grown.differing(&earlier);
            prop_assert!(mine.len() - theirs.len() == later.iter().len() && theirs.len() < PAGE_SPANS);
        }
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
