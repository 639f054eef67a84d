//! Requests: what people and programs ask of a scope, before it is known what that means there.

use crate::persona;
use crate::pins::Repin;
use crate::tasks;
use segue_core::Timestamp;
use segue_core::decide::{Command, TaskCommand, prunable};
use segue_core::entry::{Body, Bytes, CommandBy, Named, Record, Seq, Spoken};
use segue_core::erasure::Place;
use segue_core::memory::Extracted;
use segue_core::message::{Message, MessageId, Role};
use segue_core::observed::Answer;
use segue_core::pins::Pinned;
use segue_core::policy::Backlog;
use segue_core::refusal::Refusal;
use segue_core::retention::{KeepChoice, RetireCheck, ScheduledDeletion};
use segue_core::session::{Number, Title};
use segue_core::span::{Cut, Spans};
use segue_core::state::State;
use segue_core::task::intent::MessageIntent;
use segue_store::Store;
use std::collections::BTreeSet;

/// How many entries are looked at at a time that are to be erased.
const ERASABLE_PAGE: usize = 256;

/// Which session is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The latest one.
    Latest,
    /// The one with a number, as it stands in its key, in lists and in notices.
    Numbered(Number),
}

/// What is asked of a scope.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// A message for the latest session.
    Say(Role, Message),
    /// An answer to the question that is open.
    Answer(Answer),
    /// Give a session a control model of its own, or the usual one again.
    Control(Pick, Option<String>),
    /// Hold a session to another agent or model, or to what its files say now.
    Pin(Pick, Repin),
    /// A reply that was made for a session.
    Reply(Role, Message, Number),
    /// A message that is taken over from elsewhere as it is, into the latest session.
    Keep(Role, Message),
    /// Begin a new session, perhaps with a first message.
    New(Option<Message>),
    /// Make an older session latest again.
    Resume(Pick),
    /// Take back the last boundary; right after that, go to the session before.
    Undo,
    /// Go forward again after an undo.
    Redo,
    /// List an archived session again.
    Restore(Pick),
    /// Move the last exchange to another session, and go on there.
    Move(Pick),
    /// Open a session for a conversation from elsewhere.
    OpenImported,
    /// Go back to the session that was latest before that one.
    EndImport,
    /// Begin a session with another one's past, up to a message or whole.
    Fork(Pick, Option<Seq>),
    /// Move what was said from a message on to a new session.
    Split(Seq),
    /// Make one session of two: the first goes into the second.
    Merge(Pick, Pick),
    /// Give a session a title.
    Rename(Pick, Title),
    /// Write down what a model calls a session, made of these messages.
    Name(Named, Vec<Seq>),
    /// Drop the oldest sessions past a limit.
    Prune(Backlog),
    /// Drop sessions that are past what is to be kept, as [`crate::Engine::past_retention`] finds them.
    Retire(Vec<Number>, RetireCheck),
    /// Announce which sessions will go, and which will not after all, as [`crate::Engine::retain`] does.
    Announce(Vec<ScheduledDeletion>, Vec<Number>, Timestamp),
    /// Keep a session, whatever its age; or not any more.
    KeepChoice(Pick, KeepChoice),
    /// Drop a session.
    Delete(Pick),
    /// A message of the person, with what the host says it is to the task.
    Stated(Message, MessageIntent),
    /// Do something with a task.
    Task(TaskCommand),
    /// Keep what was found in a session that was left.
    Remember(Extracted),
    /// Forget one thing that is remembered.
    Forget(Seq),
    /// Erase what messages say.
    Erase(Vec<Seq>),
    /// Write down that the command was refused, with what was said about it.
    Refuse(String),
}

/// A request of a program that may be sent again: how it is written down, and the id by which it is known then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCommand {
    /// The request in a few words.
    pub text: String,
    /// Its id.
    pub id: MessageId,
}

impl HostCommand {
    pub(crate) fn spoken(self) -> Spoken {
        Spoken { text: self.text, message_id: Some(self.id), by: CommandBy::Host, ..Spoken::default() }
    }
}

/// Why a request cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The rules refuse it.
    Rule(Refusal),
    /// It meant something else when it was asked for: another process has changed the scope since.
    Changed,
    /// It deletes what is everybody's in a group, and who asks is no moderator there.
    NotModerator,
    /// The configuration has no such agent.
    NoAgent {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The configuration has no such model.
    NoModel {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The persona cannot be taken in as it is now.
    Persona(persona::Error),
    /// Nobody says where skills and persona are.
    NoHost,
    /// A session has no message with that number.
    NoMessage {
        /// The session that was asked.
        session: Number,
        /// The number.
        seq: Seq,
    },
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Rule(refusal)
    }
}

/// What a command that destroys would destroy. After a conflict it must still be the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Affected {
    sessions: Vec<(Number, Spans, Option<Title>)>,
    entries: Vec<Seq>,
}

impl Affected {
    pub(crate) fn of(state: &State, command: &Command) -> Self {
        let (sessions, entries) = match command {
            Command::Delete { session } => (std::slice::from_ref(session), &[][..]),
            Command::Retire { sessions, .. } => (sessions.as_slice(), &[][..]),
            Command::Erase { entries, .. } => (&[][..], entries.as_slice()),
            _ => (&[][..], &[][..]),
        };
        let title = |number: &Number| state.sessions.get(number).and_then(|session| session.title.clone());
        let sessions = sessions.iter().map(|number| (*number, state.view(*number), title(number)));
        Self { sessions: sessions.collect(), entries: entries.to_vec() }
    }
}

impl Request {
    /// Tells whether it deletes something for good.
    pub(crate) fn destroys(&self) -> bool {
        matches!(self, Self::Prune(_) | Self::Retire(..) | Self::Delete(_) | Self::Erase(_))
    }

    /// Returns the channel's id of the message, if there is one.
    pub(crate) fn message_id(&self) -> Option<&MessageId> {
        self.message()?.message_id.as_ref()
    }

    /// Returns the message that it carries, to be read.
    pub(crate) fn message(&self) -> Option<&Message> {
        match self {
            Self::Say(_, message)
            | Self::Reply(_, message, _)
            | Self::Keep(_, message)
            | Self::Stated(message, _) => Some(message),
            Self::New(first) => first.as_ref(),
            _ => None,
        }
    }

    /// Returns who speaks in the message that it carries.
    pub(crate) fn message_role(&self) -> Option<Role> {
        match self {
            Self::Say(role, _) | Self::Reply(role, ..) | Self::Keep(role, _) => Some(*role),
            Self::Stated(..) | Self::New(Some(_)) => Some(Role::User),
            _ => None,
        }
    }

    /// Returns the message that it carries.
    pub(crate) fn message_mut(&mut self) -> Option<&mut Message> {
        match self {
            Self::Say(_, message)
            | Self::Reply(_, message, _)
            | Self::Keep(_, message)
            | Self::Stated(message, _) => Some(message),
            Self::New(first) => first.as_mut(),
            _ => None,
        }
    }

    /// Finds out what the request means for a scope as it is.
    pub(crate) async fn resolve(
        &self,
        store: &dyn Store,
        state: &State,
    ) -> Result<Result<Command, Refused>, segue_store::Error> {
        let pick = |pick| pick_session(state, pick);
        Ok(Ok(match self {
            Self::Say(role, message) => Command::Say { role: *role, message: message.clone() },
            Self::Answer(answer) => Command::Answer { answer: *answer, summary: None },
            Self::Control(session, model) => match pick(*session) {
                Ok(session) => Command::Control { session, model: model.clone() },
                Err(refused) => return Ok(Err(refused)),
            },
            Self::Reply(role, message, session) => {
                Command::Reply { role: *role, message: message.clone(), session: *session }
            }
            Self::Keep(role, message) => Command::Keep { role: *role, message: message.clone() },
            Self::New(first) => Command::New { first: first.clone() },
            // Only the engine knows what files and configuration say.
            Self::Pin(..) => return Ok(Err(Refused::NoHost)),
            Self::Undo => Command::Undo,
            Self::Redo => Command::Redo,
            Self::OpenImported => Command::OpenImported,
            Self::EndImport => Command::EndImport,
            Self::Restore(session) => match pick(*session) {
                Ok(session) => Command::Restore { session },
                Err(refused) => return Ok(Err(refused)),
            },
            Self::Move(session) => {
                let (session, latest) = match (pick(*session), pick(Pick::Latest)) {
                    (Ok(session), Ok(latest)) => (session, latest),
                    (Err(refused), _) | (_, Err(refused)) => return Ok(Err(refused)),
                };
                let Some((last, _)) = tasks::resolve::last_user(store, state).await? else {
                    return Ok(Err(Refusal::NothingSaid.into()));
                };
                match cut(store, state, latest, last).await? {
                    Ok(at) => Command::Move { session, at },
                    Err(refused) => return Ok(Err(refused)),
                }
            }
            Self::Refuse(refusal) => Command::Refuse { refusal: refusal.clone() },
            Self::Retire(sessions, notice) => Command::Retire { sessions: sessions.clone(), notice: *notice },
            Self::Announce(going, stays, due) => {
                Command::Announce { going: going.clone(), stays: stays.clone(), due: *due }
            }
            Self::KeepChoice(session, wish) => match pick(*session) {
                Ok(session) => Command::KeepChoice { session, wish: *wish },
                Err(refused) => return Ok(Err(refused)),
            },
            // Models take their time: what was erased meanwhile must not come back as a title.
            Self::Name(named, made_of) => match gone(store, state, made_of.iter().copied()).await?.first() {
                None => Command::Name(named.clone()),
                Some(seq) => return Ok(Err(Refused::NoMessage { session: named.session, seq: *seq })),
            },
            Self::Prune(keep) => {
                let notice = RetireCheck::AsOf(state.head);
                Command::Retire { sessions: prunable(state, keep.get()), notice }
            }
            Self::Resume(session) => match pick(*session) {
                Ok(session) => Command::Resume { session },
                Err(refused) => return Ok(Err(refused)),
            },
            Self::Fork(session, at) => {
                let session = match pick(*session) {
                    Ok(session) => session,
                    Err(refused) => return Ok(Err(refused)),
                };
                match at {
                    None => Command::Fork { session, at: None },
                    Some(at) => match cut(store, state, session, *at).await? {
                        Ok(cut) => Command::Fork { session, at: Some(cut) },
                        Err(refused) => return Ok(Err(refused)),
                    },
                }
            }
            Self::Split(at) => {
                let session = match pick(Pick::Latest) {
                    Ok(session) => session,
                    Err(refused) => return Ok(Err(refused)),
                };
                match cut(store, state, session, *at).await? {
                    Ok(at) => Command::Split { at },
                    Err(refused) => return Ok(Err(refused)),
                }
            }
            Self::Merge(from, into) => match (pick(*from), pick(*into)) {
                (Ok(from), Ok(into)) => Command::Merge { from, into },
                (Err(refused), _) | (_, Err(refused)) => return Ok(Err(refused)),
            },
            Self::Rename(session, title) => match pick(*session) {
                Ok(session) => Command::Rename { session, title: title.clone() },
                Err(refused) => return Ok(Err(refused)),
            },
            Self::Delete(session) => match pick(*session) {
                Ok(session) => Command::Delete { session },
                Err(refused) => return Ok(Err(refused)),
            },
            Self::Stated(message, _) => Command::Say { role: Role::User, message: message.clone() },
            Self::Remember(kept) => {
                let mut kept = kept.clone();
                let gone = gone(store, state, kept.found.iter().map(|found| found.source)).await?;
                kept.found.retain(|found| !gone.contains(&found.source));
                Command::Remember(kept)
            }
            Self::Forget(entry) => Command::Forget { entry: *entry },
            Self::Task(command) => return tasks::resolve::resolve(store, state, command).await,
            Self::Erase(entries) => match erasable(store, state, entries).await? {
                Ok((entries, along)) => Command::Erase { entries, along },
                Err(refused) => return Ok(Err(refused)),
            },
        }))
    }
}

/// Finds the session that is meant.
pub(crate) fn pick_session(state: &State, pick: Pick) -> Result<Number, Refused> {
    match pick {
        Pick::Latest => state.latest().ok_or(Refused::Rule(Refusal::NothingSaid)),
        Pick::Numbered(number) => Ok(number),
    }
}

async fn message(store: &dyn Store, state: &State, seq: Seq) -> Result<Option<Record>, segue_store::Error> {
    let record = store.get(&state.scope, seq).await?;
    Ok(record.filter(|record| record.kind.role().is_some()))
}

pub(crate) async fn cut(
    store: &dyn Store,
    state: &State,
    session: Number,
    at: Seq,
) -> Result<Result<Cut, Refused>, segue_store::Error> {
    let Some(record) = message(store, state, at).await? else {
        return Ok(Err(Refused::NoMessage { session, seq: at }));
    };
    let across = state.view(session).across(at);
    let before = store.count_before(&state.scope, at, &across).await?;
    Ok(Ok(Cut { message: at, segment: record.segment, before }))
}

/// Finds the messages that say nothing any more. Asked while a command is resolved, the answer holds for its append, which
/// is guarded by the head: an erasure in between moves that.
async fn gone(
    store: &dyn Store,
    state: &State,
    messages: impl Iterator<Item = Seq>,
) -> Result<Vec<Seq>, segue_store::Error> {
    let mut gone = Vec::new();
    for seq in messages {
        let record = message(store, state, seq).await?;
        if !record.is_some_and(|record| matches!(record.bytes, Bytes::Kept(_))) {
            gone.push(seq);
        }
    }
    Ok(gone)
}

/// Keeps what can be erased and still says something: messages, commands, titles and what is remembered; and, behind those,
/// the words of tasks and of decisions.
async fn erasable(
    store: &dyn Store,
    state: &State,
    entries: &[Seq],
) -> Result<Result<(Vec<Seq>, Vec<Seq>), Refused>, segue_store::Error> {
    let mut asked: BTreeSet<Seq> = entries.iter().copied().collect();
    let (mut said, mut along, mut remembered) = (Vec::new(), Vec::new(), Vec::new());
    while let (Some(first), Some(last)) = (asked.first().copied(), asked.last().copied()) {
        let limit = usize::try_from(last.0 - first.0).unwrap_or(ERASABLE_PAGE).min(ERASABLE_PAGE - 1) + 1;
        let records = store.tail(&state.scope, first.previous(), limit).await?;
        let read = records.last().map_or(last, |record| record.seq);
        for record in records {
            let Some(place) = Place::of(record.kind).filter(|_| asked.contains(&record.seq)) else {
                continue;
            };
            asked.remove(&record.seq);
            if !matches!(record.bytes, Bytes::Kept(_)) {
                continue;
            }
            match place {
                // Only texts: what a session is pinned to is what its log folds to.
                Place::PinnedText => match record.body() {
                    Ok(Body::Pinned(Pinned::Text { .. })) => along.push(record.seq),
                    _ => _ = asked.insert(record.seq),
                },
                Place::Message | Place::Command | Place::Title | Place::ModelTitle => said.push(record.seq),
                Place::Memory => remembered.push(record.seq),
                Place::Decision | Place::Observation | Place::WorkCommit | Place::TaskWords => {
                    along.push(record.seq);
                }
                Place::CanonicalCommit | Place::Description => along.push(record.seq),
            }
        }
        if let Some(seq) = asked.first().copied().filter(|seq| *seq <= read) {
            let session = state.latest().unwrap_or(Number::FIRST);
            return Ok(Err(Refused::NoMessage { session, seq }));
        }
    }
    // What is remembered counts for itself only where nothing else is erased.
    match said.is_empty() {
        true => said = remembered,
        false => along.extend(remembered),
    }
    Ok(Ok((said, along)))
}
