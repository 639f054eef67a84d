//! Titles: a person's, else a model's, else what the session's own words say. The last one is built in and always
//! there; a model makes better ones where one is configured, after a session was left and off the road of any message.

use crate::control::title::TitleInput;
use crate::control::{Chain, RecentMessage};
use crate::engine::Engine;
use crate::error::Error;
use crate::history::{PREVIEW_CHARS_MAX, StoredMessage, stored_message};
use crate::request::Request;
use crate::scope::session_profile::speaker;
use segue_core::entry::{Body, Named};
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::title::{self, TitledBy};
use segue_signals::summary::{self, TITLE_MESSAGES_MAX};
use segue_store::{Reading, Take};

/// How many sessions are named at a time: a backlog is worked off over several boundaries.
const SESSIONS_MAX: usize = 8;

/// How many of a session's newest messages a model is shown, besides its first ones.
const NEWEST_MAX: usize = 4;

/// What came of asking for titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Titling {
    /// For how many sessions a model was asked.
    pub asked: usize,
    /// How many of them it named.
    pub named: usize,
}

impl Engine {
    /// Has models name the sessions that were left and have no title of a person. Nothing happens where no control model
    /// is configured, and what fails is tried again after the next boundary.
    pub async fn name_sessions(&self, scope: &scope::Key) -> Result<Titling, Error> {
        let mut done = Titling::default();
        let state = self.state(scope).await?;
        let waiting: Vec<Number> = title::queue(&state).take(SESSIONS_MAX).collect();
        for session in waiting {
            let own = state.extras.control_models.get(&session);
            let chain = Chain::for_scope(own.map(String::as_str), scope, &self.config);
            if chain.named().is_empty() {
                continue;
            }
            let said = self.begins_and_ends(&state, session).await?;
            let lines: Vec<RecentMessage<'_>> =
                said.iter().map(|stored| RecentMessage { role: stored.role, text: &stored.text }).collect();
            done.asked += 1;
            let talk = TitleInput { said: &lines };
            let Some((title, model)) = self.control.name(&chain, &talk, self.clock.now()).await else {
                continue;
            };
            let named = Named { session, title, model, messages: state.messages_of(session) };
            let made_of = said.iter().map(|stored| stored.seq).collect();
            let outcome = self.request(scope, self.clock.now(), &Request::Name(named, made_of)).await?;
            done.named += usize::from(outcome.reply.is_none());
        }
        Ok(done)
    }

    /// Reads the first and the newest messages of a session.
    async fn begins_and_ends(&self, state: &State, session: Number) -> Result<Vec<StoredMessage>, Error> {
        let mut said = self.first_words(state, session).await?.unwrap_or_default();
        let last = said.last().map(|stored| stored.seq);
        let newest = self.messages(state, session, NEWEST_MAX).await?;
        said.extend(newest.into_iter().filter(|stored| Some(stored.seq) > last));
        // A summary that was carried over says what another session said.
        said.retain(|stored| stored.message.as_ref().is_some_and(|message| message.carried_from.is_none()));
        Ok(said)
    }

    /// Finds the title of a session, and who gave it.
    pub(crate) async fn title(
        &self,
        state: &State,
        number: Number,
    ) -> Result<Option<(String, TitledBy)>, Error> {
        let Some(session) = state.sessions.get(&number) else { return Ok(None) };
        if let Some(title) = &session.title {
            return Ok(Some((title.as_str().to_owned(), TitledBy::Person)));
        }
        if let Some(name) = session.upkeep.name
            && let Some(record) = self.store.get(&state.scope, name.entry).await?
            && let Ok(Body::Named(named)) = record.body()
        {
            return Ok(Some((named.title.as_str().to_owned(), TitledBy::Model)));
        }
        let Some(first) = self.first_words(state, number).await? else { return Ok(None) };
        let said: Vec<_> = first.iter().map(|stored| (speaker(stored.role), stored.text.as_str())).collect();
        let title = summary::title(&said);
        let title = title.map(|title| match title.char_indices().nth(PREVIEW_CHARS_MAX) {
            Some((end, _)) => format!("{}…", title.get(..end).unwrap_or_default().trim_end()),
            None => title,
        });
        Ok(title.map(|title| (title, TitledBy::Words)))
    }

    /// Reads the first messages of a session; nothing if they cannot be read.
    pub(crate) async fn first_words(
        &self,
        state: &State,
        number: Number,
    ) -> Result<Option<Vec<StoredMessage>>, Error> {
        let take = Take::Oldest(TITLE_MESSAGES_MAX);
        let reading = Reading::messages(state.view(number), take);
        match self.store.read(&state.scope, &reading).await {
            Ok(first) => Ok(Some(first.iter().filter_map(stored_message).collect())),
            // One session that cannot be read must not hide the others (L-10).
            Err(error @ segue_store::Error::Damaged { .. }) => {
                tracing::warn!(session = %state.key(number), %error, "the first words of a session cannot be read");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
