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
                sender.is_some_and(|sender| self.is_person(state, sender, person))
            });
            entries.extend(theirs.map(|told| told.seq));
        }
        Ok(entries)
    }

    /// A channel names its senders without the channel: `111` in a Telegram group is `telegram:111`.
    fn is_person(&self, state: &State, sender: &str, person: &str) -> bool {
        if sender == person {
            return true;
        }
        let Some(channel) = state.scope.as_str().split(':').nth(2) else { return false };
        let linked = self.config.routing.links.name_of(channel, sender);
        linked.map_or_else(|| format!("{channel}:{sender}") == person, |name| name == person)
    }
}
