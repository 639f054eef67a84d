//! Reading back: sessions, their messages, and why things were decided.

pub mod titles;

use crate::engine::Engine;
use crate::error::Error;
use crate::words::{self, Titles};
use segue_core::Timestamp;
use segue_core::decision::Decision;
use segue_core::entry::{Body, CommandBy, Kind, Record, Seq};
use segue_core::message::{Message, Role};
use segue_core::scope;
use segue_core::session::{Id, Key, Number, Status};
use segue_core::span::{Span, Spans};
use segue_core::state::State;
use segue_core::task::state::StateName;
use segue_core::title::TitledBy;
use segue_store::{Filter, Page, Reading, Take};

/// How many characters of a message are shown where there is room for a line only.
pub(crate) const PREVIEW_CHARS_MAX: usize = 50;

/// How many scopes are listed at once.
const SCOPES_PAGE: usize = 500;

/// In how many segments decisions are looked for at a time.
const SEGMENTS_AT_ONCE: usize = 64;

/// How many messages are read at a time.
const MESSAGES_AT_ONCE: usize = 500;

/// How many commands of a session are listed.
const COMMANDS_MAX: usize = 1_000;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its number: the one in its key.
    pub number: Number,
    /// Whether it is archived: it is listed only with all others (P-8).
    pub archived: bool,
    /// Its key.
    pub key: Key,
    /// Its id.
    pub session_id: Id,
    /// Its title: the one that it was given, or that a model made, or else the first sentence that says what it is about.
    pub title: Option<String>,
    /// Who gave it that.
    pub titled_by: Option<TitledBy>,
    /// How many messages it holds.
    pub messages: u32,
    /// Whether it is the latest one.
    pub active: bool,
    /// Where its task stands.
    pub state: StateName,
    /// The session that it came from.
    pub parent: Option<Key>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When anything was last written into it.
    pub updated_at: Timestamp,
    /// When it goes by itself, if that was announced.
    pub goes_at: Option<Timestamp>,
    /// Whether somebody asked for it to be kept, whatever its age.
    pub kept: bool,
}

/// A message as it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its entry.
    pub seq: Seq,
    /// Who spoke.
    pub role: Role,
    /// What was said; empty if it was erased.
    pub text: String,
    /// When, as the host told it.
    pub at: Timestamp,
    /// The whole message, unless it was erased.
    pub message: Option<Message>,
}

impl StoredMessage {
    /// Returns what a person said, and who that is where several share a session.
    pub(crate) fn said_by_person(&self) -> Option<(Option<&str>, &str)> {
        let message = self.message.as_ref().filter(|_| self.role == Role::User)?;
        Some((message.sender.as_deref(), &message.text))
    }

    /// The same for whoever is outside: a summary that was carried over is quoted data.
    #[must_use]
    pub fn as_data(mut self) -> Self {
        if let Some(message) = self.message.as_mut().filter(|message| message.carried_from.is_some()) {
            message.text = words::as_data(message).into_owned();
            self.text.clone_from(&message.text);
        }
        self
    }
}

/// A slash command as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// Its entry.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// The line.
    pub text: String,
}

/// A decision, with what it was about.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// When it was made.
    pub at: Timestamp,
    /// The decision.
    pub decision: Decision,
    /// The first characters of the message or command, unless they were erased.
    pub preview: Option<String>,
    /// Whether a person said it, or a program asked for it without a word.
    pub asked_by: CommandBy,
    /// The session that it ended up in.
    pub session: Key,
    /// What that session is called.
    pub title: Option<String>,
}

impl Engine {
    /// Lists the sessions of a scope, newest-created first (P-6).
    pub async fn list(&self, state: &State) -> Result<Vec<Listed>, Error> {
        self.describe_each(state, state.list().map(|(number, _)| number)).await
    }

    /// Lists the sessions of a scope, archived ones too, newest-created first (P-8).
    pub async fn list_all(&self, state: &State) -> Result<Vec<Listed>, Error> {
        self.describe_each(state, state.all().map(|(number, _)| number)).await
    }

    async fn describe_each(
        &self,
        state: &State,
        sessions: impl Iterator<Item = Number>,
    ) -> Result<Vec<Listed>, Error> {
        let mut listed = Vec::new();
        for number in sessions {
            listed.push(self.describe(state, number).await?);
        }
        Ok(listed)
    }

    /// Describes a session.
    pub async fn describe(&self, state: &State, number: Number) -> Result<Listed, Error> {
        let Some(session) = state.sessions.get(&number) else {
            return Err(Error::NoScope { scope: state.scope.clone() });
        };
        let (title, titled_by) = self.title(state, number).await?.unzip();
        Ok(Listed {
            number,
            archived: session.status == Status::Archived,
            key: state.key(number),
            session_id: session.id,
            title,
            titled_by,
            messages: state.messages_of(number),
            active: state.latest() == Some(number),
            state: state.extras.task_state(number),
            parent: session.parent.map(|parent| state.key(parent)),
            created_at: session.created_at,
            updated_at: state.updated_at(number).unwrap_or(session.updated_at),
            goes_at: state.announced_deletion(number).map(|deletion| deletion.due),
            kept: state.is_kept(number),
        })
    }

    /// Reads the newest messages of a session, in order.
    pub async fn messages(
        &self,
        state: &State,
        number: Number,
        newest: usize,
    ) -> Result<Vec<StoredMessage>, Error> {
        let reading = Reading::messages(state.view(number), Take::Newest(newest));
        let records = self.store.read(&state.scope, &reading).await?;
        Ok(records.iter().filter_map(stored_message).collect())
    }

    /// Goes through all messages of a session, in order, some at a time.
    pub(crate) async fn each_message(
        &self,
        state: &State,
        number: Number,
        mut each: impl FnMut(StoredMessage),
    ) -> Result<(), Error> {
        let mut view = state.view(number);
        loop {
            let take = Take::Oldest(MESSAGES_AT_ONCE);
            let reading = Reading { view, filter: Filter::Messages, take };
            let records = self.store.read(&state.scope, &reading).await?;
            let Some(last) = records.last() else { return Ok(()) };
            view = reading.view.behind(last.seq);
            records.iter().filter_map(stored_message).for_each(&mut each);
        }
    }

    /// Reads all messages of a session, for who shows or exports it as a whole.
    pub async fn all_messages(&self, state: &State, number: Number) -> Result<Vec<StoredMessage>, Error> {
        let mut all = Vec::new();
        self.each_message(state, number, |stored| all.push(stored)).await?;
        Ok(all)
    }

    /// Lists all scopes of the store.
    pub async fn every_scope(&self) -> Result<Vec<scope::Key>, Error> {
        let mut all = Vec::new();
        let mut page = Page::by_key(SCOPES_PAGE);
        loop {
            let found = self.store.scopes(&page).await?;
            all.extend(found.rows.into_iter().map(|row| row.scope));
            page.after = found.next;
            if page.after.is_none() {
                return Ok(all);
            }
        }
    }

    /// Lists the slash commands of a session that changed something, in order; erased ones are left out.
    pub async fn commands(&self, state: &State, number: Number) -> Result<Vec<Typed>, Error> {
        let take = Take::Newest(COMMANDS_MAX);
        let reading = Reading { view: state.view(number), filter: Filter::Commands, take };
        let records = self.store.read(&state.scope, &reading).await?;
        let typed = |record: &Record| match record.body() {
            Ok(Body::Command(spoken)) if spoken.by == CommandBy::Person => {
                Some(Typed { seq: record.seq, at: record.at, text: spoken.text })
            }
            Ok(_) | Err(_) => None,
        };
        Ok(records.iter().filter_map(typed).collect())
    }

    /// Reads the newest decisions of a scope, newest first: in the newest segments first, some at a time.
    async fn decisions(&self, state: &State, newest: usize) -> Result<Vec<Record>, Error> {
        let sealed = state.segments.iter().rev().map(|(number, sealed)| Span {
            segment: *number,
            first: sealed.first,
            last: sealed.last,
            before: 0,
            through: sealed.messages,
        });
        let open = state.open.as_ref().map(|open| Span {
            segment: open.number,
            first: open.first,
            last: state.head,
            before: 0,
            through: open.messages,
        });
        let mut spans = open.into_iter().chain(sealed);
        let mut found: Vec<Record> = Vec::new();
        while found.len() < newest {
            let view =
                spans.by_ref().take(SEGMENTS_AT_ONCE).fold(Spans::default(), |view, span| view.with(span));
            if view.is_empty() {
                break;
            }
            let take = Take::Newest(newest - found.len());
            let reading = Reading { view, filter: Filter::Decisions, take };
            found.extend(self.store.read(&state.scope, &reading).await?.into_iter().rev());
        }
        Ok(found)
    }

    /// Explains the newest decisions of a scope, newest first.
    pub async fn why(&self, state: &State, newest: usize) -> Result<Vec<Explained>, Error> {
        let mut explained = Vec::new();
        let mut titles = Titles::new();
        for record in self.decisions(state, newest).await? {
            let Ok(Body::Decision(decision)) = record.body() else { continue };
            let about = self.store.get(&state.scope, decision.about).await?;
            let number = decision.session;
            if !titles.contains_key(&number)
                && let Some((title, _)) = self.title(state, number).await?
            {
                titles.insert(number, title);
            }
            let preview = about.as_ref().and_then(preview);
            // Where the message is all that the session is called by, it need not be said twice.
            let said = preview.as_deref().unwrap_or_default();
            let title = titles.get(&number).filter(|title| !title.starts_with(said) || said.is_empty());
            explained.push(Explained {
                at: record.at,
                title: title.cloned(),
                preview,
                asked_by: about.as_ref().map_or(CommandBy::Person, asked_by),
                session: state.key(number),
                decision: *decision,
            });
        }
        Ok(explained)
    }
}

pub(crate) fn stored_message(record: &Record) -> Option<StoredMessage> {
    let role = record.kind.role()?;
    let message = match record.body() {
        Ok(Body::Message(_, message)) => Some(message),
        _ => None,
    };
    Some(StoredMessage {
        seq: record.seq,
        role,
        text: message.as_ref().map(|message| message.text.clone()).unwrap_or_default(),
        at: message.as_ref().and_then(|message| message.given_at).unwrap_or(record.at),
        message,
    })
}

/// Tells who asked for what a decision is about: where a program did, nobody said anything.
fn asked_by(about: &Record) -> CommandBy {
    match (about.kind, about.body()) {
        (Kind::Command, Ok(Body::Command(spoken))) if spoken.text.is_empty() => CommandBy::Host,
        (Kind::Command, _) => CommandBy::Person,
        (kind, _) if kind.role().is_some() => CommandBy::Person,
        _ => CommandBy::Host,
    }
}

/// Returns the first characters of what was said, cut on a character.
fn preview(record: &Record) -> Option<String> {
    said(record).map(|line| line.chars().take(PREVIEW_CHARS_MAX).collect())
}

/// Returns what was said on one line, unless it is nothing or was erased.
fn said(record: &Record) -> Option<String> {
    let text = match record.body().ok()? {
        Body::Message(_, message) => message.text,
        Body::Command(spoken) => spoken.text,
        _ => return None,
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}
