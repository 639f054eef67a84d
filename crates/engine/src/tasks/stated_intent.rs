//! Messages about which the host knows what they are to the task (C-9): an agent can always say it instead.

use crate::commands::{self, Parsed};
use crate::engine::{Admitted, Engine};
use crate::error::Error;
use crate::inbound::Inbound;
use crate::outcome::Outcome;
use crate::request::{HostCommand, Request};
use segue_core::Timestamp;
use segue_core::decide::{TaskCommand, TaskVerb};
use segue_core::entry::Seq;
use segue_core::message::{Message, Role};
use segue_core::scope;
use segue_core::task::intent::MessageIntent;
use segue_core::task::state::StateName;

impl Engine {
    /// Takes a message of the person together with what it is to the task. Commands stay commands.
    pub async fn receive_stated(&self, inbound: Inbound, intent: MessageIntent) -> Result<Outcome, Error> {
        let is_plain =
            inbound.role == Role::User && commands::parse(&inbound.message.text) == Parsed::Message;
        if !is_plain {
            return self.receive(inbound).await;
        }
        let Admitted { turn, message, .. } = self.admitted(inbound).await?;
        self.ask(&turn, &Request::Stated(message, intent)).await
    }

    /// The person says something while the agent works (C-4). In any other state it is refused, and nothing is
    /// written.
    pub async fn interrupt(&self, scope: &scope::Key, at: Timestamp, text: &str) -> Result<Outcome, Error> {
        self.interrupt_as(scope, at, text, None).await
    }

    pub(crate) async fn interrupt_as(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        text: &str,
        by: Option<HostCommand>,
    ) -> Result<Outcome, Error> {
        let message_id = by.as_ref().map(|by| by.id.clone());
        let message = Message { message_id, ..Message::text(text) };
        self.check(Role::User, &message)?;
        let state = self.find_state(scope).await?;
        let task = state.as_ref().and_then(|state| Some(state.extras.task_state(state.latest()?)));
        let request = match task.unwrap_or(StateName::None) {
            StateName::Running | StateName::Interrupted => {
                Request::Stated(message, MessageIntent::Modification)
            }
            _ => {
                Request::Task(TaskCommand { session: None, verb: TaskVerb::Interrupt { message: Seq::ZERO } })
            }
        };
        self.request_as(scope, at, &request, by).await
    }
}
