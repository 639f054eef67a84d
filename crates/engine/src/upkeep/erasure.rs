//! Erasure: what a session or a person said, found so that it can be erased.
//!
//! A person is whoever the configuration's `[users]` table would name: an identity link, or else `channel:peer`. What
//! they said in groups is found by the sender of each message.

use crate::engine::Engine;
use crate::error::Error;
use crate::route::{safe, user_of};
use segue_core::entry::{Body, Kind, Seq};
use segue_core::memory::{Memory, Status};
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::title;
use segue_store::{Quarantined, QuarantinedFile};
use std::collections::BTreeSet;

/// What is to be erased.
#[derive(Debug, Default)]
pub struct Erasure {
    /// The person, as the engine names them, if it is one who is erased.
    pub person: Option<String>,
    /// What the log says, scope by scope.
    pub entries: Vec<(scope::Key, Vec<Seq>)>,
    /// What was set aside of the person or the session. A damaged file cannot be edited safely, so it goes as a whole, with
    /// what others said in it.
    pub theirs: Vec<QuarantinedFile>,
    /// What was set aside, and may hold words of the person, or is seen by other sessions too. Nobody deletes that unasked.
    pub perhaps: Vec<QuarantinedFile>,
    /// What was set aside of nobody knows whom.
    pub nobodys: Vec<QuarantinedFile>,
    /// What could not be looked into, one sentence each.
    pub unseen: BTreeSet<String>,
}

/// Whose words were set aside.
enum Whose {
    /// They are seen to speak there, or it is their own scope.
    Theirs,
    /// Something cannot be read where they can speak.
    Perhaps,
    Others,
    Unknown,
}

impl Engine {
    /// Finds everything that was said in a session, the commands that were typed there, and its titles.
    pub async fn said_in(&self, state: &State, session: Number) -> Result<Vec<Seq>, Error> {
        let told = self.messages(state, session, usize::MAX).await?;
        let typed = self.commands(state, session).await?;
        let told = told.iter().filter(|told| told.message.is_some()).map(|told| told.seq);
        let mut said: BTreeSet<Seq> = told.chain(typed.iter().map(|typed| typed.seq)).collect();
        for entry in title::entries(state, session) {
            said.insert(entry);
            // The command that gave it stands right before it, perhaps in another session.
            let command = self.store.get(&state.scope, entry.previous()).await?;
            said.extend(command.filter(|record| record.kind == Kind::Command).map(|record| record.seq));
        }
        Ok(said.into_iter().collect())
    }

    /// Finds everything that a person said: their own scopes as a whole, answers and all, their messages in groups, and
    /// what was set aside of either. A person is a link's name or `channel:peer`; an address that is linked means the
    /// person whom it belongs to.
    ///
    /// A scope that cannot be looked into keeps nobody from being erased elsewhere.
    pub async fn to_erase_of(&self, person: &str) -> Result<Erasure, Error> {
        let canonical = self.config.routing.links.canonical_user(person);
        let person = canonical.unwrap_or_else(|| person.to_owned());
        let mut erasure = Erasure::default();
        for scope in self.every_scope().await? {
            match self.said_by(&scope, &person).await {
                Ok(entries) if entries.is_empty() => {}
                Ok(entries) => erasure.entries.push((scope, entries.into_iter().collect())),
                Err(error) => _ = erasure.unseen.insert(format!("{scope}: {error}")),
            }
        }
        let copies = self.quarantined(None).await?;
        erasure.unseen.extend(copies.unseen);
        for copy in copies.found {
            match self.whose(&copy, &person) {
                Whose::Theirs => erasure.theirs.push(copy),
                Whose::Perhaps => erasure.perhaps.push(copy),
                Whose::Unknown => erasure.nobodys.push(copy),
                Whose::Others => {}
            }
        }
        erasure.person = Some(person);
        Ok(erasure)
    }

    /// Finds everything that was said in a session, and what was set aside of it.
    pub async fn to_erase_in(&self, state: &State, session: Number) -> Result<Erasure, Error> {
        let entries = vec![(state.scope.clone(), self.said_in(state, session).await?)];
        let copies = self.quarantined(Some(&state.scope)).await?;
        let view = state.view(session);
        let is_seen = |copy: &QuarantinedFile| view.iter().any(|span| Some(span.segment) == copy.segment);
        // A file goes as a whole, and another session may be a fork of this one, or what it was merged into.
        let is_alone = |copy: &QuarantinedFile| copy.sessions.iter().all(|other| *other == session);
        let (theirs, perhaps) = copies.found.into_iter().filter(is_seen).partition(is_alone);
        let unseen = copies.unseen.into_iter().collect();
        Ok(Erasure { entries, theirs, perhaps, unseen, ..Erasure::default() })
    }

    async fn quarantined(&self, scope: Option<&scope::Key>) -> Result<Quarantined, Error> {
        match self.store.quarantine() {
            Some(quarantine) => Ok(quarantine.list(scope).await?),
            None => Ok(Quarantined::default()),
        }
    }

    fn whose(&self, copy: &QuarantinedFile, person: &str) -> Whose {
        let Some(scope) = &copy.scope else { return Whose::Unknown };
        let owner = user_of(&self.config.routing, scope);
        let speaks = copy.senders.iter().any(|sender| self.is_person(scope, sender, person));
        if speaks || owner.as_deref() == Some(person) {
            return Whose::Theirs;
        }
        // What cannot be read in a group was said by anybody who can speak there.
        let links = &self.config.routing.links;
        let may_speak = || channel_of(scope).is_none_or(|channel| links.may_speak_in(person, channel));
        match owner.is_none() && copy.unreadable > 0 && may_speak() {
            true => Whose::Perhaps,
            false => Whose::Others,
        }
    }

    async fn said_by(&self, scope: &scope::Key, person: &str) -> Result<BTreeSet<Seq>, Error> {
        match self.store.load(scope).await? {
            Some(state) => self.said_by_in(&state, person).await,
            None => Ok(BTreeSet::new()),
        }
    }

    async fn said_by_in(&self, state: &State, person: &str) -> Result<BTreeSet<Seq>, Error> {
        let owner = user_of(&self.config.routing, &state.scope);
        let mut entries = BTreeSet::new();
        for session in state.all().map(|(session, _)| session) {
            if owner.as_deref() == Some(person) {
                entries.extend(self.said_in(state, session).await?);
                continue;
            }
            let told = self.messages(state, session, usize::MAX).await?;
            let theirs = told.iter().filter(|told| {
                let sender = told.message.as_ref().and_then(|message| message.sender.as_deref());
                sender.is_some_and(|sender| self.is_person(&state.scope, sender, person))
            });
            entries.extend(theirs.map(|told| told.seq));
        }
        if owner.as_deref() == Some(person) {
            let outlived = self.outlived(state, &entries).await?;
            entries.extend(outlived);
        }
        Ok(entries)
    }

    /// Finds the titles, and what is remembered, of sessions that are not listed because what they said cannot be read:
    /// those stand elsewhere, and outlive it.
    async fn outlived(&self, state: &State, going: &BTreeSet<Seq>) -> Result<Vec<Seq>, Error> {
        let extras = &state.extras;
        let is_hidden = |session: &Number| !state.sessions.contains_key(session);
        let named = extras.names.iter().filter(|(session, _)| is_hidden(session)).map(|(_, name)| name.entry);
        let is_kept = |memory: &&Memory| memory.status == Status::Kept && !going.contains(&memory.source);
        let remembered = extras.memories.iter().filter(is_kept).map(|memory| memory.entry);
        let mut found: Vec<Seq> = named.chain(remembered).collect();
        for record in self.store.tail(&state.scope, Seq::ZERO, usize::MAX).await? {
            if let Ok(Body::Renamed(renamed)) = record.body()
                && is_hidden(&renamed.session)
            {
                found.push(record.seq);
            }
        }
        Ok(found)
    }

    /// A channel names its senders without the channel: `111` in a Telegram group is `telegram:111`.
    fn is_person(&self, scope: &scope::Key, sender: &str, person: &str) -> bool {
        let links = &self.config.routing.links;
        if sender == person || links.canonical_user(sender).as_deref() == Some(person) {
            return true;
        }
        let Some(channel) = channel_of(scope) else { return false };
        let peer = safe::id(sender);
        let linked = links.name_of(channel, &peer);
        linked.map_or_else(|| format!("{channel}:{peer}") == person, |name| name == person)
    }
}

/// Finds the channel of a scope that belongs to one; where all channels come together there is none.
fn channel_of(scope: &scope::Key) -> Option<&str> {
    match scope.as_str().split(':').collect::<Vec<_>>().as_slice() {
        ["agent", _, channel, _, ..] => Some(channel),
        _ => None,
    }
}
