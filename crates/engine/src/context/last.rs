//! The last context of a session, kept so that the next one only has to add what was said since.

use super::Context;
use super::budget::Budget;
use super::cache::ContextCache;
use super::cut;
use super::front::Part;
use super::layout::Layout;

use super::tail::{Item, Tail};
use segue_core::decision::Action;
use std::sync::Arc;

/// A context, and by what it can be told whether the next one begins with the same message.
#[derive(Debug)]
pub(super) struct LastContext {
    pub(super) context: Context,
    /// The place of the first message that is shown, and the one behind the newest.
    place: usize,
    end: usize,
    /// From where on the newest messages fit into the room, and into half of it.
    whole: Edge,
    half: Edge,
}

/// The first message from which on all cost no more than some room.
#[derive(Debug, Clone, Copy)]
struct Edge {
    first: usize,
    cost: u64,
    room: u64,
}

impl Edge {
    /// Nothing if there are more messages than the session should have.
    fn of(tail: &Tail<'_>, room: u64) -> Option<Self> {
        let mut edge = Self { first: tail.end(), cost: 0, room };
        for cost in tail.costs() {
            if edge.cost + cost > room {
                break;
            }
            edge.first = edge.first.checked_sub(1)?;
            edge.cost += cost;
        }
        Some(edge)
    }

    /// Takes in one more message; nothing if a message that has to go is not in memory.
    fn push(&mut self, cost: u64, cost_at: impl Fn(usize) -> Option<u64>) -> Option<()> {
        self.cost += cost;
        while self.cost > self.room {
            self.cost = self.cost.checked_sub(cost_at(self.first)?)?;
            self.first += 1;
        }
        Some(())
    }
}

impl LastContext {
    /// Keeps a context, unless something in it is a matter of more than the newest messages.
    pub(super) fn of(layout: &Layout, tail: &Tail<'_>, place: usize, context: &Context) -> Option<Self> {
        let is_plain = tail.is_unclipped() && (place > 0 || !context.has(Part::Summary));
        let (room, end) = (layout.room.messages, tail.end());
        let (whole, half) = (Edge::of(tail, room)?, Edge::of(tail, room / 2)?);
        is_plain.then(|| Self { context: context.clone(), place, end, whole, half })
    }

    /// Returns how many of the newest messages it needs in memory.
    pub(super) fn needs(&self) -> usize {
        self.end.saturating_sub(self.place.min(self.whole.first))
    }

    /// Returns the context, if it is that of all messages.
    pub(super) fn of_all(&self, cache: &ContextCache) -> Option<Context> {
        (self.end == cache.view.messages() as usize).then(|| self.context.clone())
    }

    /// Adds what was said since; nothing if the next context is not this one with something added.
    pub(super) fn extended(mut self, layout: &Layout, cache: &ContextCache) -> Option<Self> {
        let budget = layout.budget();
        let end = cache.view.messages() as usize;
        // A session that is shown whole may still be summed up, because of what was decided last.
        let is_ordinary = cache.turned.is_none_or(|turned| turned.action == Action::Continue);
        if self.place == 0 && !is_ordinary {
            return None;
        }
        for place in self.end..end {
            self.add(layout, cache, &budget, place)?;
        }
        let is_cut_here = cut::place(self.whole.first, self.half.first, end) == self.place;
        (is_cut_here && self.whole.first < end).then_some(Self { end, ..self })
    }

    fn add(
        &mut self,
        layout: &Layout,
        cache: &ContextCache,
        budget: &Budget<'_>,
        place: usize,
    ) -> Option<()> {
        let end = cache.view.messages() as usize;
        let before = place.checked_sub(1).and_then(|before| item(cache, end, before));
        let item = item(cache, end, place)?;
        let cost = item.cost(budget);
        let in_front = cache.carried.as_ref().map(|carried| carried.seq);
        let cost_at = |place: usize| {
            let item = self::item(cache, end, place)?;
            Some(if Some(item.stored.seq) == in_front { 0 } else { item.cost(budget) })
        };
        let is_shown = |item: &Item| item.stored.message.is_some() && Some(item.stored.seq) != in_front;
        // The message before is shown, too, and of the same stretch: so is what is said about them.
        let goes_on = cache.view.iter().last().is_some_and(|span| {
            let holds = |item: &Item| span.holds(item.segment, item.stored.seq) && is_shown(item);
            holds(item) && before.is_some_and(holds)
        });
        let source = self.context.sources.iter_mut().rev().find(|source| source.part == Part::Messages)?;
        // What has to be clipped is for the long way.
        if cost > layout.tokens_max() || !goes_on || source.segment != Some(item.segment) {
            return None;
        }
        source.messages += 1;
        self.whole.push(cost, cost_at)?;
        self.half.push(cost, cost_at)?;
        self.context.tokens += cost;
        self.context.messages.push(Arc::clone(&item.stored));
        Some(())
    }
}

/// Finds a message in memory by its place.
fn item(cache: &ContextCache, end: usize, place: usize) -> Option<&Item> {
    cache.nth_newest(end.checked_sub(place + 1)?)
}
