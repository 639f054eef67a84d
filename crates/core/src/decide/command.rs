//! Commands: what is asked of a scope, once it is known what that means there.

use super::TaskCommand;
use crate::Timestamp;
use crate::entry::{Named, Seq};
use crate::memory::Extracted;
use crate::message::{Message, Role};
use crate::observed::{Answer, Observed};
use crate::pins;
use crate::retention::{KeepChoice, RetireCheck, ScheduledDeletion};
use crate::session::{Number, Title};
use crate::span::Cut;

/// What is asked of a scope.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A message for the latest session.
    Say {
        /// Who speaks.
        role: Role,
        /// What is said.
        message: Message,
    },
    /// A message of the person, with what was observed about it.
    UserMessage {
        /// What is said.
        message: Message,
        /// What was observed.
        observed: Box<Observed>,
        /// The summary that goes along if a new session needs one; made only where it may be needed.
        summary: Option<String>,
    },
    /// An answer to the question that is open, by a button or a command.
    Answer {
        /// The answer.
        answer: Answer,
        /// The summary that goes along if a new session needs one.
        summary: Option<String>,
    },
    /// Give a session a control model of its own, or the usual one again.
    Control {
        /// The session.
        session: Number,
        /// The model's name in the configuration.
        model: Option<String>,
    },
    /// Hold a session to something else.
    Pin {
        /// The session.
        session: Number,
        /// What.
        change: Box<pins::Change>,
        /// Where its texts come from.
        texts: pins::Texts,
    },
    /// A reply that was made for a session, which may not be latest any more.
    Reply {
        /// Who speaks.
        role: Role,
        /// What is said.
        message: Message,
        /// The session that it answers.
        session: Number,
    },
    /// A message that is taken over from elsewhere as it is: nothing is decided about it.
    Keep {
        /// Who spoke.
        role: Role,
        /// What was said.
        message: Message,
    },
    /// `/new`: begin a new session; in legacy mode, empty the one there is.
    New {
        /// What was said after the command; the first message of the new session.
        first: Option<Message>,
    },
    /// Make an older session latest again.
    Resume {
        /// The session.
        session: Number,
    },
    /// Take back the last boundary; right after that, go to the session before.
    Undo,
    /// Go forward again after [`Command::Undo`].
    Redo,
    /// List an archived session again.
    Restore {
        /// The session.
        session: Number,
    },
    /// Move the last exchange to another session, and go on there.
    Move {
        /// That session.
        session: Number,
        /// The first message of the exchange.
        at: Cut,
    },
    /// Open a session for a conversation from elsewhere. It pushes no other one out of the backlog.
    OpenImported,
    /// Go back to the session that was latest before the one that was opened for an import.
    EndImport,
    /// Begin a session with the past of another one.
    Fork {
        /// That other session.
        session: Number,
        /// The last message that both share; nothing for all of them.
        at: Option<Cut>,
    },
    /// Move the later part of the latest session to a new one.
    Split {
        /// The first message of the new session.
        at: Cut,
    },
    /// Make one session of two.
    Merge {
        /// The session that will be no more.
        from: Number,
        /// The session that will hold it.
        into: Number,
    },
    /// Give a session a title.
    Rename {
        /// The session.
        session: Number,
        /// The title.
        title: Title,
    },
    /// Write down what a model calls a session.
    Name(Named),
    /// Drop the oldest sessions, archived ones too.
    Prune {
        /// How many are kept.
        keep: crate::policy::Backlog,
    },
    /// Drop sessions that are past what is to be kept.
    Retire {
        /// The sessions.
        sessions: Vec<Number>,
        /// Whether each must have been announced.
        notice: RetireCheck,
    },
    /// Announce which sessions will go, and which will not after all.
    Announce {
        /// Those that will go.
        going: Vec<ScheduledDeletion>,
        /// Those that were announced and stay.
        stays: Vec<Number>,
        /// When they may go.
        due: Timestamp,
    },
    /// Keep a session, whatever its age; or not any more.
    KeepChoice {
        /// The session.
        session: Number,
        /// What is wanted.
        wish: KeepChoice,
    },
    /// Drop a session.
    Delete {
        /// The session.
        session: Number,
    },
    /// Write down that the command that was typed was refused, so that a second delivery is not done.
    Refuse {
        /// What the user was told.
        refusal: String,
    },
    /// Do something with a task.
    Task(TaskCommand),
    /// Keep what is worth keeping of a session that was left.
    Remember(Extracted),
    /// Forget one thing that is remembered.
    Forget {
        /// The entry that remembers it.
        entry: Seq,
    },
    /// Erase the bodies of messages.
    Erase {
        /// The messages.
        entries: Vec<Seq>,
        /// What else is to go: words of tasks, decisions.
        along: Vec<Seq>,
    },
}
