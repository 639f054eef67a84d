//! Refusals: what cannot be done, and why.

use crate::entry::Seq;
use crate::session::Number;
use crate::task::refusal::TaskRefusal;

/// Why a command is refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such session, or not any more.
    #[error("there is no session {0} in this scope")]
    NoSession(Number),
    /// The session was merged into another one.
    #[error("session {from} was merged into session {into}")]
    Merged {
        /// The session that is no more.
        from: Number,
        /// The session that holds it now.
        into: Number,
    },
    /// Nothing has been said in this scope.
    #[error("nothing has been said in this scope yet")]
    NothingSaid,
    /// The session is latest already.
    #[error("session {0} is the active one already")]
    AlreadyActive(Number),
    /// The active session cannot be deleted.
    #[error("session {0} is the active one: start or resume another one first")]
    Active(Number),
    /// The session holds what an open task of another one was made of.
    #[error("session {session} holds work of the open task of session {at_work}: finish or abort that first")]
    HoldsWork {
        /// The session.
        session: Number,
        /// The session in which the task goes on.
        at_work: Number,
    },
    /// Nothing was taken back just now.
    #[error("there is nothing to redo")]
    NothingToRedo,
    /// There is no boundary to take back.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// The session does not see that message.
    #[error("session {session} has no message {seq}")]
    NotInSession {
        /// The session.
        session: Number,
        /// The message.
        seq: Seq,
    },
    /// A split would leave nothing before it.
    #[error("message {0} is the first one of its session: there is nothing to split it from")]
    NothingBefore(Seq),
    /// A session cannot be merged with itself.
    #[error("a session cannot be merged with itself")]
    SameSession,
    /// There is nothing to erase.
    #[error("there is nothing left to erase")]
    NothingToErase,
    /// Nothing is remembered in an entry.
    #[error("entry {0} holds nothing that is remembered")]
    NotRemembered(crate::entry::Seq),
    /// There is no question to answer.
    #[error("nothing was asked")]
    NothingAsked,
    /// The question did not offer an older session.
    #[error("no older session was offered")]
    NothingOffered,
    /// It cannot be done with a task.
    #[error(transparent)]
    Task(#[from] TaskRefusal),
    /// The state does not fit itself: a defect of the program or damage on disk.
    #[error("the scope's state is damaged: {0}; run `segue verify`")]
    Damaged(String),
}
