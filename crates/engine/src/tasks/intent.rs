//! What a message is to the task of its session (C-9): read from its words, unless the host says it.

use crate::background::away;
use crate::engine::Engine;
use crate::scope::session_profile::SessionProfile;
use segue_core::message::Message;
use segue_core::observed::{IntentSource, Share, TaskReading};
use segue_core::state::State;
use segue_core::task::assignment::Stage;
use segue_core::task::intent::MessageIntent;
use segue_core::task::state::StateName;
use segue_signals::task_intent::{self, TaskContext, TaskState};
use segue_signals::{Remark, Role, judge};
use std::sync::Arc;

impl Engine {
    /// Reads what a message is to the task of the latest session; nothing where there never was a task.
    ///
    /// A task whose words cannot be read is one without words: the message is still read.
    pub(crate) async fn task_reading(
        &self,
        state: &State,
        profile: Option<&SessionProfile>,
        message: &Message,
    ) -> Option<TaskReading> {
        let task = state.extras.tasks.get(&state.latest()?)?;
        let words = async |seq| self.words_at(&state.scope, seq).await.ok().flatten();
        let description = words(task.described.entry()).await.unwrap_or_default();
        let told = match task.stage.words() {
            Some(seq) => words(seq).await,
            None => None,
        };
        let (question, summary) = match task.stage {
            Stage::AwaitingUser { .. } => (told.as_deref(), None),
            Stage::PendingComplete { .. } => (None, told.as_deref()),
            _ => (None, None),
        };
        let (question, summary) = (question.map(str::to_owned), summary.map(str::to_owned));
        let (embedder, text) = (Arc::clone(&self.embedder), message.text.clone());
        let stands = signal(task.state());
        let read = away(move || {
            let (question, summary) = (question.as_deref(), summary.as_deref());
            let context = TaskContext { state: stands, task: &description, question, summary };
            task_intent::message_intent(&embedder, &context, &text)
        });
        let read = read.await?;
        let intent = match (task.state(), intent(read.intent)) {
            (StateName::Complete, MessageIntent::Confirmation) => MessageIntent::Confirmation,
            (StateName::Complete, _) => after_the_end(profile, message),
            (_, intent) => intent,
        };
        Some(TaskReading {
            intent,
            confidence: Share::new(f64::from(read.confidence.get())),
            source: IntentSource::Words,
        })
    }
}

/// What follows a task that is complete begins another one (001, turn 5), unless it refers back or says nothing.
fn after_the_end(profile: Option<&SessionProfile>, message: &Message) -> MessageIntent {
    let recent = profile.map_or(&[][..], SessionProfile::recent);
    let remark = Remark::of(Role::User, &message.text);
    match judge::by_words(recent, &remark) {
        Some(_) if !judge::refers_back(recent, &remark) => MessageIntent::NewTask,
        Some(_) | None => MessageIntent::Modification,
    }
}

/// Makes the reading of an intent that the host states.
pub(crate) fn stated(intent: MessageIntent) -> TaskReading {
    TaskReading { intent, confidence: Share::new(1.0), source: IntentSource::Host }
}

fn signal(state: StateName) -> TaskState {
    match state {
        StateName::None => TaskState::None,
        StateName::Running => TaskState::Running,
        StateName::AwaitingUser => TaskState::AwaitingUser,
        StateName::Interrupted => TaskState::Interrupted,
        StateName::PendingComplete => TaskState::PendingComplete,
        StateName::Complete => TaskState::Complete,
        StateName::Aborted => TaskState::Aborted,
    }
}

fn intent(read: task_intent::MessageIntent) -> MessageIntent {
    match read {
        task_intent::MessageIntent::Response => MessageIntent::Response,
        task_intent::MessageIntent::Modification => MessageIntent::Modification,
        task_intent::MessageIntent::Confirmation => MessageIntent::Confirmation,
        task_intent::MessageIntent::NewTask => MessageIntent::NewTask,
        task_intent::MessageIntent::Abandon => MessageIntent::Abandon,
        task_intent::MessageIntent::Unclear => MessageIntent::Unclear,
    }
}
