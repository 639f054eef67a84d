//! C-9: what a message is to the task at hand.
//!
//! The message is cut into clauses, each clause is one act (drops, accepts, hesitates, says something
//! else), and the state of the task decides what the acts amount to. Whether "something else" is about
//! the task is a question of meaning, answered by the word table.

mod acts;
mod decide;
mod lexicon;
mod related;

use crate::Probability;
use crate::classifier::Classifier;
use crate::text::Window;

pub(crate) use related::Relation;

/// Where the task stands; the states of 001.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// There is no task.
    None,
    /// The agent works.
    Running,
    /// The agent asked something.
    AwaitingUser,
    /// The person spoke while the agent worked.
    Interrupted,
    /// The agent says it is done.
    PendingComplete,
    /// It is done; like no task.
    Complete,
    /// It was given up; like no task.
    Aborted,
}

/// The task a message arrives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskContext<'a> {
    /// Where it stands.
    pub state: TaskState,
    /// What it is, in words; empty where there is none.
    pub task: &'a str,
    /// The question the agent asked, if it waits for an answer.
    pub question: Option<&'a str>,
    /// What the agent says it did, if it says it is done.
    pub summary: Option<&'a str>,
}

/// What a message is to the task; A to E of 001, and unclear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageIntent {
    /// Answers the pending question.
    Response,
    /// Changes, extends or corrects the task.
    Modification,
    /// Accepts the work.
    Confirmation,
    /// Something unrelated to do.
    NewTask,
    /// Ends the task.
    Abandon,
    /// Cannot be told.
    Unclear,
}

/// An intent and what speaks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentEvidence {
    /// What the message is.
    pub intent: MessageIntent,
    /// How sure that is.
    pub confidence: Probability,
    /// One sentence for the decision record.
    pub evidence: String,
}

impl Classifier {
    /// Says what a message is to the task.
    ///
    /// ```
    /// use segue_signals::{Classifier, task_intent::{MessageIntent, TaskContext, TaskState}};
    /// let classifier = Classifier::builtin()?;
    /// let context = TaskContext {
    ///     state: TaskState::PendingComplete,
    ///     task: "Add retry logic to the connect function",
    ///     question: None,
    ///     summary: Some("Added retries with exponential backoff; all tests pass."),
    /// };
    /// let intent = |text| classifier.message_intent(&context, text).intent;
    /// assert_eq!(intent("Perfect, thanks!"), MessageIntent::Confirmation);
    /// assert_eq!(intent("Looks good but also add logging for retry attempts"), MessageIntent::Modification);
    /// # Ok::<(), segue_signals::LoadError>(())
    /// ```
    #[must_use]
    pub fn message_intent(&self, context: &TaskContext<'_>, text: &str) -> IntentEvidence {
        let (head, _) = Window::PHRASES.cut(text);
        let acts = acts::Acts::of(head);
        let relation = Relation::of(self.reader(), context, head);
        let (intent, confidence, why) = decide::decide(context.state, &acts, &relation);
        IntentEvidence { intent, confidence: Probability::new(confidence), evidence: why.to_owned() }
    }
}
