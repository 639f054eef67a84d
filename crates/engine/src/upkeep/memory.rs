//! Memory: what is taken from sessions that were left, and lives on (P-11). It never enters a context by itself.

use crate::engine::Engine;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::request::Request;
use crate::route::{Form, form_of};
use crate::scope::session_profile::speaker;
use segue_core::Timestamp;
use segue_core::entry::{Body, Seq};
use segue_core::memory::{self, Extracted, Kind, MemoryEntry, Remembered};
use segue_core::scope;
use segue_core::session::{Key, Number};
use segue_core::state::State;
use segue_signals::memory_extraction::{self, Statement, extract};
use std::collections::BTreeSet;

/// How many of a session's newest messages are looked at.
const MESSAGES_MAX: usize = 2_000;

/// Whose sessions are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Those of scopes that belong to one person.
    #[default]
    Personal,
    /// Those of all scopes.
    All,
    /// None.
    Nothing,
}

/// One thing that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The entry that holds it: its name for `forget`.
    pub entry: Seq,
    /// What kind of thing it is.
    pub kind: Kind,
    /// What is remembered.
    pub text: String,
    /// Who said it: the person's name or id where there is one, else "user" or "assistant". Nothing if the message is gone.
    pub said_by: Option<String>,
    /// The session that it comes from. It may be gone.
    pub session: Key,
    /// The message that says so.
    pub source: Seq,
    /// When it was taken in.
    pub at: Timestamp,
}

/// What a look at the queue came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Archival {
    /// How many sessions were looked at.
    pub sessions: usize,
    /// How many things are remembered now that were not before.
    pub kept: usize,
}

impl Engine {
    /// Tells whether sessions of a scope are remembered.
    pub fn remembers(&self, scope: &scope::Key) -> bool {
        match self.config.memory_for(scope) {
            Keep::All => true,
            Keep::Nothing => false,
            Keep::Personal => is_personal(scope),
        }
    }

    /// Returns the sessions that wait to be looked at, oldest first.
    pub async fn archive_queue(&self, scope: &scope::Key) -> Result<Vec<Number>, Error> {
        if !self.remembers(scope) {
            return Ok(Vec::new());
        }
        Ok(memory::queue(&*self.state(scope).await?).collect())
    }

    /// Takes what is worth keeping from the sessions that were left. Whenever this is cut short, by a crash too, it
    /// goes on where it stood: a session is marked with the same append that keeps what was found in it.
    pub async fn archive(&self, scope: &scope::Key) -> Result<Archival, Error> {
        let mut done = Archival::default();
        for session in self.archive_queue(scope).await? {
            let state = self.state(scope).await?;
            let Some(kept) = self.worth_keeping(&state, session).await? else { continue };
            let before = remembered(&state, session);
            self.request(scope, self.clock.now(), &Request::Remember(kept)).await?;
            done.sessions += 1;
            done.kept += remembered(&*self.state(scope).await?, session).saturating_sub(before);
        }
        Ok(done)
    }

    /// Lists what is remembered of a scope, oldest first. Nothing else of the log is read.
    pub async fn memories(&self, scope: &scope::Key) -> Result<Vec<Memory>, Error> {
        let state = self.state(scope).await?;
        let mut list = Vec::new();
        let mut kept: Vec<&MemoryEntry> = memory::kept(&state).collect();
        kept.sort_by_key(|memory| memory.entry);
        for known in kept {
            let Some(record) = self.store.get(scope, known.entry).await? else { continue };
            let at = record.at;
            if let Ok(Body::Remembered(Remembered { session, kind, text, source })) = record.body() {
                let (session, said_by) = (state.key(session), self.speaker_of(scope, source).await?);
                list.push(Memory { entry: known.entry, kind, text, said_by, session, source, at });
            }
        }
        Ok(list)
    }

    /// Tells who said a message.
    async fn speaker_of(&self, scope: &scope::Key, message: Seq) -> Result<Option<String>, Error> {
        let record = self.store.get(scope, message).await?;
        Ok(record.and_then(|record| match record.body() {
            Ok(Body::Message(role, message)) => {
                Some(message.sender.or(message.author).unwrap_or_else(|| role.name().to_owned()))
            }
            Ok(_) | Err(_) => None,
        }))
    }

    /// Forgets one thing. Its words are erased, and it does not come back.
    pub async fn forget(&self, scope: &scope::Key, entry: Seq) -> Result<Outcome, Error> {
        self.request(scope, self.clock.now(), &Request::Forget(entry)).await
    }

    /// Finds what to keep of sessions that are about to go.
    pub(crate) async fn left_behind(&self, state: &State, going: &[Number]) -> Result<Vec<Extracted>, Error> {
        let mut kept = Vec::new();
        if !self.remembers(&state.scope) {
            return Ok(kept);
        }
        let waiting: BTreeSet<Number> = memory::queue(state).collect();
        for session in going.iter().filter(|session| waiting.contains(session)) {
            kept.extend(self.worth_keeping(state, *session).await?);
        }
        Ok(kept)
    }

    async fn worth_keeping(&self, state: &State, session: Number) -> Result<Option<Extracted>, Error> {
        let Some(upto) = memory::end(state, session) else { return Ok(None) };
        let seen = memory::extracted(state, session);
        let told = self.messages(state, session, MESSAGES_MAX).await?;
        // A summary that was carried over says what another session said.
        let own = told.iter().filter(|told| told.message.as_ref().is_some_and(|m| m.carried_from.is_none()));
        let lines = own.map(|told| (told.seq, speaker(told.role), told.text.as_str()));
        let found = extract(lines).into_iter().filter(|found| found.source > seen);
        let found = found.map(|Statement { kind, text, source }| {
            let kind = match kind {
                memory_extraction::Kind::Fact => Kind::Fact,
                memory_extraction::Kind::Preference => Kind::Preference,
                memory_extraction::Kind::Decision => Kind::Decision,
            };
            Remembered { session, kind, text, source }
        });
        Ok(Some(Extracted { session, upto, found: found.collect() }))
    }
}

fn remembered(state: &State, session: Number) -> usize {
    state.sessions.get(&session).map_or(0, |session| session.upkeep.memories.len())
}

/// A scope belongs to one person if its key names one. Groups do not, nor does `main`, where all direct messages
/// may come together.
fn is_personal(scope: &scope::Key) -> bool {
    match form_of(scope) {
        Some(Form::Peer(_) | Form::Direct { .. }) => true,
        Some(Form::Main | Form::Group { .. }) | None => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    #[test]
    fn p11_a_scope_is_personal_if_its_key_names_a_person() {
        let personal = |key: &str| is_personal(&key.parse().unwrap());
        for key in ["agent:main:cli:direct:me", "agent:a:direct:ann", "agent:a:tg:bot:direct:7:thread:3"] {
            assert!(personal(key), "{key}");
        }
        for key in ["agent:main:main", "agent:a:telegram:group:-5", "agent:a:telegram:group:direct"] {
            assert!(!personal(key), "{key}");
        }
    }
}
