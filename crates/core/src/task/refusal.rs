//! Why something cannot be done with a task.

use crate::session::Number;
use crate::task::identity::NotADescription;
use crate::task::node::NodeId;
use crate::task::observation::ObservationRefusal;
use crate::task::path::BadPath;
use crate::task::transition::Forbidden;

/// Why a task was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskRefusal {
    /// The table does not allow it.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The session has no task.
    #[error("session {0} has no task: start one first")]
    NoTask(Number),
    /// The task is over.
    #[error("the task of session {0} is over: start another one")]
    Over(Number),
    /// The observation is refused.
    #[error(transparent)]
    ObservationRefusal(#[from] ObservationRefusal),
    /// The path is refused.
    #[error(transparent)]
    BadPath(#[from] BadPath),
    /// The description is refused.
    #[error(transparent)]
    NotADescription(#[from] NotADescription),
    /// A relation names something that is not there.
    #[error("there is no {0} here: observe it first, and name it by the number that came back")]
    NoNode(NodeId),
    /// Two sessions cannot become one while both have an open task.
    #[error("sessions {0} and {1} both have an open task: finish, abort or compact one of them first")]
    TwoTasks(Number, Number),
    /// More was said since the queue was read.
    #[error("more was said meanwhile: read the queue again")]
    QueueChanged,
}
