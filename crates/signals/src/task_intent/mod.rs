//! C-9: what a message is to the task at hand.
//!
//! The message is cut into clauses, each clause is one act (drops, accepts, hesitates, says something
//! else), and the state of the task decides what the acts amount to. Whether "something else" is about
//! the task is a question of words and of meaning, answered by the encoder.

mod acts;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
pub(crate) mod features;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
pub(crate) mod network;
mod related;

use crate::Probability;
use crate::judge::Embedder;
use features::IntentFeatures;
use network::IntentNetwork;

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

impl MessageIntent {
    /// All intents, in the order of the model.
    pub(crate) const ALL: [Self; 6] =
        [Self::Response, Self::Modification, Self::Confirmation, Self::NewTask, Self::Abandon, Self::Unclear];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Modification => "modification",
            Self::Confirmation => "confirmation",
            Self::NewTask => "new_task",
            Self::Abandon => "abandon",
            Self::Unclear => "unclear",
        }
    }
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

/// How sure it is that a bare "yes" answers the open question.
const SETTLED_CONFIDENCE: f32 = 0.95;

/// Says what a message is to the task. This takes some milliseconds for each text that was not embedded before.
///
/// ```
/// use segue_signals::judge::Embedder;
/// use segue_signals::task_intent::{MessageIntent, TaskContext, TaskState, message_intent};
/// let embedder = Embedder::default();
/// let context = TaskContext {
///     state: TaskState::PendingComplete,
///     task: "Add retry logic to the connect function",
///     question: None,
///     summary: Some("Added retries with exponential backoff; all tests pass."),
/// };
/// let intent = |text| message_intent(&embedder, &context, text).intent;
/// assert_eq!(intent("Perfect, thanks!"), MessageIntent::Confirmation);
/// assert_eq!(intent("Looks good but also add logging for retry attempts"), MessageIntent::Modification);
/// ```
#[must_use]
pub fn message_intent(embedder: &Embedder, context: &TaskContext<'_>, text: &str) -> IntentEvidence {
    let features = IntentFeatures::of(embedder, context, text);
    let (intent, chance) = match (features.settled, IntentNetwork::builtin()) {
        (Some(intent), _) => (intent, SETTLED_CONFIDENCE),
        (None, Some(network)) => network.best(&features),
        // What is shipped is damaged, which a test rules out.
        (None, None) => (MessageIntent::Unclear, 0.0),
    };
    // While a question is open, what could be an answer is one.
    let intent = match (context.state, intent) {
        (TaskState::AwaitingUser, MessageIntent::Modification) if !features.extends => {
            MessageIntent::Response
        }
        (_, intent) => intent,
    };
    let evidence = format!("{} ({chance:.2}), {}", intent.word(), features.seen());
    IntentEvidence { intent, confidence: Probability::new(chance), evidence }
}
