//! Deciding and committing a turn, again if another one was faster.

use crate::engine::{Engine, Turn};
use crate::error::Error;
use crate::request::{Affected, Refused, Request};
use crate::scope::{Change, Entered};
use crate::tasks::intent::stated;
use crate::turn::observe::may_carry;
use crate::turn::opinion::{ModelConsult, ModelQuestion};
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
    Doubtful(Box<ModelQuestion>),
}

impl Engine {
    /// Decides and commits. Where a model is asked first, nobody else has to wait for it.
    pub(crate) async fn commit(&self, turn: &Turn, request: &Request) -> Result<Committed, Error> {
        match self.try_commit(turn, request, &ModelConsult::Open).await? {
            Committed::Doubtful(doubt) => {
                let opinion = self.consult(*doubt).await;
                self.try_commit(turn, request, &opinion).await
            }
            committed => Ok(committed),
        }
    }

    async fn try_commit(
        &self,
        turn: &Turn,
        request: &Request,
        opinion: &ModelConsult,
    ) -> Result<Committed, Error> {
        let scope = &turn.scope;
        let id = request.message_id().or(turn.spoken.as_ref().and_then(|s| s.message_id.as_ref()));
        let mut entered = self.scopes.enter(scope).await;
        let mut meant = None;
        for _ in 0..TRIES_MAX {
            let prior = entered.state(self.store.as_ref()).await?;
            // What destroys is resolved on a state that is checked, once.
            if request.destroys() && !self.is_current(&prior).await? {
                entered.forget();
                continue;
            }
            let command = match request {
                Request::Say(Role::User, message) => {
                    match self.on_user_message(turn, &mut entered, &prior, message, None, opinion).await {
                        Ok(command) => command,
                        // A second delivery has its answer already.
                        Err(doubt) => {
                            // Nobody is asked about a state that is not the newest one.
                            if !self.is_current(&prior).await? {
                                entered.forget();
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
                    match self
                        .on_user_message(turn, &mut entered, &prior, message, Some(*intent), opinion)
                        .await
                    {
                        Ok(command) => command,
                        Err(_) if !self.is_current(&prior).await? => {
                            entered.forget();
                            continue;
                        }
                        Err(doubt) => return Ok(Committed::Doubtful(doubt)),
                    }
                }
                Request::Answer(answer) => {
                    let summary = self.carry_over(turn, &prior).await;
                    Command::Answer { answer: *answer, summary }
                }
                _ => match self.resolve(request, &prior).await? {
                    Ok(command) => command,
                    // What is stale may refuse what is right.
                    Err(_) if !self.is_current(&prior).await? => {
                        entered.forget();
                        continue;
                    }
                    Err(refused) => return self.refuse(scope, id, refused, prior).await,
                },
            };
            if request.destroys() {
                let means = Affected::of(&prior, &command);
                if *meant.get_or_insert_with(|| means.clone()) != means {
                    return self.refuse(scope, id, Refused::Changed, prior).await;
                }
            }
            let fresh = self.ids.fresh(turn.at);
            let circumstances = Circumstances { now: turn.at, fresh, spoken: turn.spoken.clone() };
            let mut decided = match self.decide(&prior, &turn.policy, command, &circumstances).await? {
                Ok(decided) => decided,
                Err(_) if !self.is_current(&prior).await? => {
                    entered.forget();
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
            self.announce(&decided).await?;
            let append = Append::of(fresh.into(), prior, &mut decided, id.cloned());
            let change = Change::of(&append, &decided, request);
            let memory = entered.take(change.next.head);
            // The memory moves forward while the store writes.
            let appending = settle::append(self.store.as_ref(), append);
            let (done, memory) = tokio::join!(appending, async { memory.apply(self.reader(), &change) });
            match done {
                Ok(()) => {
                    entered.put(memory);
                    drop(entered);
                    self.carry_out(&mut decided, turn.purge).await;
                    return Ok(Committed::Done(Box::new(decided)));
                }
                // Another one wrote, perhaps for the agents.
                Err(segue_store::Error::Conflict { .. }) => entered.wake(),
                Err(segue_store::Error::Duplicate { seq }) => return Ok(Committed::Again(seq)),
                Err(error) => {
                    entered.wake();
                    return Err(error.into());
                }
            }
        }
        Err(Error::Busy { scope: scope.clone() })
    }

    /// Observes a message of the person; a model may have to be asked first.
    async fn on_user_message(
        &self,
        turn: &Turn,
        entered: &mut Entered<'_>,
        prior: &State,
        message: &Message,
        intent: Option<MessageIntent>,
        opinion: &ModelConsult,
    ) -> Result<Command, Box<ModelQuestion>> {
        let others = entered.others.clone();
        let profile = self.profile(entered, prior).await;
        let mut observed = match opinion.observed(prior) {
            Some(observed) => observed,
            None => {
                let mut observed = self.observe(turn, prior, profile, &others, message).await;
                observed.task = match intent {
                    Some(intent) => Some(stated(intent)),
                    None => self.task_reading(prior, profile, message).await,
                };
                observed
            }
        };
        if let ModelConsult::Open = opinion
            && let Some(doubt) = self.doubt(turn, prior, profile, message, &observed).await
        {
            return Err(doubt);
        }
        self.take_in(prior, opinion, &mut observed);
        let summary = match may_carry(&turn.policy, &observed) {
            true => self.carry_over(turn, prior).await,
            false => None,
        };
        Ok(Command::UserMessage { message: message.clone(), observed: Box::new(observed), summary })
    }

    /// Refuses a request, unless it was accepted before: the first delivery may be why the second one
    /// cannot be done.
    pub(crate) async fn refuse(
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
