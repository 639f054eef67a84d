//! The layout of a context: which messages are shown, and which are summed up.

use super::budget::{Budget, Room};
use super::cache::ContextCache;
use super::cut::{cut, ruler};
use super::front::{Front, Part};
use super::rolling;
use super::tail::{Filled, Item, Tail};
use super::{Context, Source};
use crate::config;
use crate::words::Language;
use segue_core::decision::Action;
use segue_core::message::Role;
use segue_core::span::Spans;
use segue_signals::context::TokenCounter;
use std::fmt;
use std::sync::Arc;

/// Why reasoning is not shown.
const UNTHOUGHT: &str =
    "the model's own reasoning is too long here and left out: it is shown whole or not at all";

/// What a session is laid out by.
pub(super) struct Layout {
    /// The context with what stands in front of the whole session, and nothing else.
    pub(super) base: Context,
    /// How many tokens are left for the answer.
    pub(super) answer: u64,
    /// How much room there is behind that.
    pub(super) room: Room,
    /// The language of the notes, as it is set.
    pub(super) language: config::Language,
    /// Who counts.
    pub(super) counter: Arc<dyn TokenCounter>,
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layout").field("base", &self.base).finish_non_exhaustive()
    }
}

/// Which messages the rolling summary stands for.
pub(super) struct Rolled {
    pub(super) end: usize,
    why: &'static str,
}

/// The notes on messages that are not shown.
pub(super) struct Noted {
    /// The place of the first of them.
    from: usize,
    language: Language,
    notes: Arc<str>,
}

/// Not even the newest message fits.
pub(super) struct TooLarge {
    /// What it costs.
    pub(super) newest: u64,
}

impl Layout {
    /// Returns the most that one message may cost.
    pub(super) fn tokens_max(&self) -> u64 {
        self.room.messages / 2
    }

    /// Finds the first message that is shown.
    pub(super) fn first_shown(&self, tail: &Tail<'_>) -> Result<usize, TooLarge> {
        let costs = tail.costs_before(tail.end());
        match cut(tail.from(), &costs, self.room.messages) {
            Some(found) => Ok(whole_exchange(tail, found.first, found.place)),
            None => Err(TooLarge { newest: costs.last().copied().unwrap_or(0) }),
        }
    }

    /// Writes the notes on messages up to a place.
    pub(super) fn note(&self, tail: &mut Tail<'_>, end: usize) -> Option<Noted> {
        let (from, language) = self.noted(tail, end)?;
        Some(Noted { from, language, notes: tail.notes(language, from, end) })
    }

    /// Tells from which message on there are notes, and in which language. They look back over as much as the room could
    /// show.
    fn noted(&self, tail: &Tail<'_>, end: usize) -> Option<(usize, Language)> {
        let from = cut(tail.from(), &tail.costs_before(end), self.room.messages)?.place;
        let mut items = tail.items(from, end);
        let words =
            items.find(|item| item.stored.role == Role::User).map_or("", |item| item.stored.text.as_str());
        Some((from, self.language.for_text(words)))
    }

    /// Lays a session out from a message on, with notes on those before it.
    pub(super) fn context(
        &self,
        tail: &Tail<'_>,
        budget: &Budget<'_>,
        place: usize,
        summed_up: Option<(Rolled, Noted)>,
    ) -> Context {
        let mut context = self.base.clone();
        if let Some((rolled, noted)) = summed_up {
            self.roll(&mut context, budget, &rolled, &noted);
        }
        let cache = tail.cache();
        let in_front = cache.carried.as_ref().map(|carried| carried.seq);
        let is_shown = |item: &&Item| item.stored.message.is_some() && Some(item.stored.seq) != in_front;
        let shown: Vec<&Item> = tail.items(place, tail.end()).filter(is_shown).collect();
        context.older = place.saturating_sub(usize::from(in_front.is_some() && place > 0));
        list_messages(&mut context, &cache.view, &shown);
        list_unthought(&mut context, tail.unthought_from(place));
        context.tokens = context.front.iter().map(|front| front.tokens).sum::<u64>() + tail.cost_from(place);
        context.messages = shown.into_iter().map(|item| Arc::clone(&item.stored)).collect();
        context
    }

    /// Puts the rolling summary in front.
    fn roll(&self, context: &mut Context, budget: &Budget<'_>, rolled: &Rolled, noted: &Noted) {
        let Some(text) = rolling::fit(noted.language, budget, self.room.summary, &noted.notes) else {
            return;
        };
        context.front.push(Front::new(budget, Part::Summary, text));
        context.sources.push(Source {
            part: Part::Summary,
            session: context.session.clone(),
            segment: None,
            messages: rolled.end.saturating_sub(noted.from),
            why: rolled.why.to_owned(),
        });
    }

    /// Tells whether a context of a budget is laid out like this, and counted by the engine's own counter.
    pub(super) fn is_for(&self, budget: &Budget<'_>) -> bool {
        let counts_alike = budget.counter.name().is_some() && budget.counter.name() == self.counter.name();
        counts_alike && self.base.window == budget.window && self.answer == budget.answer
    }

    /// Returns the budget of the last context, if that was counted by the engine's own counter.
    pub(super) fn budget(&self) -> Budget<'_> {
        let (window, model) = (self.base.window, Some(&self.base.model));
        Budget { window, answer: self.answer, counter: self.counter.as_ref(), model }
    }

    /// Writes the notes that the next context will need, if that is like the last one and they are not written. It
    /// reads nothing for that: what is not in memory is found when the context is asked for.
    pub(super) fn write_notes_ahead(&self, cache: &mut ContextCache) {
        let _ = self.try_write_notes(cache);
    }

    fn try_write_notes(&self, cache: &mut ContextCache) -> Option<()> {
        let budget = self.budget();
        let is_all = cache.unread().is_empty();
        let mut tail = Tail::new(cache, &budget, self.tokens_max());
        let fill = |tail: &mut Tail<'_>, end| {
            (tail.fill_from_memory(end, self.room.messages) == Filled::Yes || is_all).then_some(())
        };
        let end = tail.end();
        fill(&mut tail, end)?;
        let place = self.first_shown(&tail).ok()?;
        let rolled = rolled(&tail, place)?;
        fill(&mut tail, rolled.end)?;
        self.note(&mut tail, rolled.end).map(drop)
    }
}

fn list_messages(context: &mut Context, view: &Spans, shown: &[&Item]) {
    let why =
        if context.older == 0 { "the latest session" } else { "the newest messages of the latest session" };
    // The newest spans are looked at until all messages are found: a session may have thousands.
    let (mut left, mut found) = (shown.len(), Vec::new());
    for span in view.iter().rev() {
        if left == 0 && !shown.is_empty() {
            break;
        }
        let messages = shown.iter().filter(|item| span.holds(item.segment, item.stored.seq)).count();
        left = left.saturating_sub(messages);
        if messages > 0 || shown.is_empty() {
            found.push((span.segment, messages));
        }
    }
    context.sources.extend(found.into_iter().rev().map(|(segment, messages)| Source {
        part: Part::Messages,
        session: context.session.clone(),
        segment: Some(segment),
        messages,
        why: why.to_owned(),
    }));
}

/// Says of how many messages the reasoning is not shown.
fn list_unthought(context: &mut Context, messages: usize) {
    if messages > 0 {
        context.sources.push(Source {
            part: Part::Messages,
            session: context.session.clone(),
            segment: None,
            messages,
            why: UNTHOUGHT.to_owned(),
        });
    }
}

/// Tells which messages a rolling summary stands for, if there is to be one.
pub(super) fn rolled(tail: &Tail<'_>, place: usize) -> Option<Rolled> {
    if place > 0 {
        return Some(Rolled { end: place, why: "older messages do not fit any more" });
    }
    let turned = tail.cache().turned?;
    match turned.action {
        Action::ContinueReinject => {
            // Up to the message that came after the pause: so it stays the same while that is worked on.
            let end = tail.place_of(turned.about).unwrap_or(tail.end());
            Some(Rolled { end, why: "the conversation goes on after a pause" })
        }
        Action::ContinueSummarize => {
            let end = ruler(tail.end() / 4, tail.end() / 2);
            Some(Rolled { end, why: "the window is filling up" })
        }
        Action::Continue
        | Action::Ask
        | Action::New
        | Action::NewCarryOver
        | Action::Fork
        | Action::Resume
        | Action::Merge
        | Action::Split
        | Action::Clear
        | Action::Command
        | Action::Refused => None,
    }
}

/// Moves a cut back to before the call whose results it would leave alone, as far as that fits.
fn whole_exchange(tail: &Tail<'_>, first: usize, place: usize) -> usize {
    let is_result = |place: usize| tail.item(place).is_some_and(|item| item.stored.role == Role::Tool);
    let mut begin = place;
    while is_result(begin) && begin > first {
        begin -= 1;
    }
    if is_result(begin) { place } else { begin }
}
