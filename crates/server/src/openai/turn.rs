//! The turn behind a request of an OpenAI-compatible client: what of it is new, what is decided, and what the model is
//! to be given.

use super::history::Known;
use super::said::Said;
use crate::app::App;
use crate::auth::Caller;
use crate::own::messages;
use crate::problem::Problem;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use segue_core::decision::Action;
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId, Role};
use segue_core::scope;
use segue_core::session::{Key, Number};
use segue_core::state::State;
use segue_engine::commands::{self, Parsed};
use segue_engine::config::{History, Notices};
use segue_engine::outcome::Delivery;
use segue_engine::{Inbound, Outcome, Pick, Request, Target};
use serde_json::Value;
use std::sync::Arc;

/// What stands in a header as it is; all else is percent-encoded.
const HEADER: &AsciiSet = &CONTROLS.add(b'%').add(b'"');

/// What the client says about its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sends {
    /// It says that it sends only what is new.
    OnlyNew,
    /// It is seen from what it sends.
    Unsaid,
}

/// What is answered in the headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    session: String,
    action: &'static str,
    notice: Option<String>,
}

impl Marks {
    fn of(outcome: &Outcome) -> Self {
        let (session, notice) = (outcome.session_key().to_string(), outcome.notice.clone());
        Self { session, action: outcome.action.name(), notice }
    }

    /// Writes the headers of an answer.
    pub(crate) fn write(&self, response: &mut Response, notices: Notices) {
        let put = |response: &mut Response, name: &'static str, text: &str| {
            let text = utf8_percent_encode(text, HEADER).to_string();
            if let Ok(value) = HeaderValue::from_str(&text) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        };
        match self.session.bytes().all(|byte| byte.is_ascii_graphic()) {
            // A key that holds escapes of its own stays as it is.
            true => {
                if let Ok(value) = HeaderValue::from_str(&self.session) {
                    response.headers_mut().insert("x-segue-session", value);
                }
            }
            false => put(response, "x-segue-session", &self.session),
        }
        put(response, "x-segue-action", self.action);
        if let Some(notice) = self.notice.as_deref().filter(|_| notices != Notices::None) {
            put(response, "x-segue-notice", notice);
        }
    }

    fn prefix(&self, notices: Notices) -> Option<String> {
        let notice = self.notice.as_deref().filter(|_| notices == Notices::Prefix)?;
        Some(format!("{notice}\n\n"))
    }
}

/// A turn that is decided on.
pub(crate) struct Turn {
    /// The scope.
    pub(crate) scope: scope::Key,
    /// The session that the reply belongs to.
    pub(crate) session: Number,
    /// What is answered in the headers.
    pub(crate) marks: Marks,
    /// The messages that the request added to the log.
    pub(crate) inputs: Vec<Seq>,
    /// Who answers.
    pub(crate) next: Next,
}

impl Turn {
    /// Returns what stands before the reply. Where the model is given what the client sent, the header alone says it.
    pub(crate) fn prefix(&self, notices: Notices) -> Option<String> {
        match self.next {
            Next::Managed(_) => self.marks.prefix(notices),
            Next::AsSent | Next::Answer(_) => None,
        }
    }
}

/// Who answers.
pub(crate) enum Next {
    /// Segue itself, or the reply of the first delivery.
    Answer(Box<Message>),
    /// The model, given what the client sent.
    AsSent,
    /// The model, given these messages of a chat.
    Managed(Vec<Value>),
}

/// Begins a turn: takes over what is new, decides, and assembles the context.
pub(crate) async fn begin(
    app: &App,
    caller: &Caller,
    scope: scope::Key,
    said: Vec<Said>,
    sends: Sends,
    message_id: Option<String>,
) -> Result<Turn, Problem> {
    app.admit_scope(caller, &Target::Scope(scope.clone())).await?;
    check(app, &said)?;
    // Two requests of one client must not take the same message over twice.
    let waits = app.scope_turns.of(scope.as_str());
    let _turn = waits.lock().await;
    let (system, said): (Vec<Said>, Vec<Said>) = said.into_iter().partition(|said| said.role == Role::System);
    let is_new = sends == Sends::OnlyNew || is_only_new(&said);
    let turn = Beginning { app, scope, message_id, inputs: Vec::new() };
    match said.last() {
        None => Err(Problem::wrong("there is no message of a person, a model or a tool in the request")),
        Some(last) if is_command(last) => {
            let last = last.clone();
            turn.decide(&system, &last).await
        }
        Some(_) if is_new => turn.only_new(&system, &said).await,
        Some(_) if app.serve().context == History::Managed => turn.managed(&system, &said).await,
        Some(_) => turn.take_over(&said).await,
    }
}

fn check(app: &App, said: &[Said]) -> Result<(), Problem> {
    let bytes_max = app.engine.config().limits.message_bytes_max;
    let longest = said.iter().filter(|said| said.role != Role::System).map(|said| said.message.bytes()).max();
    match longest.unwrap_or(0) > bytes_max {
        true => Err(Problem::too_large(format!("a message has at most {bytes_max} bytes"))
            .hint("limits.message_bytes_max of the configuration is the bound")),
        false => Ok(()),
    }
}

/// A client that sends one message of a person, or only results of tools, sends only what is new.
fn is_only_new(said: &[Said]) -> bool {
    let tools = said.iter().filter(|said| said.role == Role::Tool).count();
    match said {
        [one] => one.role != Role::Assistant,
        said => tools > 0 && tools == said.len(),
    }
}

fn is_command(said: &Said) -> bool {
    said.role == Role::User
        && said.content.is_none()
        && matches!(commands::parse(&said.message.text), Parsed::Slash(_) | Parsed::Usage(_))
}

struct Beginning<'a> {
    app: &'a App,
    scope: scope::Key,
    message_id: Option<String>,
    inputs: Vec<Seq>,
}

impl Beginning<'_> {
    /// The client sends only what is new: it is decided on, and the context is ours.
    async fn only_new(mut self, system: &[Said], said: &[Said]) -> Result<Turn, Problem> {
        let last_user = said.iter().rposition(|said| said.role == Role::User);
        for (at, one) in said.iter().enumerate() {
            if Some(at) != last_user {
                self.keep(one).await?;
            }
        }
        match last_user.and_then(|at| said.get(at)) {
            Some(last) => self.decide(system, last).await,
            None => {
                let state = self.state().await?;
                let session = latest(&state)?;
                let marks = self.marks(session, Action::Continue, None);
                let context = self.context(system, None).await?;
                Ok(self.turn(session, marks, Next::Managed(context)))
            }
        }
    }

    /// The client sends its whole history, and the configuration says that the context is ours all the same.
    async fn managed(mut self, system: &[Said], said: &[Said]) -> Result<Turn, Problem> {
        let state = self.app.engine.store().load(&self.scope).await?;
        let mut new: Vec<&Said> = said.iter().collect();
        if let Some(state) = state
            && let Some(known) = self.app.recognise_anywhere(&state, said).await?
        {
            if known.goes_on {
                self.fork(&known).await?;
            }
            new = known.new.iter().filter_map(|at| said.get(*at)).collect();
        }
        match new.iter().rposition(|said| said.role == Role::User) {
            Some(at) => {
                let last = new.remove(at);
                for one in new {
                    self.keep(one).await?;
                }
                self.decide(system, last).await
            }
            None => {
                for one in new {
                    self.keep(one).await?;
                }
                let session = latest(&*self.state().await?)?;
                let marks = self.marks(session, Action::Continue, None);
                let context = self.context(system, None).await?;
                Ok(self.turn(session, marks, Next::Managed(context)))
            }
        }
    }

    /// The client sends its whole history, and the model is given that. A thread of the client is a session.
    async fn take_over(mut self, said: &[Said]) -> Result<Turn, Problem> {
        let state = self.app.engine.store().load(&self.scope).await?;
        let known = match &state {
            Some(state) => self.app.recognise(state, said).await?,
            None => None,
        };
        let mut moved = None;
        let new: Vec<&Said> = match &known {
            Some(known) => {
                if known.goes_on {
                    moved = Some(self.fork(known).await?);
                } else if state.as_ref().and_then(|state| state.latest()) != Some(known.session) {
                    let resume = Request::Resume(Pick::Numbered(known.session));
                    moved = Some(self.app.request(&self.scope, &resume).await?);
                }
                known.new.iter().filter_map(|at| said.get(*at)).collect()
            }
            None => {
                if state.as_ref().is_some_and(|state| state.latest().is_some()) {
                    moved = Some(self.app.request(&self.scope, &Request::New(None)).await?);
                }
                said.iter().collect()
            }
        };
        for one in new {
            self.keep(one).await?;
        }
        let session = latest(&*self.state().await?)?;
        let marks = match &moved {
            Some(outcome) => self.marks(session, outcome.action, outcome.notice.clone()),
            None => self.marks(session, if known.is_some() { Action::Continue } else { Action::New }, None),
        };
        Ok(self.turn(session, marks, Next::AsSent))
    }

    async fn fork(&self, known: &Known) -> Result<Outcome, Problem> {
        let fork = Request::Fork(Pick::Numbered(known.session), Some(known.last));
        self.app.request(&self.scope, &fork).await
    }

    /// Takes a message over as it is.
    async fn keep(&mut self, said: &Said) -> Result<(), Problem> {
        let message = &said.message;
        let says_nothing = message.text.trim().is_empty() && message.tool_calls.is_empty();
        if says_nothing && said.role != Role::Tool {
            return Ok(());
        }
        let outcome = self.app.request(&self.scope, &Request::Keep(said.role, message.clone())).await?;
        self.inputs.extend(outcome.seq);
        Ok(())
    }

    /// Decides where a message of the person belongs.
    async fn decide(mut self, system: &[Said], said: &Said) -> Result<Turn, Problem> {
        let message_id = self.message_id.clone().map(MessageId);
        let message = Message { message_id, ..said.message.clone() };
        let at = self.app.engine.now();
        let to = Target::Scope(self.scope.clone());
        let inbound = Inbound { at, to, role: Role::User, message, session: None };
        let outcome = self.app.receive(inbound, None).await?;
        self.inputs.extend(outcome.seq);
        let marks = Marks::of(&outcome);
        let session = outcome.session;
        if outcome.delivery == Delivery::Again
            && let Some(reply) = self.reply_to(session, outcome.seq).await?
        {
            return Ok(self.turn(session, marks, Next::Answer(Box::new(reply))));
        }
        if !outcome.wants_reply() {
            let text = outcome.say().unwrap_or_default();
            // What is said in the answer need not stand before it too.
            let marks = Marks { notice: None, ..marks };
            return Ok(self.turn(session, marks, Next::Answer(Box::new(Message::text(text)))));
        }
        let context = self.context(system, Some(said)).await?;
        Ok(self.turn(session, marks, Next::Managed(context)))
    }

    /// Finds the reply that a message got when it was first delivered.
    async fn reply_to(&self, session: Number, seq: Option<Seq>) -> Result<Option<Message>, Problem> {
        let Some(seq) = seq else { return Ok(None) };
        let state = self.state().await?;
        let stored = self.app.stored(&state, &state.view(session)).await?;
        let next = stored.into_iter().find(|told| told.seq > seq);
        Ok(next.filter(|told| told.role == Role::Assistant).and_then(|told| told.message))
    }

    /// Assembles the context: what the client's system says, then ours. A picture is shown, not its stand-in.
    async fn context(&self, system: &[Said], last: Option<&Said>) -> Result<Vec<Value>, Problem> {
        let context = self.app.context(&self.scope, None).await?;
        let mut all: Vec<Value> = system.iter().map(super::said::to_chat).collect();
        all.extend(messages(&context));
        if let Some(last) = last.filter(|last| last.content.is_some())
            && let Some(Value::Object(fields)) =
                all.iter_mut().rfind(|message| message.get("role").and_then(Value::as_str) == Some("user"))
            && let Some(content) = super::said::to_chat(last).get("content")
        {
            fields.insert("content".into(), content.clone());
        }
        Ok(all)
    }

    async fn state(&self) -> Result<Arc<State>, Problem> {
        self.app.state(&self.scope).await
    }

    fn marks(&self, session: Number, action: Action, notice: Option<String>) -> Marks {
        let session = Key::new(self.scope.clone(), session).to_string();
        Marks { session, action: action.name(), notice }
    }

    fn turn(self, session: Number, marks: Marks, next: Next) -> Turn {
        Turn { scope: self.scope, session, marks, inputs: self.inputs, next }
    }
}

fn latest(state: &State) -> Result<Number, Problem> {
    state.latest().ok_or_else(|| Problem::refused("nothing has been said in this scope yet"))
}
