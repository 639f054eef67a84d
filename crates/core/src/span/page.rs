//! Pages: parts of long views that many sessions share.

use super::Span;
use crate::digest::Digest;
use crate::entry::Seq;
use crate::segment;
use std::sync::Arc;

/// How many spans a page has.
pub(crate) const PAGE_SPANS: usize = 16;

/// A full page of spans and the pages before it. It never changes, and its id says what it and they hold.
#[derive(Debug)]
pub struct Page {
    id: Digest,
    before: Option<Arc<Self>>,
    /// The nearest page before it with messages of its own: forks of forks add many without.
    spoken: Option<Arc<Self>>,
    spans: Vec<Span>,
    /// How many messages are seen, on the pages before too.
    messages: u32,
    /// The segment and the beginning of the last span, if both rise from span to span, on the pages before too.
    bounds: Option<(segment::Number, Seq)>,
}

impl Page {
    pub(super) const NO_BOUNDS: (segment::Number, Seq) = (segment::Number(0), Seq::ZERO);

    /// Makes a page; nothing if it is not full.
    pub fn new(before: Option<Arc<Self>>, spans: Vec<Span>) -> Option<Arc<Self>> {
        (spans.len() == PAGE_SPANS).then(|| Self::build(before, spans))
    }

    pub(super) fn build(before: Option<Arc<Self>>, spans: Vec<Span>) -> Arc<Self> {
        let (messages, bounds) =
            before.as_ref().map_or((0, Some(Self::NO_BOUNDS)), |page| (page.messages, page.bounds));
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"segue page 1\0");
        hasher.update(&before.as_ref().map_or(Digest::NONE, |page| page.id).0);
        for span in &spans {
            for part in [
                u64::from(span.segment.0),
                span.first.0,
                span.last.0,
                span.before.into(),
                span.through.into(),
            ] {
                hasher.update(&part.to_le_bytes());
            }
        }
        let messages = spans.iter().fold(messages, |all, span| all.saturating_add(span.messages()));
        let bounds = bounds.and_then(|bounds| super::ascending(bounds, &spans));
        let spoken = before.as_ref().and_then(Self::spoken);
        Arc::new(Self { id: Digest(hasher.finalize().into()), before, spoken, spans, messages, bounds })
    }

    /// Returns the id: a digest of the spans and of the id of the page before.
    pub fn id(&self) -> Digest {
        self.id
    }

    /// Returns the page before.
    pub fn before(&self) -> Option<&Arc<Self>> {
        self.before.as_ref()
    }

    /// Returns the spans of this page.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    pub(super) fn messages(&self) -> u32 {
        self.messages
    }

    pub(super) fn bounds(&self) -> Option<(segment::Number, Seq)> {
        self.bounds
    }

    /// Returns this page if it has messages of its own, else the nearest one before it that has.
    fn spoken(self: &Arc<Self>) -> Option<Arc<Self>> {
        match self.spans.iter().any(|span| span.messages() > 0) {
            true => Some(Arc::clone(self)),
            false => self.spoken.clone(),
        }
    }

    /// Returns the nearest page before it with messages of its own.
    pub(super) fn spoken_before(&self) -> Option<&Arc<Self>> {
        self.spoken.as_ref()
    }

    /// Lists a page and those before it that have messages, in order. The first one looked at may have none.
    pub(super) fn spoken_chain<'a>(last: Option<&'a Arc<Self>>) -> Vec<&'a Arc<Self>> {
        let mut all: Vec<&'a Arc<Self>> = std::iter::successors(last, |page| page.spoken.as_ref()).collect();
        all.reverse();
        all
    }

    /// Lists a page and those before it, in order.
    pub(super) fn chain<'a>(last: Option<&'a Arc<Self>>) -> Vec<&'a Arc<Self>> {
        let mut all: Vec<&'a Arc<Self>> = std::iter::successors(last, |page| page.before()).collect();
        all.reverse();
        all
    }
}

impl Drop for Page {
    /// Takes a long chain apart page by page: each in the drop of the next would need a deep stack.
    fn drop(&mut self) {
        // The shortcut goes first: the chain still holds where it leads to.
        self.spoken = None;
        let mut next = self.before.take();
        while let Some(mut page) = next.and_then(Arc::into_inner) {
            page.spoken = None;
            next = page.before.take();
        }
    }
}

/// The spans of a view, in order.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    /// All but the last one have [`PAGE_SPANS`] spans.
    parts: Vec<&'a [Span]>,
    next: usize,
    end: usize,
}

impl<'a> Iter<'a> {
    pub(super) fn of(pages: &[&'a Arc<Page>], tail: &'a [Span]) -> Self {
        let parts = pages.iter().map(|page| page.spans()).chain([tail]).collect();
        Self { parts, next: 0, end: pages.len() * PAGE_SPANS + tail.len() }
    }

    fn get(&self, at: usize) -> Option<&'a Span> {
        self.parts.get(at / PAGE_SPANS)?.get(at % PAGE_SPANS)
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Span;

    fn next(&mut self) -> Option<&'a Span> {
        let span = (self.next < self.end).then(|| self.get(self.next))??;
        self.next += 1;
        Some(span)
    }

    fn last(mut self) -> Option<&'a Span> {
        self.next_back()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.next);
        (left, Some(left))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let span = (self.next < self.end).then(|| self.get(self.end - 1))??;
        self.end -= 1;
        Some(span)
    }
}

impl ExactSizeIterator for Iter<'_> {}
