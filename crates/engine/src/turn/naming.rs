//! Sessions that people name in plain words: "back to the Japan trip", "the Japan one".

use crate::engine::Engine;
use segue_core::entry::Seq;
use segue_core::message::Role;
use segue_core::observed::{Answer, Mentioned};
use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::naming::{About, goes_back_to, names_one};

impl Engine {
    /// Finds the earlier session that a message names, if it wants to go back to one.
    pub(crate) async fn mentioned(&self, state: &State, text: &str) -> Option<Mentioned> {
        let name = goes_back_to(text)?;
        let latest = state.latest()?;
        // Only a message that says where to go costs that.
        let others = self.others.of(state);
        let near = self.near_of_all(state, &others, text).await;
        // Who names the session in which they are wants to stay.
        let mut best = name.fits(&self.what_it_is_about(state, latest, None).await);
        let mut found = None;
        for session in others.newest.iter().chain(&near).copied() {
            let fits = name.fits(&self.what_it_is_about(state, session, None).await);
            if fits > best {
                (best, found) = (fits, Some(session));
            }
        }
        found.map(|session| Mentioned { session, phrase: name.phrase })
    }

    /// Reads a message as the answer to our question, by what the sessions are about that it offers.
    pub(crate) async fn answer_by_name(&self, state: &State, text: &str) -> Option<Answer> {
        let question = state.extras.question.as_ref()?;
        let mut offered = vec![(Answer::Continue, state.latest()?)];
        offered.extend(question.older.map(|older| (Answer::Older, older)));
        let mut abouts = Vec::new();
        for (_, session) in &offered {
            abouts.push(self.what_it_is_about(state, *session, Some(question.held)).await);
        }
        names_one(text, &abouts).and_then(|at| offered.get(at)).map(|(answer, _)| *answer)
    }

    /// Reads what a session is about: its title, and what the person said first. A message that waits for an answer of ours
    /// says nothing about the session that it waits in.
    async fn what_it_is_about(&self, state: &State, session: Number, held: Option<Seq>) -> About {
        let title = state.sessions.get(&session).and_then(|session| session.title.as_ref());
        // A session that cannot be read is found by its title alone.
        let first = self.first_words(state, session).await.ok().flatten().unwrap_or_default();
        let said = first.iter().filter(|told| told.role == Role::User && Some(told.seq) != held);
        About::of(said.map(|told| told.text.as_str()).chain(title.map(|title| title.as_str())))
    }
}
