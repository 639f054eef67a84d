//! Assembling: reading a session back and laying out what of it is shown.

use super::budget::{Budget, Room};
use super::cache::{CarriedOver, ContextCache, Turned};
use super::front::{Front, Part, written};
use super::last::LastContext;
use super::layout::{Layout, TooLarge, rolled};
use super::tail::Tail;
use super::{Context, Source, Unassembled};
use crate::engine::Engine;
use crate::error::Error;
use crate::history::stored_message;
use crate::words::quoted;
use segue_core::entry::Body;
use segue_core::message::Role;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_store::{Filter, Reading, Take};
use std::sync::Arc;

impl Engine {
    /// Assembles the context of a scope's latest session for the window of the configuration.
    pub async fn context(&self, scope: &scope::Key) -> Result<Context, Unassembled> {
        let window = self.config.context_window_for(scope, None);
        self.assemble(scope, &Budget::of_window(window, self.counter.as_ref())).await
    }

    /// Assembles the context of a scope's latest session inside a budget.
    pub async fn assemble(&self, scope: &scope::Key, budget: &Budget<'_>) -> Result<Context, Unassembled> {
        let mut entered = self.scopes.enter(scope).await;
        let state = entered.checked(self.store.as_ref()).await?;
        let state = state.ok_or_else(|| Error::NoScope { scope: scope.clone() })?;
        let mut cache = match entered.context.take() {
            Some(cache) => cache,
            None => self.begin_cache(state).await?,
        };
        let layout = match cache.layout.take().filter(|layout| layout.is_for(budget)) {
            Some(layout) => layout,
            None => {
                cache.last = None;
                self.lay_out(&cache, budget).await?
            }
        };
        if let Some(context) = cache.last.as_ref().and_then(|last| last.of_all(&cache)) {
            cache.layout = Some(layout);
            entered.context = Some(cache);
            return Ok(context);
        }
        let (room, budget) = (layout.room, &Budget { model: Some(&layout.base.model), ..*budget });
        let store = self.store.as_ref();
        let mut tail = Tail::new(&mut cache, budget, layout.tokens_max());
        tail.fill(store, tail.end(), room.messages).await?;
        let place = match layout.first_shown(&tail) {
            Ok(place) => place,
            Err(TooLarge { newest }) => {
                let mut what = "the newest message and room for a summary".to_owned();
                if !layout.base.front.is_empty() {
                    what = format!("{}, {what}", layout.base.named());
                }
                return Err(budget.short(what, budget.room() - room.messages + newest).into());
            }
        };
        let mut summed_up = None;
        if let Some(rolled) = rolled(&tail, place) {
            tail.fill(store, rolled.end, room.messages).await?;
            summed_up = layout.note(&mut tail, rolled.end).map(|noted| (rolled, noted));
        }
        let context = layout.context(&tail, budget, place, summed_up);
        let is_usual = layout.is_for(budget);
        let last = LastContext::of(&layout, &tail, place, &context).filter(|_| is_usual);
        cache.needed = tail.taken();
        cache.last = last;
        cache.layout = is_usual.then_some(layout);
        entered.context = Some(cache);
        Ok(context)
    }

    /// Lays out what stands in front of a session, and how much room is left behind that.
    async fn lay_out(&self, cache: &ContextCache, budget: &Budget<'_>) -> Result<Layout, Unassembled> {
        let pinned = self.pinned(&cache.state, cache.session).await?;
        let budget = &Budget { model: Some(&pinned.model), ..*budget };
        let mut base = Context {
            session: cache.state.key(cache.session),
            front: written(budget, &pinned),
            messages: Vec::new(),
            older: 0,
            tokens: 0,
            window: budget.window,
            model: pinned.model.clone(),
            sources: Vec::new(),
        };
        base.list_given();
        base.carry_over(cache, budget);
        let fixed: u64 = base.front.iter().map(|front| front.tokens).sum();
        if fixed >= budget.room() {
            return Err(budget.short(base.named(), fixed + 1).into());
        }
        let language = self.config.language_for(&cache.state.scope, None);
        let (room, counter) = (Room::of(budget.room() - fixed), Arc::clone(&self.counter));
        Ok(Layout { base, answer: budget.answer, room, language, counter })
    }

    /// Begins to read the latest session.
    async fn begin_cache(&self, state: Arc<State>) -> Result<Box<ContextCache>, Error> {
        let Some(latest) = state.latest() else { return Err(Error::NoScope { scope: state.scope.clone() }) };
        let carried = self.carried(&state, latest).await?;
        let turned = self.last_turned(&state, latest).await?;
        Ok(Box::new(ContextCache::new(state, latest, carried, turned)))
    }

    /// Finds the summary that a session began with.
    async fn carried(&self, state: &State, latest: Number) -> Result<Option<CarriedOver>, Error> {
        let first = Reading::first_message(state.view(latest));
        let first = self.store.read(&state.scope, &first).await?.into_iter().next();
        let Some(record) = first.filter(|record| record.kind.role() == Some(Role::System)) else {
            return Ok(None);
        };
        let Some(message) = stored_message(&record).and_then(|stored| stored.message) else {
            return Ok(None);
        };
        let carried =
            |from| CarriedOver { seq: record.seq, segment: record.segment, text: message.text, from };
        Ok(message.carried_from.map(carried))
    }

    /// Finds what was decided last.
    pub(crate) async fn last_turned(&self, state: &State, latest: Number) -> Result<Option<Turned>, Error> {
        let reading = Reading { view: state.view(latest), filter: Filter::Decisions, take: Take::Newest(1) };
        let records = self.store.read(&state.scope, &reading).await?;
        Ok(records.iter().find_map(|record| match record.body() {
            Ok(Body::Decision(decision)) => Some(Turned { action: decision.action, about: decision.about }),
            Ok(_) | Err(_) => None,
        }))
    }
}

impl Context {
    /// Puts the summary that the session began with in front.
    fn carry_over(&mut self, cache: &ContextCache, budget: &Budget<'_>) {
        let Some(carried) = &cache.carried else { return };
        let text = quoted::carry_over(carried.from, &carried.text);
        self.front.push(Front::new(budget, Part::CarryOver, text));
        self.sources.push(Source {
            part: Part::CarryOver,
            session: self.session.clone(),
            segment: Some(carried.segment),
            messages: 1,
            why: format!("carried over from session {}", cache.state.key(carried.from)),
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
