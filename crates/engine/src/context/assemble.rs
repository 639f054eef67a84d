//! Assembling: reading a session back and laying out what of it is shown.

use super::budget::{Budget, Room, Short};
use super::cut::{cut, ruler};
use super::front::{Front, Part, written};
use super::recent::{CarriedOver, Recent, Turned};
use super::rolling;
use super::tail::{Item, Tail};
use super::{Context, Source, Unassembled};
use crate::engine::Engine;
use crate::error::Error;
use crate::history::told;
use segue_core::decision::Action;
use segue_core::entry::Body;
use segue_core::message::Role;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::span::Spans;
use segue_core::state::State;
use segue_signals::context::EstimatedTokens;
use segue_store::{Filter, Reading, Take};
use std::sync::Arc;

/// Why reasoning is not shown.
const UNTHOUGHT: &str =
    "the model's own reasoning is too long here and left out: it is shown whole or not at all";

/// Which messages the rolling summary stands for.
struct Rolled {
    end: usize,
    why: &'static str,
}

impl Engine {
    /// Assembles the context of a scope's latest session for the window of the configuration.
    pub async fn context(&self, scope: &scope::Key) -> Result<Context, Unassembled> {
        let window = self.config.context_window_for(scope, None);
        self.assemble(scope, &Budget::of_window(window, &EstimatedTokens)).await
    }

    /// Assembles the context of a scope's latest session inside a budget.
    pub async fn assemble(&self, scope: &scope::Key, budget: &Budget<'_>) -> Result<Context, Unassembled> {
        let mut recent = self.recent(scope).await?;
        let state = Arc::clone(&recent.state);
        let pinned = self.pinned(&state, recent.session).await?;
        let budget = &Budget { model: Some(&pinned.model), ..*budget };
        let mut context = Context {
            session: state.key(recent.session),
            front: written(budget, &pinned),
            messages: Vec::new(),
            older: 0,
            tokens: 0,
            window: budget.window,
            model: pinned.model.clone(),
            sources: Vec::new(),
        };
        context.list_given();
        context.carry_over(&recent, budget);
        let fixed: u64 = context.front.iter().map(|front| front.tokens).sum();
        let short =
            |what: String, needed: u64| Short { what, needed, room: budget.room(), window: budget.window };
        if fixed >= budget.room() {
            return Err(short(context.named(), fixed + 1).into());
        }
        let room = Room::of(budget.room() - fixed);
        let in_front = recent.carried.as_ref().map(|carried| carried.seq);
        let mut tail = Tail::new(self.store.as_ref(), &mut recent, budget, room.messages / 2);
        let all = tail.end();
        tail.fill(all, room.messages).await?;
        let costs = tail.costs_before(all);
        let Some(found) = cut(tail.from(), &costs, room.messages) else {
            let newest = costs.last().copied().unwrap_or(0);
            let mut what = "the newest message and room for a summary".to_owned();
            if !context.front.is_empty() {
                what = format!("{}, {what}", context.named());
            }
            return Err(short(what, budget.room() - room.messages + newest).into());
        };
        let place = whole_exchange(&tail, found.first, found.place);
        if let Some(rolled) = rolled(&tail, place) {
            tail.fill(rolled.end, room.messages).await?;
            self.roll(scope, &mut tail, &rolled, room, budget, &mut context);
        }
        let is_shown = |item: &&Item| item.told.message.is_some() && Some(item.told.seq) != in_front;
        let shown: Vec<&Item> = tail.items(place, tail.end()).filter(is_shown).collect();
        context.older = place.saturating_sub(usize::from(in_front.is_some() && place > 0));
        context.list_messages(&tail.recent().view, &shown);
        context.list_unthought(tail.unthought_from(place));
        let front: u64 = context.front.iter().map(|front| front.tokens).sum();
        context.tokens = front + tail.cost_from(place);
        context.messages = shown.into_iter().map(|item| Arc::clone(&item.told)).collect();
        let taken = tail.taken();
        recent.trim(taken);
        self.recents.put(recent);
        Ok(context)
    }

    /// Returns what is known about the latest session, or begins to read it.
    async fn recent(&self, scope: &scope::Key) -> Result<Recent, Error> {
        if let Some(recent) = self.recents.take(scope)
            && self.store.head(scope).await? == Some(recent.state.head)
        {
            return Ok(recent);
        }
        let state = self.state(scope).await?;
        let Some(latest) = state.latest() else { return Err(Error::NoScope { scope: scope.clone() }) };
        let carried = self.carried(&state, latest).await?;
        let turned = self.last_turned(&state, latest).await?;
        Ok(Recent::new(state, latest, carried, turned))
    }

    /// Finds the summary that a session began with.
    async fn carried(&self, state: &State, latest: Number) -> Result<Option<CarriedOver>, Error> {
        let first = Reading::first_message(state.view(latest));
        let first = self.store.read(&state.scope, &first).await?.into_iter().next();
        let Some(record) = first.filter(|record| record.kind.role() == Some(Role::System)) else {
            return Ok(None);
        };
        let Some(message) = told(&record).and_then(|told| told.message) else { return Ok(None) };
        let carried =
            |from| CarriedOver { seq: record.seq, segment: record.segment, text: message.text, from };
        Ok(message.carried_from.map(carried))
    }

    /// Finds what was decided last.
    async fn last_turned(&self, state: &State, latest: Number) -> Result<Option<Turned>, Error> {
        let reading = Reading { view: state.view(latest), filter: Filter::Decisions, take: Take::Newest(1) };
        let records = self.store.read(&state.scope, &reading).await?;
        Ok(records.iter().find_map(|record| match record.body() {
            Ok(Body::Decision(decision)) => Some(Turned { action: decision.action, about: decision.about }),
            Ok(_) | Err(_) => None,
        }))
    }

    /// Puts the rolling summary in front. It looks back over as much as the room could show.
    fn roll(
        &self,
        scope: &scope::Key,
        tail: &mut Tail<'_>,
        rolled: &Rolled,
        room: Room,
        budget: &Budget<'_>,
        context: &mut Context,
    ) {
        let costs = tail.costs_before(rolled.end);
        let Some(found) = cut(tail.from(), &costs, room.messages) else { return };
        let words = {
            let mut items = tail.items(found.place, rolled.end);
            items.find(|item| item.told.role == Role::User).map_or("", |item| item.told.text.as_str())
        };
        let language = self.config.language_for(scope, None).for_text(words);
        let notes = tail.notes(&self.classifier, language, found.place, rolled.end);
        let Some(text) = rolling::fit(language, budget, room.summary, &notes) else { return };
        context.front.push(Front::new(budget, Part::Summary, text));
        context.sources.push(Source {
            part: Part::Summary,
            session: context.session.clone(),
            segment: None,
            messages: rolled.end.saturating_sub(found.place),
            why: rolled.why.to_owned(),
        });
    }
}

/// Tells which messages a rolling summary stands for, if there is to be one.
fn rolled(tail: &Tail<'_>, place: usize) -> Option<Rolled> {
    if place > 0 {
        return Some(Rolled { end: place, why: "older messages do not fit any more" });
    }
    let turned = tail.recent().turned?;
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
    let is_result = |place: usize| tail.item(place).is_some_and(|item| item.told.role == Role::Tool);
    let mut begin = place;
    while is_result(begin) && begin > first {
        begin -= 1;
    }
    if is_result(begin) { place } else { begin }
}

impl Context {
    /// Puts the summary that the session began with in front.
    fn carry_over(&mut self, recent: &Recent, budget: &Budget<'_>) {
        let Some(carried) = &recent.carried else { return };
        self.front.push(Front::new(budget, Part::CarryOver, carried.text.clone()));
        self.sources.push(Source {
            part: Part::CarryOver,
            session: self.session.clone(),
            segment: Some(carried.segment),
            messages: 1,
            why: format!("carried over from session {}", recent.state.key(carried.from)),
        });
    }

    fn list_given(&mut self) {
        let why = |part: Part| match part {
            Part::Persona => "who the agent is",
            Part::Skills => "the skills that the agent can ask for",
            Part::Instructions => "what the active agent is told",
            Part::CarryOver | Part::Summary | Part::Messages => "",
        };
        let session = &self.session;
        let source = |front: &Front| Source {
            part: front.part,
            session: session.clone(),
            segment: None,
            messages: 0,
            why: why(front.part).to_owned(),
        };
        self.sources = self.front.iter().map(source).collect();
    }

    fn list_messages(&mut self, view: &Spans, shown: &[&Item]) {
        let why =
            if self.older == 0 { "the latest session" } else { "the newest messages of the latest session" };
        for span in view.iter() {
            let messages = shown.iter().filter(|item| span.holds(item.segment, item.told.seq)).count();
            if messages > 0 || shown.is_empty() {
                self.sources.push(Source {
                    part: Part::Messages,
                    session: self.session.clone(),
                    segment: Some(span.segment),
                    messages,
                    why: why.to_owned(),
                });
            }
        }
    }

    /// Says of how many messages the reasoning is not shown.
    fn list_unthought(&mut self, messages: usize) {
        if messages > 0 {
            self.sources.push(Source {
                part: Part::Messages,
                session: self.session.clone(),
                segment: None,
                messages,
                why: UNTHOUGHT.to_owned(),
            });
        }
    }

    /// Names what stands in front, for people.
    fn named(&self) -> String {
        let name = |front: &Front| match front.part {
            Part::Persona => "the persona",
            Part::Skills => "the skills",
            Part::Instructions => "the agent's instructions",
            Part::CarryOver => "the carry-over",
            Part::Summary => "the summary",
            Part::Messages => "the messages",
        };
        let names: Vec<&str> = self.front.iter().map(name).collect();
        if names.is_empty() { "messages".to_owned() } else { names.join(", ") }
    }
}
