//! Taking over a conversation, at once or in parts.

use super::{Conversation, Imported, Taken, fingerprint, prefix};
use crate::engine::Engine;
use crate::error::Error;
use crate::outcome::{Delivery, Outcome};
use crate::pins::Repin;
use crate::request::{Pick, Request};
use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId, Role};
use segue_core::pins::Capture;
use segue_core::scope;
use segue_core::session::{Number, Title};
use std::collections::VecDeque;

/// How often a conversation can be deleted and imported again.
const TIMES_MAX: usize = 1_000;

/// A conversation that is being taken over.
#[derive(Debug, Clone)]
pub struct Importing {
    scope: scope::Key,
    imported: Imported,
    last_known: Option<Seq>,
    ids: Option<Ids>,
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
    /// It is here.
    Here(Seq),
    /// It is not, and would have this id. It has been here where that is another one than its own.
    Not { id: MessageId, is_back: bool },
}

impl Importing {
    /// Begins to take a conversation over.
    pub fn new(scope: scope::Key) -> Self {
        let imported = Imported { session: None, taken: 0, known: 0, back: 0 };
        Self { scope, imported, last_known: None, ids: None }
    }

    /// The scope that it goes to.
    pub fn scope(&self) -> &scope::Key {
        &self.scope
    }
}

impl Engine {
    /// Takes a conversation over into a session of its own, which is latest then. What was taken over
    /// before is left alone: a second import changes nothing. What was deleted since comes back.
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
            Taken { line: at, seq: None, at: time, role, message, former: None }
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
        let mut rest: VecDeque<(Timestamp, Role, Message)> = VecDeque::with_capacity(messages.len());
        for mut taken in messages {
            self.check(taken.role, &taken.message)?;
            if ids == Ids::Former {
                taken.message.message_id = taken.former.or(taken.message.message_id);
            }
            rest.push_back((taken.at, taken.role, taken.message));
        }
        while let Some((time, role, mut message)) = rest.pop_front() {
            let mut is_back_again = false;
            if let Some(id) = message.message_id.take() {
                match self.find_imported(&scope, id).await? {
                    Known::Here(seq) => {
                        imported.known += 1;
                        importing.last_known = Some(seq);
                        continue;
                    }
                    Known::Not { id, is_back } => {
                        message.message_id = Some(id);
                        is_back_again = is_back;
                    }
                }
            }
            let home = match &imported.session {
                Some(session) => session.number,
                None => self.home(&scope, importing.last_known, time).await?,
            };
            let latest = self.find_state(&scope).await?.and_then(|state| state.latest());
            let request = match home {
                // An import that was cut off goes on where it began, which need not be latest any more.
                session if latest != Some(session) => Request::Reply(role, message, session),
                _ => Request::Keep(role, message),
            };
            let outcome: Outcome = self.request(&scope, time, &request).await?;
            imported.session = Some(outcome.session_key());
            match outcome.delivery {
                // No command is imported, and what fails else is an error.
                Delivery::First | Delivery::Failed => imported.taken += 1,
                Delivery::Again => imported.known += 1,
            }
            imported.back += usize::from(is_back_again);
            // What had been deleted needs another id, which is found one by one.
            if !is_back_again {
                imported.taken += self.keep_more(&scope, outcome.session, &mut rest).await?;
            }
        }
        Ok(())
    }

    /// Gives the session its title and its pins, and tells what was taken over.
    pub async fn import_end(
        &self,
        importing: Importing,
        title: Option<Title>,
        pins: Option<Box<Capture>>,
    ) -> Result<Imported, Error> {
        let Importing { scope, imported, .. } = importing;
        // Where a part had been there before, the session has its pins already.
        if let (Some(session), Some(pins), 0) = (&imported.session, pins, imported.known) {
            let pin = Request::Pin(Pick::Numbered(session.number), Repin::All(pins));
            let at = self.state(&scope).await?.clock;
            self.request(&scope, at, &pin).await?;
        }
        if let (Some(session), Some(title)) = (&imported.session, title) {
            let state = self.state(&scope).await?;
            // A file that has grown is called what it was called; a person may have renamed the session since.
            if state.live(session.number).is_some_and(|session| session.title.is_none()) {
                let rename = Request::Rename(Pick::Numbered(session.number), title);
                self.request(&scope, state.clock, &rename).await?;
            }
        }
        Ok(imported)
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

    /// Finds a message of an import, under its own id or under one that it got when it came back.
    async fn find_imported(&self, scope: &scope::Key, id: MessageId) -> Result<Known, Error> {
        let mut named = id.clone();
        for time in 2..TIMES_MAX {
            let Some(seq) = self.store.seen(scope, &named).await? else {
                return Ok(Known::Not { is_back: named != id, id: named });
            };
            // What was deleted has left its number; what was erased has left its place, and stays erased.
            if self.store.get(scope, seq).await?.is_some() {
                return Ok(Known::Here(seq));
            }
            named = MessageId(format!("{}~{time}", id.0));
        }
        Ok(Known::Not { is_back: false, id })
    }

    /// Finds the session that an import goes on in, or opens one for it.
    async fn home(
        &self,
        scope: &scope::Key,
        last_known: Option<Seq>,
        at: Timestamp,
    ) -> Result<Number, Error> {
        // The first session of a scope is an imported one too: the backlog never deletes it.
        if let Some(state) = self.find_state(scope).await?
            && let Some(seq) = last_known
            && let Some(record) = self.store.get(scope, seq).await?
            && let Some((number, _)) = state.all().find(|(n, _)| state.view(*n).hold(record.segment, seq))
        {
            return Ok(number);
        }
        Ok(self.request(scope, at, &Request::OpenImported).await?.session)
    }
}
