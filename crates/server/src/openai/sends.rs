//! How a client sends: its whole history, or only what is new. Most clients do not say it.

use super::request_message::RequestMessage;
use crate::app::App;
use crate::own::Order;
use crate::problem::Problem;
use segue_core::decision::Decision;
use segue_core::entry::{Body, Seq};
use segue_core::message::Role;
use segue_core::scope;
use segue_core::session::{Number, Origin};
use segue_core::state::State;
use segue_engine::config::History;
use std::iter::successors;

/// How many entries behind a message its decision is looked for.
const DECISION_BEHIND_MAX: usize = 24;

/// In how many of a session's newest messages it is looked for how its client sends them.
const NEWEST_MAX: usize = 32;

/// How many forks of forks are followed.
const PARENTS_MAX: usize = 64;

/// What the client says about its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sends {
    /// It says that it sends only what is new.
    OnlyNew,
    /// It names a conversation that is kept here: a single message is new, whoever put there what came before.
    InConversation,
    /// It is seen from what it sends.
    Unsaid,
}

/// A client that sends one message of a person, or only results of tools, sends only what is new.
fn is_only_new(said: &[RequestMessage]) -> bool {
    let tools = said.iter().filter(|said| said.role == Role::Tool).count();
    match said {
        [one] => one.role != Role::Assistant,
        said => tools > 0 && tools == said.len(),
    }
}

/// Tells whether what a session holds was taken over from elsewhere, by itself or before it was forked.
fn is_imported(state: &State, session: Number) -> bool {
    let of = |number: Number| state.sessions.get(&number);
    let parent = |number: &Number| {
        of(*number)
            .filter(|session| matches!(session.origin, Origin::Fork | Origin::Split))
            .and_then(|session| session.parent)
    };
    successors(Some(session), parent)
        .take(PARENTS_MAX)
        .any(|number| of(number).is_some_and(|session| session.origin == Origin::Import))
}

impl App {
    /// Tells whether all that a request says is new.
    pub(super) async fn is_new(
        &self,
        scope: &scope::Key,
        sends: Sends,
        said: &[RequestMessage],
    ) -> Result<bool, Problem> {
        match sends {
            Sends::OnlyNew => Ok(true),
            Sends::InConversation => Ok(is_only_new(said)),
            Sends::Unsaid => Ok(is_only_new(said) && !self.is_thread_of_its_own(scope, said).await?),
        }
    }

    /// Tells whether a single message is a thread of its own: the client of the latest session has sent its history with each
    /// message so far, and now sends none. Its first message was edited or sent again, or it begins anew.
    async fn is_thread_of_its_own(
        &self,
        scope: &scope::Key,
        said: &[RequestMessage],
    ) -> Result<bool, Problem> {
        let [RequestMessage { role: Role::User, .. }] = said else { return Ok(false) };
        if self.serve().context == History::Managed {
            return Ok(false);
        }
        let Some(state) = self.engine.store().load(scope).await? else { return Ok(false) };
        let Some(latest) = state.latest() else { return Ok(false) };
        // No client has sent that.
        if is_imported(&state, latest) {
            return Ok(false);
        }
        let (newest, _) = self.page(scope, &state.view(latest), None, Order::Desc, NEWEST_MAX).await?;
        let mut before = newest.iter().skip_while(|stored| stored.role != Role::User);
        // With what was erased its decision is gone: it does not tell how it came.
        let Some(last) = before.next().filter(|last| last.message.is_some()) else { return Ok(false) };
        // What was said before it shows that the client knew that.
        if !before.any(|stored| stored.role == Role::Assistant) {
            return Ok(false);
        }
        Ok(self.decision(scope, last.seq).await?.is_none())
    }

    /// Finds the decision about a message. One that was taken over as a part of a history has none.
    pub(super) async fn decision(&self, scope: &scope::Key, seq: Seq) -> Result<Option<Decision>, Problem> {
        let behind = self.engine.store().tail(scope, seq, DECISION_BEHIND_MAX).await?;
        Ok(behind.iter().find_map(|record| match record.body() {
            Ok(Body::Decision(decision)) if decision.about == seq => Some(*decision),
            _ => None,
        }))
    }
}
