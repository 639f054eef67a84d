//! Deciding and committing a turn, again if another one was faster.

use crate::context::Stepped;
use crate::engine::{Engine, Turn};
use crate::error::Error;
use crate::mind::Mind;
use crate::observe::may_carry;
use crate::opinion::{Doubt, Opinion};
use crate::request::{Meaning, Refused, Request};
use crate::tasks::intent::stated;
use segue_core::decide::{Circumstances, Command, Decided};
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId, Role};
use segue_core::scope;
use segue_core::state::State;
use segue_core::task::intent::MessageIntent;
use segue_store::{Append, settle};
use std::sync::Arc;

/// How often a turn is decided again because others were faster.
const TRIES_MAX: usize = 64;

pub(crate) enum Committed {
    Done(Box<Decided>),
    Refused(Refused, Arc<State>),
    Again(Seq),
    /// Nothing yet: a model is to be asked first, and nobody else has to wait for that.
    Doubtful(Box<Doubt>),
}

impl Engine {
    /// Decides and commits. Where a model is asked first, nobody else has to wait for it.
    pub(crate) async fn commit(&self, turn: &Turn, request: &Request) -> Result<Committed, Error> {
        match self.try_commit(turn, request, &Opinion::Open).await? {
            Committed::Doubtful(doubt) => {
                let opinion = self.consult(&doubt).await;
                self.try_commit(turn, request, &opinion).await
            }
            committed => Ok(committed),
        }
    }

    async fn try_commit(
        &self,
        turn: &Turn,
        request: &Request,
        opinion: &Opinion,
    ) -> Result<Committed, Error> {
        let scope = &turn.scope;
        let id = request.message_id().or(turn.spoken.as_ref().and_then(|s| s.message_id.as_ref()));
        let mut drawer = self.states.turn(scope).await;
        let mut meant = None;
        for _ in 0..TRIES_MAX {
            let prior = match drawer.get(scope) {
                Some(state) => state,
                None => {
                    let loaded = self.store.load(scope).await?;
                    loaded.unwrap_or_else(|| Arc::new(State::empty(scope.clone())))
                }
            };
            // What destroys is resolved on a state that is checked, once.
            if request.destroys() && !self.is_current(&prior).await? {
                drawer.forget(scope);
                continue;
            }
            let remembered = drawer.take_mind(scope);
            let mut mind = None;
            let command = match request {
                Request::Say(Role::User, message) => {
                    mind = self.mind(&prior, remembered).await;
                    match self.hear(turn, &prior, mind.as_deref(), message, None, opinion).await {
                        Ok(command) => command,
                        // A second delivery has its answer already.
                        Err(doubt) => {
                            // Nobody is asked about a state that is not the newest one.
                            if !self.is_current(&prior).await? {
                                drawer.forget(scope);
                                continue;
                            }
                            return match self.seen(scope, id).await? {
                                Some(seq) => Ok(Committed::Again(seq)),
                                None => Ok(Committed::Doubtful(doubt)),
                            };
                        }
                    }
                }
                Request::Stated(message, intent) => {
                    mind = self.mind(&prior, remembered).await;
                    match self.hear(turn, &prior, mind.as_deref(), message, Some(*intent), opinion).await {
                        Ok(command) => command,
                        Err(_) if !self.is_current(&prior).await? => {
                            drawer.forget(scope);
                            continue;
                        }
                        Err(doubt) => return Ok(Committed::Doubtful(doubt)),
                    }
                }
                Request::Answer(answer) => {
                    mind = self.mind(&prior, remembered).await;
                    let summary = self.carry_over(turn, &prior).await;
                    Command::Answer { answer: *answer, summary }
                }
                Request::Say(..) => {
                    mind = remembered.filter(|mind| mind.head == prior.head);
                    match self.resolve(request, &prior).await? {
                        Ok(command) => command,
                        // What is stale may refuse what is right.
                        Err(_) if !self.is_current(&prior).await? => {
                            drawer.forget(scope);
                            continue;
                        }
                        Err(refused) => return self.refuse(scope, id, refused, prior).await,
                    }
                }
                _ => match self.resolve(request, &prior).await? {
                    Ok(command) => command,
                    Err(_) if !self.is_current(&prior).await? => {
                        drawer.forget(scope);
                        continue;
                    }
                    Err(refused) => return self.refuse(scope, id, refused, prior).await,
                },
            };
            if request.destroys() {
                let means = Meaning::of(&prior, &command);
                if *meant.get_or_insert_with(|| means.clone()) != means {
                    return self.refuse(scope, id, Refused::Changed, prior).await;
                }
            }
            let fresh = self.ids.fresh(turn.at);
            let circumstances = Circumstances { now: turn.at, fresh, spoken: turn.spoken.clone() };
            let mut decided = match self.decide(&prior, &turn.policy, command, &circumstances).await? {
                Ok(decided) => decided,
                Err(_) if !self.is_current(&prior).await? => {
                    drawer.forget(scope);
                    continue;
                }
                Err(refusal) => return self.refuse(scope, id, refusal.into(), prior).await,
            };
            // In the same append, so that no session is ever without what it is pinned to.
            if let Some(session) = decided.opened(&prior) {
                decided.pin(session, Box::pin(self.capture(scope)).await, turn.at)?;
            }
            // What changes nothing is not written: a task that was kept before, a step with nothing in it.
            if decided.records.is_empty() {
                return Ok(Committed::Done(Box::new(decided)));
            }
            let append = Append::of(fresh.into(), prior, &mut decided, id.cloned());
            let next = append.next.clone();
            let mut stepped = self.recents.step(&append, &decided);
            if let Some(foreseen) = stepped.as_mut().and_then(Stepped::foresee) {
                // The store is at work meanwhile.
                let classifier = Arc::clone(&self.classifier);
                self.beside.begin(move || foreseen.write(&classifier));
            }
            match settle::append(self.store.as_ref(), append).await {
                Ok(()) => {
                    drawer.put(next, self.follow(mind, &decided, request));
                    if let Some(stepped) = stepped {
                        self.recents.keep(stepped);
                    }
                    drop(drawer);
                    self.remember(request, &decided);
                    self.carry_out(&decided).await;
                    return Ok(Committed::Done(Box::new(decided)));
                }
                Err(segue_store::Error::Conflict { .. }) => drawer.forget(scope),
                Err(segue_store::Error::Duplicate { seq }) => return Ok(Committed::Again(seq)),
                Err(error) => {
                    drawer.forget(scope);
                    return Err(error.into());
                }
            }
        }
        Err(Error::Busy { scope: scope.clone() })
    }

    /// Observes a message of the person; a model may have to be asked first.
    async fn hear(
        &self,
        turn: &Turn,
        prior: &State,
        mind: Option<&Mind>,
        message: &Message,
        intent: Option<MessageIntent>,
        opinion: &Opinion,
    ) -> Result<Command, Box<Doubt>> {
        let mut observed = self.observe(turn, prior, mind, message).await;
        observed.task = match intent {
            Some(intent) => Some(stated(intent)),
            None => self.task_reading(prior, message).await,
        };
        if let Opinion::Open = opinion
            && let Some(doubt) = self.doubt(turn, prior, mind, message, &observed).await
        {
            return Err(doubt);
        }
        self.take_in(prior, opinion, &mut observed);
        let summary = match may_carry(prior, &observed) {
            true => self.carry_over(turn, prior).await,
            false => None,
        };
        Ok(Command::UserMessage { message: message.clone(), observed: Box::new(observed), summary })
    }

    /// Takes a message that was written into what is known about its session; after a boundary it is read again.
    fn follow(&self, mind: Option<Box<Mind>>, decided: &Decided, request: &Request) -> Option<Box<Mind>> {
        let Request::Say(role, message) = request else { return None };
        // An answer in words is no message of the session.
        let is_of_session = decided.action.goes_on() && !decided.because_answered();
        let mind = mind.filter(|mind| is_of_session && mind.session == decided.session)?;
        mind.follow(&self.classifier, decided.state.head, *role, message)
    }

    /// Refuses a request, unless it was accepted before: the first delivery may be why the second one
    /// cannot be done.
    async fn refuse(
        &self,
        scope: &scope::Key,
        id: Option<&MessageId>,
        refused: Refused,
        state: Arc<State>,
    ) -> Result<Committed, Error> {
        let seen = self.seen(scope, id).await?;
        Ok(seen.map_or(Committed::Refused(refused, state), Committed::Again))
    }

    /// Tells whether a state that is kept in memory is what the store has.
    async fn is_current(&self, state: &State) -> Result<bool, Error> {
        let head = self.store.head(&state.scope).await?;
        Ok(head.unwrap_or(Seq::ZERO) == state.head)
    }

    async fn seen(&self, scope: &scope::Key, id: Option<&MessageId>) -> Result<Option<Seq>, Error> {
        match id {
            Some(id) => Ok(self.store.seen(scope, id).await?),
            None => Ok(None),
        }
    }
}
