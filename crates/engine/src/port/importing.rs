//! Taking over a conversation, at once or in parts.

use super::transcript::Beginning;
use super::{Conversation, Imported, Taken, fingerprint, prefix};
use crate::clock::kept;
use crate::engine::Engine;
use crate::error::Error;
use crate::outcome::{Delivery, Outcome};
use crate::pins::Repin;
use crate::request::{Pick, Request};
use segue_core::Timestamp;
use segue_core::digest::Digest;
use segue_core::entry::{Body, Seq};
use segue_core::message::{Message, MessageId, Role};
use segue_core::pins::{Capture, Pins};
use segue_core::policy::QuestionMode;
use segue_core::scope;
use segue_core::session::{Number, Origin, Title};
use segue_core::state::State;
use std::collections::VecDeque;

/// How many messages of one id there can be: a conversation that was deleted and imported again, and other words under the
/// same id.
const TIMES_MAX: usize = 1_000;

/// A conversation that is being taken over.
#[derive(Debug, Clone)]
pub struct Importing {
    scope: scope::Key,
    imported: Imported,
    last_known: Option<Seq>,
    /// Whether some of what was known was erased.
    has_erased: bool,
    ids: Option<Ids>,
    /// The last stamp that was believed.
    believed_at: Option<Timestamp>,
}

/// Whose ids the messages of a conversation have here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ids {
    Own,
    /// It was taken over by an earlier version, which gave other ones.
    Former,
}

/// What is known here about a message.
enum Known {
    /// It is here, or was erased here.
    Here { seq: Seq, is_erased: bool },
    /// It is not, and would have this id.
    Not { id: MessageId, before: Before },
}

/// What the id of a message was used for before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// For nothing.
    Unused,
    /// For something that was deleted, and is taken to be the same.
    Deleted,
    /// For other words.
    OtherWords,
}

impl Importing {
    /// Begins to take a conversation over.
    pub fn new(scope: scope::Key) -> Self {
        let imported = Imported { session: None, taken: 0, known: 0, back: 0 };
        Self { scope, imported, last_known: None, has_erased: false, ids: None, believed_at: None }
    }

    /// The scope that it goes to.
    pub fn scope(&self) -> &scope::Key {
        &self.scope
    }
}

impl Engine {
    /// Takes a conversation over into a session of its own. The session that the person talks in stays the latest one. What
    /// was taken over before is left alone: a second import changes nothing. What was deleted since comes back.
    pub async fn import(&self, scope: &scope::Key, conversation: Conversation) -> Result<Imported, Error> {
        for (_, role, message) in &conversation.messages {
            self.check(*role, message)?;
        }
        let mut hasher = blake3::Hasher::new();
        for (_, role, message) in &conversation.messages {
            fingerprint(&mut hasher, *role, message);
        }
        let prefix = prefix(&hasher);
        let with_id = |(at, (time, role, mut message)): (usize, (Timestamp, Role, Message))| {
            let own = || MessageId(format!("import:{prefix}:{at}"));
            message.message_id.get_or_insert_with(own);
            Taken { line: at, seq: None, at: time, role, message, former: None, beginnings: Vec::new() }
        };
        let messages = conversation.messages.into_iter().enumerate().map(with_id).collect();
        let mut importing = Importing::new(scope.clone());
        self.import_more(&mut importing, messages).await?;
        self.import_end(importing, conversation.title, conversation.pins).await
    }

    /// Takes over the next messages of a conversation. Each needs an id: it is what a second import knows it by.
    pub async fn import_more(&self, importing: &mut Importing, messages: Vec<Taken>) -> Result<(), Error> {
        let scope = importing.scope.clone();
        let ids = match importing.ids {
            Some(ids) => ids,
            None => *importing.ids.insert(self.ids_of(&scope, &messages).await?),
        };
        let imported = &mut importing.imported;
        let mut rest: VecDeque<Taken> = VecDeque::with_capacity(messages.len());
        for mut taken in messages {
            self.check(taken.role, &taken.message)?;
            if ids == Ids::Former {
                taken.message.message_id = taken.former.take().or(taken.message.message_id);
            }
            let at = self.believed_in_import(&mut importing.believed_at, taken.at);
            if at < kept(taken.at) {
                taken.message.given_at = Some(kept(taken.at));
            }
            rest.push_back(Taken { at, ..taken });
        }
        while let Some(mut taken) = rest.pop_front() {
            let mut before = Before::Unused;
            if let Some(id) = taken.message.message_id.take() {
                match self.find_imported(&scope, id, &taken).await? {
                    Known::Here { seq, is_erased } => {
                        imported.known += 1;
                        importing.last_known = Some(seq);
                        importing.has_erased |= is_erased;
                        continue;
                    }
                    Known::Not { id, before: used } => {
                        self.leave_out_beginning(&scope, &mut taken).await?;
                        taken.message.message_id = Some(id);
                        before = used;
                    }
                }
            }
            let Taken { at: time, role, message, .. } = taken;
            let home = match &imported.session {
                Some(session) => session.number,
                None => self.home(&scope, importing.last_known, time).await?,
            };
            let state = self.find_state(&scope).await?;
            let latest = state.as_ref().and_then(|state| state.latest());
            let request = match home {
                // An import that was cut off goes on where it began, which need not be latest any more.
                session if latest != Some(session) => Request::Reply(role, message, session),
                _ if state.is_some_and(|state| holds_a_message(&state)) => return Err(in_the_way(&scope)),
                _ => Request::Keep(role, message),
            };
            let outcome: Outcome = self.request(&scope, time, &request).await?;
            imported.session = Some(outcome.session_key());
            match outcome.delivery {
                // No command is imported, and what fails else is an error.
                Delivery::First | Delivery::Failed => imported.taken += 1,
                Delivery::Again => imported.known += 1,
            }
            imported.back += usize::from(before == Before::Deleted);
            // An id that was used needs another one, which is found one by one.
            if before == Before::Unused {
                imported.taken += self.keep_more(&scope, outcome.session, &mut rest).await?;
            }
        }
        Ok(())
    }

    /// Returns the time that counts for a message: a stamp that is far ahead counts as the one before it.
    fn believed_in_import(&self, last: &mut Option<Timestamp>, at: Timestamp) -> Timestamp {
        if self.believes(at) {
            return kept(*last.insert(at));
        }
        kept(last.unwrap_or_else(|| self.now()))
    }

    /// Gives the session its title and its pins, and tells what was taken over.
    pub async fn import_end(
        &self,
        importing: Importing,
        title: Option<Title>,
        pins: Option<Box<Capture>>,
    ) -> Result<Imported, Error> {
        let Importing { scope, imported, last_known, has_erased, .. } = importing;
        let own = match (&imported.session, last_known) {
            (Some(session), _) => Some(session.number),
            // An import may have been cut off behind its last message.
            (None, Some(seq)) => self.imported_with(&scope, seq).await?,
            (None, None) => None,
        };
        let Some(own) = own else { return Ok(imported) };
        let state = self.state(&scope).await?;
        let session = state.live(own);
        // Where the import had ended before, the session has its pins already. What was erased does not come back with them.
        if let (Some(session), Some(pins), false) = (session, pins, has_erased)
            && (imported.known == 0 || lacks(&session.pins, &pins) && self.is_unfinished(&state, own).await?)
        {
            let pin = Request::Pin(Pick::Numbered(own), Repin::All(pins));
            self.request(&scope, state.clock, &pin).await?;
        }
        // A file that has grown is called what it was called; a person may have renamed the session since. A title goes with
        // any message of its session.
        if let (Some(title), false) = (title, has_erased)
            && session.is_some_and(|session| session.title.is_none())
        {
            let rename = Request::Rename(Pick::Numbered(own), title);
            self.request(&scope, state.clock, &rename).await?;
        }
        if state.latest() == Some(own) {
            self.go_back(&scope).await?;
        }
        Ok(imported)
    }

    /// Tells whether an import may still be under way, or was cut off: nobody has talked in its session, which is latest.
    async fn is_unfinished(&self, state: &State, own: Number) -> Result<bool, Error> {
        let is_new = state.live(own).is_some_and(|session| {
            session.origin == Origin::Import && session.pins.reloads == 0 && state.latest() == Some(own)
        });
        Ok(is_new && self.last_turned(state, own).await?.is_none())
    }

    /// Finds out whether an earlier version has taken a conversation over, by an answer in it: answers are no session's
    /// but one.
    async fn ids_of(&self, scope: &scope::Key, messages: &[Taken]) -> Result<Ids, Error> {
        let answers = messages.iter().filter(|taken| taken.role == Role::Assistant);
        let both = answers.filter_map(|taken| taken.former.as_ref().zip(taken.message.message_id.as_ref()));
        for (former, own) in both.take(3) {
            if self.store.seen(scope, own).await?.is_some() {
                return Ok(Ids::Own);
            }
            if self.store.seen(scope, former).await?.is_some() {
                return Ok(Ids::Former);
            }
        }
        Ok(Ids::Own)
    }

    /// Finds a message of an import, under its own id or under one that it got because that was used.
    async fn find_imported(&self, scope: &scope::Key, id: MessageId, taken: &Taken) -> Result<Known, Error> {
        let (mut named, mut before) = (id.clone(), Before::Unused);
        for time in 2..TIMES_MAX {
            let Some(seq) = self.store.seen(scope, &named).await? else {
                return Ok(Known::Not { id: named, before });
            };
            // What was deleted has left its number; what was erased has left its place, and stays erased.
            before = match self.store.get(scope, seq).await?.map(|record| record.body()) {
                None => Before::Deleted,
                Some(Ok(Body::Message(role, held))) if role != taken.role || !says(&held, taken) => {
                    if before == Before::Deleted { before } else { Before::OtherWords }
                }
                Some(held) => {
                    let is_erased = matches!(held, Ok(Body::Gone(_)));
                    return Ok(Known::Here { seq, is_erased });
                }
            };
            named = MessageId(format!("{}~{time}", id.0));
        }
        Ok(Known::Not { id, before: Before::Unused })
    }

    /// Leaves out what was taken over of a message while its file was still being written.
    async fn leave_out_beginning(&self, scope: &scope::Key, taken: &mut Taken) -> Result<(), Error> {
        for beginning in std::mem::take(&mut taken.beginnings).iter().rev() {
            if let Some(seq) = self.store.seen(scope, &beginning.id).await?
                && self.store.get(scope, seq).await?.is_some()
            {
                taken.behind(beginning);
                break;
            }
        }
        Ok(())
    }

    /// Finds the session that an import goes on in, or opens one for it.
    async fn home(
        &self,
        scope: &scope::Key,
        last_known: Option<Seq>,
        at: Timestamp,
    ) -> Result<Number, Error> {
        if let Some(seq) = last_known
            && let Some((number, _)) = self.holder(scope, seq).await?
        {
            return Ok(number);
        }
        // One that was opened before this one, by the same file say, must not stand between it and the person's.
        self.go_back(scope).await?;
        if self.find_state(scope).await?.is_some_and(|state| holds_a_message(&state)) {
            return Err(in_the_way(scope));
        }
        // The first session of a scope is an imported one too: the backlog never deletes it.
        Ok(self.request(scope, at, &Request::OpenImported).await?.session)
    }

    /// Finds the session that holds a message.
    async fn holder(&self, scope: &scope::Key, seq: Seq) -> Result<Option<(Number, Origin)>, Error> {
        let Some(state) = self.find_state(scope).await? else { return Ok(None) };
        let Some(record) = self.store.get(scope, seq).await? else { return Ok(None) };
        let found = state.all().find(|(number, _)| state.view(*number).hold(record.segment, seq));
        Ok(found.map(|(number, session)| (number, session.origin)))
    }

    /// Finds the session that holds a message, if an import has opened it.
    async fn imported_with(&self, scope: &scope::Key, seq: Seq) -> Result<Option<Number>, Error> {
        let holder = self.holder(scope, seq).await?;
        Ok(holder.filter(|(_, origin)| *origin == Origin::Import).map(|(number, _)| number))
    }
}

/// Tells whether a message waits for the answer to a question. Whatever comes behind it would take it for answered.
pub(super) fn holds_a_message(state: &State) -> bool {
    state.extras.question.as_ref().is_some_and(|question| question.manner == QuestionMode::Hold)
}

fn in_the_way(scope: &scope::Key) -> Error {
    let why = "a question holds a message there; answer it, and import again";
    Error::Store(segue_store::Error::unavailable(scope.as_str(), why))
}

/// Tells whether a session is pinned to something else.
fn lacks(pins: &Pins, wanted: &Capture) -> bool {
    let hash = |text: &String| Digest::of_body(text.as_bytes());
    let agent = pins.agent.as_ref().map(|agent| (&agent.name, agent.instructions.map(|held| held.hash)));
    let wanted_agent = wanted.agent.as_ref();
    agent != wanted_agent.map(|agent| (&agent.name, agent.instructions.as_ref().map(hash)))
        || pins.skills.as_ref().map(|skills| skills.version)
            != wanted.skills.as_ref().map(|skills| skills.version)
        || pins.persona.as_ref().map(|persona| persona.version)
            != wanted.persona.as_ref().map(|persona| persona.version)
        || pins.model != wanted.model
}

/// Tells whether what is held of a message is what it says: all of it, or the rest behind a beginning.
fn says(held: &Message, taken: &Taken) -> bool {
    let message = &taken.message;
    let calls = |message: &Message, from: usize| -> Vec<String> {
        message.tool_calls.iter().skip(from).map(|call| call.id.clone()).collect()
    };
    let is_behind = |begun: &Beginning| {
        let text = message.text.get(begun.text_bytes..).map(|text| text.trim_start_matches('\n'));
        text == Some(held.text.as_str()) && calls(message, begun.calls) == calls(held, 0)
    };
    let is_whole = held.text == message.text && calls(message, 0) == calls(held, 0);
    held.tool_call_id == message.tool_call_id && (is_whole || taken.beginnings.iter().any(is_behind))
}
