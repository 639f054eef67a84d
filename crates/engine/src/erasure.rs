//! Erasure: what a session or a person said, found so that it can be erased.
//!
//! A person is whoever the configuration's `[users]` table would name: an identity link, or else `channel:peer`. What
//! they said in groups is found by the sender of each message.

use crate::engine::Engine;
use crate::error::Error;
use crate::route::user_of;
use segue_core::entry::{Kind, Seq};
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::title;
use segue_store::SetAside;
use std::collections::BTreeSet;

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

    /// Finds everything that a person said, scope by scope: their own scopes as a whole, answers and all, and their
    /// messages in groups.
    pub async fn said_by(&self, person: &str) -> Result<Vec<(scope::Key, Vec<Seq>)>, Error> {
        let mut found = Vec::new();
        for scope in self.every_scope().await? {
            let Some(state) = self.store.load(&scope).await? else { continue };
            let entries = self.said_by_in(&state, person).await?;
            if !entries.is_empty() {
                found.push((scope, entries.into_iter().collect()));
            }
        }
        Ok(found)
    }

    /// Finds what was set aside because it cannot be read, and holds or may hold what a person said. A damaged file cannot
    /// be edited safely, so it goes as a whole, with what others said in it.
    pub async fn set_aside_of(&self, person: &str) -> Result<Vec<SetAside>, Error> {
        let copies = self.store.copies().await?.into_iter();
        Ok(copies.filter(|copy| self.may_hold_words_of(copy, person)).collect())
    }

    /// Finds what was set aside of a session that goes on.
    pub async fn set_aside_in(&self, state: &State, session: Number) -> Result<Vec<SetAside>, Error> {
        let copies = self.store.copies().await?.into_iter();
        let view = state.view(session);
        let is_seen = |copy: &SetAside| view.iter().any(|span| Some(span.segment) == copy.segment);
        Ok(copies.filter(|copy| copy.scope.as_ref() == Some(&state.scope) && is_seen(copy)).collect())
    }

    fn may_hold_words_of(&self, copy: &SetAside, person: &str) -> bool {
        // Nobody can tell any more whose it is.
        let Some(scope) = &copy.scope else { return copy.unreadable > 0 || !copy.senders.is_empty() };
        if copy.senders.iter().any(|sender| self.is_person(scope, sender, person)) {
            return true;
        }
        match user_of(&self.config.routing, scope) {
            Some(owner) => owner == person,
            // What cannot be read in a group was said by anybody who can speak there.
            None => {
                let links = &self.config.routing.links;
                let may_speak = channel_of(scope).is_none_or(|channel| links.may_speak_in(person, channel));
                copy.unreadable > 0 && may_speak
            }
        }
    }

    async fn said_by_in(&self, state: &State, person: &str) -> Result<BTreeSet<Seq>, Error> {
        let owner = user_of(&self.config.routing, &state.scope);
        let mut entries = BTreeSet::new();
        for session in state.list().map(|(session, _)| session) {
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
        Ok(entries)
    }

    /// A channel names its senders without the channel: `111` in a Telegram group is `telegram:111`.
    fn is_person(&self, scope: &scope::Key, sender: &str, person: &str) -> bool {
        if sender == person {
            return true;
        }
        let Some(channel) = channel_of(scope) else { return false };
        let linked = self.config.routing.links.name_of(channel, sender);
        linked.map_or_else(|| format!("{channel}:{sender}") == person, |name| name == person)
    }
}

/// Finds the channel of a scope that belongs to one; where all channels come together there is none.
fn channel_of(scope: &scope::Key) -> Option<&str> {
    match scope.as_str().split(':').collect::<Vec<_>>().as_slice() {
        ["agent", _, channel, _, ..] => Some(channel),
        _ => None,
    }
}
