//! The road of a message, and the only road: route, command, observe, decide, commit.

use crate::clock::{Clock, Ids, Stamps, kept};
use crate::commands::{self, Parsed, Slash};
use crate::config::Language::Auto;
use crate::config::{self, Config, UnknownCommand};
use crate::control::Control;
use crate::error::Error;
use crate::inbound::{Inbound, Target};
use crate::outcome::build::unmoved;
use crate::outcome::{Delivery, Outcome, Wants};
use crate::pins::Host;
use crate::recall::timeline::Timelines;
use crate::request::{HostCommand, Pick, Refused, Request};
use crate::route::user;
use crate::scope::{Registry, Watch};
use crate::turn::commit::Committed;
use crate::turn::effects::Purge;
use crate::turn::identity::older_identity;
use crate::words::{self, Language};
use segue_core::Timestamp;
use segue_core::decision::Action;
use segue_core::entry::{CommandBy, Spoken};
use segue_core::message::{Message, MessageId, ReplyEnd, Role};
use segue_core::policy::Policy;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::context::TokenCounter;
use segue_signals::judge::Embedder;
use segue_store::Store;
use std::sync::Arc;

/// How far back the language of a conversation is looked for.
const LANGUAGE_MESSAGES_MAX: usize = 10;

/// In how many of the last sessions it is looked for.
const LANGUAGE_SESSIONS_MAX: usize = 3;

/// The session engine: takes messages, decides, keeps them, answers.
///
/// ```
/// use segue_engine::{Engine, Inbound, config::Config};
/// use segue_store::memory::Memory;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let config = Config::load(vec![], &jiff::tz::TimeZone::UTC)?;
/// let engine = Engine::open(std::sync::Arc::new(Memory::default()), config).await?;
/// let me = "agent:main:cli:direct:me".parse()?;
/// let outcome = engine.receive(Inbound::user(me, "2026-03-01T10:00:00Z".parse()?, "/new")).await?;
/// assert_eq!(outcome.reply.as_deref(), Some("Started new session: agent:main:cli:direct:me"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) config: Config,
    pub(crate) embedder: Arc<Embedder>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) control: Arc<Control>,
    pub(crate) timelines: Arc<Timelines>,
    pub(crate) scopes: Arc<Registry>,
    pub(crate) watch: Watch,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) stamps: Stamps,
    pub(crate) host: Option<Arc<dyn Host>>,
}

/// A message that was checked and routed.
pub(crate) struct Admitted {
    pub(crate) turn: Turn,
    pub(crate) role: Role,
    pub(crate) message: Message,
    pub(crate) session: Option<Number>,
    pub(crate) older_id: Option<MessageId>,
}

/// What a turn goes by.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) scope: scope::Key,
    pub(crate) at: Timestamp,
    pub(crate) policy: Policy,
    pub(crate) language: Language,
    pub(crate) language_by: LanguageBy,
    pub(crate) window: u64,
    pub(crate) spoken: Option<Spoken>,
    pub(crate) purge: Purge,
}

/// What says in which language the person is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LanguageBy {
    /// The settings, or the message itself.
    Message,
    /// What was said before: the message is a command, or too short.
    Conversation,
}

impl Engine {
    /// Takes a message: routes it, does it if it is a command, else decides where it belongs and keeps it.
    ///
    /// When this returns, the message is durable. A second delivery of a message with the same id changes
    /// nothing and gets the same answer.
    pub async fn receive(&self, inbound: Inbound) -> Result<Outcome, Error> {
        let Admitted { mut turn, role, message, session, .. } = self.admitted(inbound).await?;
        if role != Role::User {
            let request = match session {
                Some(session) => Request::Reply(role, message, session),
                None => Request::Say(role, message),
            };
            return self.ask(&turn, &request).await;
        }
        let parsed = commands::parse(&message.text);
        if parsed != Parsed::Message {
            turn = self.in_spoken_language(turn).await?;
        }
        match parsed {
            Parsed::Message => self.ask(&turn, &Request::Say(role, message)).await,
            Parsed::Unknown if self.config.commands.unknown == UnknownCommand::Pass => {
                self.ask(&turn, &Request::Say(role, message)).await
            }
            Parsed::Unknown => {
                let reply = words::unknown_command(turn.language, &message.text);
                self.answer(&turn, Action::Command, reply).await
            }
            Parsed::Usage(usage) => {
                let reply = words::usage(turn.language, usage);
                self.answer(&turn, Action::Refused, reply).await
            }
            Parsed::Slash(slash) => {
                let (scope, language) = (turn.scope.clone(), turn.language);
                // A command that fails is a sentence for the user, never the end of the conversation (P-10).
                self.command(turn, slash, message).await.or_else(|error| {
                    tracing::error!(%scope, %error, "a command failed");
                    let reply = Some(words::trouble(language, error.trouble()));
                    let delivery = match error {
                        Error::Store(_) | Error::Busy { .. } => Delivery::Failed,
                        _ => Delivery::First,
                    };
                    Ok(Outcome {
                        reply,
                        delivery,
                        ..unmoved(&State::empty(scope), language, Action::Refused)
                    })
                })
            }
        }
    }

    /// Checks a message, gives it its identity and finds its scope.
    pub(crate) fn admit(&self, inbound: Inbound) -> Result<Admitted, Error> {
        let Inbound { at, to, role, message, session } = inbound;
        self.check(role, &message)?;
        let older_id = older_identity(&self.config.routing, &to, &message);
        let (scope, mut message) = self.addressed(&to, role, message)?;
        let user = match &to {
            Target::Scope(_) => None,
            Target::Address(from) => user(&self.config.routing, from),
        };
        let turn = self.turn(scope, user.as_deref(), at, &message.text);
        // A stamp that is not believed is kept as it was given.
        message.given_at = (turn.at < kept(at)).then(|| kept(at));
        Ok(Admitted { turn, role, message, session, older_id })
    }

    /// Does what a program or an operator asks of a scope.
    pub async fn request(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        request: &Request,
    ) -> Result<Outcome, Error> {
        self.request_as(scope, at, request, None).await
    }

    /// The same, once: a second request with the same id changes nothing and gets the same answer.
    pub async fn request_once(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        request: &Request,
        by: HostCommand,
    ) -> Result<Outcome, Error> {
        self.request_as(scope, at, request, Some(by)).await
    }

    pub(crate) async fn request_as(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        request: &Request,
        by: Option<HostCommand>,
    ) -> Result<Outcome, Error> {
        let mut turn = self.turn(scope.clone(), None, at, "");
        // A message carries its id itself.
        turn.spoken = by.filter(|_| request.message().is_none()).map(HostCommand::spoken);
        if let Request::Task(command) = request {
            let prepared = self.prepared(scope, at, command).await?;
            return self.ask(&turn, &Request::Task(prepared)).await;
        }
        self.ask(&turn, request).await
    }

    /// Loads the state of a scope.
    pub async fn state(&self, scope: &scope::Key) -> Result<Arc<State>, Error> {
        self.find_state(scope).await?.ok_or_else(|| Error::NoScope { scope: scope.clone() })
    }

    /// Loads the state of a scope, if there is one: from memory, if the store says that it still holds. It waits for the
    /// scope's turn, so it must not be called in one.
    pub(crate) async fn find_state(&self, scope: &scope::Key) -> Result<Option<Arc<State>>, Error> {
        self.scopes.enter(scope).await.checked(self.store.as_ref()).await
    }

    pub(crate) fn turn(&self, scope: scope::Key, user: Option<&str>, at: Timestamp, text: &str) -> Turn {
        let policy = self.config.policy_for(&scope, user);
        let told_by = match self.config.language_for(&scope, user) {
            Auto => Language::told_by(text),
            config::Language::En => Some(Language::En),
            config::Language::Zh => Some(Language::Zh),
        };
        let language = told_by.unwrap_or_default();
        let language_by = match told_by {
            Some(_) => LanguageBy::Message,
            None => LanguageBy::Conversation,
        };
        let window = self.config.context_window_for(&scope, user);
        let at = kept(self.stamps.believed(at, self.clock.as_ref()));
        Turn { scope, at, policy, language, language_by, window, spoken: None, purge: Purge::AtOnce }
    }

    pub(crate) fn check(&self, role: Role, message: &Message) -> Result<(), Error> {
        let limits = &self.config.limits;
        let bytes = message.message_id.as_ref().map_or(0, |id| id.0.len());
        if bytes > limits.message_id_bytes_max {
            return Err(Error::IdTooLong { bytes, max: limits.message_id_bytes_max });
        }
        let (bytes, max) = (message.bytes(), limits.message_bytes_max);
        if bytes > max {
            return Err(Error::TooLong { bytes, max });
        }
        // A tool may answer with nothing, and an agent may call a tool without a word.
        let may_be_empty = match role {
            Role::Tool => true,
            Role::Assistant => !message.tool_calls.is_empty() || message.end == ReplyEnd::Failed,
            Role::User | Role::System => false,
        };
        if message.text.trim().is_empty() && !may_be_empty {
            return Err(Error::Empty);
        }
        Ok(())
    }

    /// Finds the language of a conversation, where the message does not tell it: a bare command, "ok".
    async fn in_spoken_language(&self, turn: Turn) -> Result<Turn, Error> {
        if turn.language_by == LanguageBy::Message {
            return Ok(turn);
        }
        let Some(state) = self.find_state(&turn.scope).await? else { return Ok(turn) };
        // A session that just began has said nothing yet: the one before it has.
        let mut sessions: Vec<Number> = state.list().map(|(number, _)| number).collect();
        sessions.sort_by_key(|number| std::cmp::Reverse((state.updated_at(*number), *number)));
        for session in sessions.into_iter().take(LANGUAGE_SESSIONS_MAX) {
            let lately = self.messages(&state, session, LANGUAGE_MESSAGES_MAX).await?;
            let said = lately.iter().rev().filter(|told| told.role == Role::User);
            if let Some(language) = said.filter_map(|told| Language::told_by(&told.text)).next() {
                return Ok(Turn { language, language_by: LanguageBy::Message, ..turn });
            }
        }
        Ok(turn)
    }

    /// Tells in which language people are spoken to in a scope.
    pub async fn language(&self, scope: &scope::Key) -> Result<Language, Error> {
        let turn = self.turn(scope.clone(), None, self.now(), "");
        Ok(self.in_spoken_language(turn).await?.language)
    }

    /// Does a slash command.
    async fn command(&self, mut turn: Turn, slash: Slash, message: Message) -> Result<Outcome, Error> {
        let Message { text, message_id, sender, author, .. } = message;
        let request = match slash {
            // What stands behind `/new` is the first message of the new session, and carries its id.
            Slash::New(Some(first)) => {
                let first = Message { text: first, message_id, sender, author, ..Message::default() };
                Request::New(Some(first))
            }
            other => match commands::request(&other) {
                Some(request) => {
                    let by = CommandBy::Person;
                    turn.spoken = Some(Spoken { text, message_id, sender, author, by });
                    request
                }
                None => {
                    let reply = self.read_only(&turn, &other).await?;
                    return self.answer(&turn, Action::Command, reply).await;
                }
            },
        };
        if let Request::Delete(Pick::Numbered(session)) = request
            && !self.may_delete(&turn.scope, session, turn.spoken.as_ref()).await?
        {
            let state = self.find_state(&turn.scope).await?;
            let state = state.unwrap_or_else(|| Arc::new(State::empty(turn.scope.clone())));
            let id = turn.spoken.as_ref().and_then(|spoken| spoken.message_id.as_ref());
            let refused = self.refuse(&turn.scope, id, Refused::NotModerator, state).await?;
            return self.finish_outcome(&turn, &request, refused).await;
        }
        let held = match request {
            Request::Delete(Pick::Numbered(number)) => self.held(&turn, number).await?,
            _ => None,
        };
        let mut outcome = self.ask(&turn, &request).await?;
        outcome.reply = outcome.reply.or_else(|| outcome.notice.clone());
        if let (Some(reply), Some(held)) = (&mut outcome.reply, held.filter(|_| !outcome.dropped.is_empty()))
        {
            reply.insert_str(0, &format!("{held} "));
        }
        Ok(outcome)
    }

    /// Answers without changing anything.
    async fn answer(&self, turn: &Turn, action: Action, reply: String) -> Result<Outcome, Error> {
        let state = self.find_state(&turn.scope).await?;
        let state = state.unwrap_or_else(|| Arc::new(State::empty(turn.scope.clone())));
        Ok(Outcome { reply: Some(reply), ..unmoved(&state, turn.language, action) })
    }

    /// Decides and commits a request, and tells what came of it.
    pub(crate) async fn ask(&self, turn: &Turn, request: &Request) -> Result<Outcome, Error> {
        let committed = self.commit(turn, request).await?;
        if let Committed::Again(seq) = committed
            && let Some((turn, request)) = self.under_own_id(turn, request, seq).await?
        {
            let committed = self.commit(&turn, &request).await?;
            return self.finish_outcome(&turn, &request, committed).await;
        }
        self.finish_outcome(turn, request, committed).await
    }

    /// Tells what came of a request.
    async fn finish_outcome(
        &self,
        turn: &Turn,
        request: &Request,
        committed: Committed,
    ) -> Result<Outcome, Error> {
        match committed {
            Committed::Doubtful(_) => Err(Error::Busy { scope: turn.scope.clone() }),
            Committed::Done(decided) => {
                // Most turns say nothing to the person, and need no language.
                let spoken = match decided.notice() {
                    None => turn.clone(),
                    Some(_) => self.in_spoken_language(turn.clone()).await?,
                };
                let mut outcome = self.with_task_words(&spoken, self.outcome_of(&spoken, *decided)).await?;
                outcome.wants = self.wanted(request, &outcome).await;
                Ok(outcome)
            }
            Committed::Again(seq) => {
                let mut outcome = self.repeated_outcome(turn, seq).await?;
                // Who was cut off before the answer was written gets it now.
                outcome.wants = match self.is_answered(&outcome).await {
                    true => Wants::Nothing,
                    false => self.wanted(request, &outcome).await,
                };
                Ok(outcome)
            }
            Committed::Refused(refused, state) => {
                let turn = &self.in_spoken_language(turn.clone()).await?;
                let reply = commands::refused(turn.language, &state, Some(request), &refused);
                self.remember_refusal(turn, &reply, &state).await?;
                Ok(Outcome { reply: Some(reply), ..unmoved(&state, turn.language, Action::Refused) })
            }
        }
    }

    /// Writes down that a command was refused, if the channel may deliver it again: what was refused once
    /// must not be done then (X-7). Where nothing was ever said there is no place for it.
    async fn remember_refusal(&self, turn: &Turn, reply: &str, state: &State) -> Result<(), Error> {
        let has_id = turn.spoken.as_ref().is_some_and(|spoken| spoken.message_id.is_some());
        if has_id && state.open.is_some() {
            self.commit(turn, &Request::Refuse(reply.to_owned())).await?;
        }
        Ok(())
    }
}
