//! Sessions that people name in plain words: "back to the Japan trip", "back to #2".

use crate::engine::Engine;
use crate::scope::OtherSessions;
use segue_core::entry::Seq;
use segue_core::message::Role;
use segue_core::observed::Mentioned;
use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::naming::{About, Target, goes_back_to};

impl Engine {
    /// Finds the earlier session that a message names, if it wants to go back to one.
    pub(crate) async fn mentioned(
        &self,
        state: &State,
        others: &OtherSessions,
        text: &str,
    ) -> Option<Mentioned> {
        let (target, latest) = (goes_back_to(text)?, state.latest()?);
        let name = match target {
            Target::Name(name) => name,
            Target::Number(number) => {
                let session = Number(number);
                let is_there = session != latest && state.list().any(|(number, _)| number == session);
                return is_there.then(|| Mentioned { session, phrase: format!("#{session}") });
            }
        };
        // Only a message that says where to go costs that.
        let near = self.near_of_all(state, others, text).await;
        // Who names the session in which they are wants to stay.
        let mut best = name.fits(&self.what_it_is_about(state, latest, None).await);
        let mut found = None;
        for session in others.of(state).newest.iter().chain(&near).copied() {
            let fits = name.fits(&self.what_it_is_about(state, session, None).await);
            if fits > best {
                (best, found) = (fits, Some(session));
            }
        }
        found.map(|session| Mentioned { session, phrase: name.phrase })
    }

    /// Reads what a session is about: its title, and what the person said first. A message that waits for an answer of ours
    /// says nothing about the session that it waits in.
    pub(super) async fn what_it_is_about(&self, state: &State, session: Number, held: Option<Seq>) -> About {
        let title = state.sessions.get(&session).and_then(|session| session.title.as_ref());
        // A session that cannot be read is found by its title alone.
        let first = self.first_words(state, session).await.ok().flatten().unwrap_or_default();
        let said = first.iter().filter(|told| told.role == Role::User && Some(told.seq) != held);
        About::of(said.map(|told| told.text.as_str()).chain(title.map(|title| title.as_str())))
    }
}
