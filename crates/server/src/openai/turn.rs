//! The turn behind a request of an OpenAI-compatible client: what of it is new, what is decided, and what the model is
//! to be given.

use super::history::Known;
use super::history_commands::{Conversation, is_command};
use super::marks::Marks;
use super::request_message::{RequestMessage, to_items};
use super::scope::Place;
use super::sends::Sends;
use crate::app::App;
use crate::auth::Caller;
use crate::own::messages;
use crate::problem::Problem;
use crate::traces::ModelCall;
use segue_core::decision::Action;
use segue_core::entry::{Body, CommandBy, Seq};
use segue_core::message::{Message, MessageId, Role};
use segue_core::scope;
use segue_core::session::{Key, Number};
use segue_core::state::State;
use segue_engine::config::{History, Notices};
use segue_engine::outcome::Delivery;
use segue_engine::{HostCommand, Inbound, Outcome, Pick, Request, Target};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A turn that is decided on.
pub(crate) struct Turn {
    /// The scope.
    pub(crate) scope: scope::Key,
    /// The session that the reply belongs to.
    pub(crate) session: Number,
    /// What is answered in the headers.
    pub(crate) marks: Marks,
    /// Where the log ended when it began, or behind what it has dropped itself.
    pub(crate) since: Seq,
    /// The messages of the request that are in the log, by their places in the request.
    pub(crate) held: BTreeMap<usize, Seq>,
    /// What the request said, for who asks for it later.
    pub(crate) sent: Vec<Sent>,
    /// Who answers.
    pub(crate) next: Next,
    /// The call of the model, for traces.
    pub(crate) call: ModelCall,
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

/// A part of what a request said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sent {
    /// A message of the log.
    Entry(Seq),
    /// Items that are not in the log: the developer's, or a command.
    Apart(Vec<Value>),
}

impl Turn {
    /// Tells where everything is that the input of a response has said. What is not in the log is as it was sent, with ids.
    pub(crate) fn sent_items(&self, input: &Value, said: &[RequestMessage], response: &str) -> Vec<Sent> {
        let items = input.as_array().map(Vec::as_slice).unwrap_or_default();
        let ends = said.iter().skip(1).map(|next| next.place).chain([items.len()]);
        let named = |at: usize, item: &Value| {
            let mut item = item.clone();
            if let Value::Object(fields) = &mut item {
                fields.entry("id").or_insert_with(|| format!("msg_{response}_{at}").into());
                fields.entry("type").or_insert_with(|| "message".into());
            }
            item
        };
        let part = |(one, end): (&RequestMessage, usize)| match self.held.get(&one.place) {
            Some(seq) => Sent::Entry(*seq),
            None if items.is_empty() => Sent::Apart(to_items(one.role, &one.message, response)),
            None => {
                let range = items.iter().enumerate().take(end).skip(one.place);
                Sent::Apart(range.map(|(at, item)| named(at, item)).collect())
            }
        };
        said.iter().zip(ends).map(part).collect()
    }

    /// Takes the call of the model that answers, and says which conversation it belongs to.
    pub(crate) async fn called(&mut self, app: &App, call: ModelCall) {
        if call.is_traced()
            && let Ok(state) = app.state(&self.scope).await
            && let Some(session) = state.live(self.session)
        {
            call.belongs_to(session.id.to_string());
        }
        self.call = call;
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

/// What a request asks of a scope.
pub(crate) struct Asked {
    /// Where it belongs, and who speaks.
    pub(crate) place: Place,
    /// What the request says.
    pub(crate) said: Vec<RequestMessage>,
    /// What the client says about its history.
    pub(crate) sends: Sends,
    /// The id by which a second delivery is known.
    pub(crate) message_id: Option<String>,
    /// The response that it goes on from: its session, and its reply.
    pub(crate) previous: Option<(Number, Seq)>,
}

/// Begins a turn: takes over what is new, decides, and assembles the context.
pub(crate) async fn begin(app: &App, caller: &Caller, asked: Asked) -> Result<Turn, Problem> {
    let Asked { place: Place { to, speaker, .. }, mut said, sends, message_id, previous } = asked;
    let is_new_scope = app.admit_scope(caller, &to).await?;
    check_size(app, said.iter().filter(|said| said.role != Role::System).map(|said| &said.message))?;
    // Who speaks now said the last message. Who said the others is not known.
    if let (Some(speaker), Some(last)) = (speaker, said.iter_mut().rfind(|said| said.role == Role::User)) {
        last.message.sender = Some(speaker);
    }
    // Two requests of one client must not take the same message over twice.
    let scope = app.scope_of(&to);
    let waits = app.scope_turns.of(scope.as_str());
    let _turn = waits.lock().await;
    let (system, said): (Vec<RequestMessage>, Vec<RequestMessage>) =
        said.into_iter().partition(|said| said.role == Role::System);
    let since = app.head_of(&scope).await?;
    let mut turn = Beginning { app, to, scope, since, message_id, held: BTreeMap::new(), moved: None };
    let is_new = app.is_new(&turn.scope, sends, &said).await?;
    let known = turn.known(&said).await?;
    if let Some((session, seq)) = previous.filter(|_| known.is_none()) {
        turn.go_back(session, seq).await?;
    }
    let managed = app.serve().context == History::Managed;
    let turn = match said.last() {
        None => Err(Problem::wrong("there is no message of a person, a model or a tool in the request")),
        Some(last) if is_command(last) => turn.decide(&system, last).await,
        Some(_) if is_new => turn.only_new(&system, &said).await,
        Some(last) => match (known, managed) {
            (Some(seq), false) => turn.again(seq).await,
            (Some(_), true) if last.role == Role::User => turn.decide(&system, last).await,
            (_, true) => turn.managed(&system, said).await,
            (None, false) => turn.take_over(said).await,
        },
    }?;
    app.begun_scope(caller, is_new_scope).await;
    Ok(turn)
}

/// Refuses messages that are longer than the configuration allows.
pub(crate) fn check_size<'a>(app: &App, messages: impl Iterator<Item = &'a Message>) -> Result<(), Problem> {
    let bytes_max = app.engine.config().limits.message_bytes_max;
    match messages.map(Message::bytes).max().unwrap_or(0) > bytes_max {
        true => Err(Problem::too_large(format!("a message has at most {bytes_max} bytes"))
            .hint("limits.message_bytes_max of the configuration is the bound")),
        false => Ok(()),
    }
}

struct Beginning<'a> {
    app: &'a App,
    to: Target,
    scope: scope::Key,
    since: Seq,
    message_id: Option<String>,
    held: BTreeMap<usize, Seq>,
    /// What was done before the message is decided on: a fork, say.
    moved: Option<Outcome>,
}

impl Beginning<'_> {
    /// Finds the entry of a request that was taken before under the same id, if it says the same.
    async fn known(&self, said: &[RequestMessage]) -> Result<Option<Seq>, Problem> {
        let Some(last) = said.last() else { return Ok(None) };
        let Some(id) = self.message(last, None)?.message_id else { return Ok(None) };
        let store = self.app.engine.store();
        let Some(seq) = store.seen(&self.scope, &id).await? else { return Ok(None) };
        let is_same = match store.get(&self.scope, seq).await?.map(|record| record.body()) {
            Some(Ok(Body::Message(role, message))) => {
                role == last.role
                    && message.text == last.message.text
                    && message.tool_call_id == last.message.tool_call_id
            }
            // A fork that the request made.
            Some(Ok(Body::Command(spoken))) => spoken.by == CommandBy::Host,
            _ => false,
        };
        Ok(is_same.then_some(seq))
    }

    /// Returns the id of the request's last message, or of one before it.
    fn id(&self, nth: Option<usize>) -> Option<MessageId> {
        let id = self.message_id.as_ref()?;
        Some(MessageId(nth.map_or_else(|| id.clone(), |nth| format!("{id}:{nth}"))))
    }

    /// Returns a message as it is kept: with the identity and the author that the address tells.
    fn message(&self, said: &RequestMessage, nth: Option<usize>) -> Result<Message, Problem> {
        let message = Message { message_id: self.id(nth), ..said.message.clone() };
        Ok(self.app.engine.addressed(&self.to, said.role, message)?.1)
    }

    /// Goes back to where a response was made: a session that has gone on since is forked there.
    async fn go_back(&mut self, session: Number, seq: Seq) -> Result<(), Problem> {
        let state = self.state().await?;
        if state.live(session).is_none() {
            return Ok(());
        }
        let stored = self.app.stored(&state, &state.view(session)).await?;
        let goes_on = stored.last().is_some_and(|last| last.seq > seq);
        let pick = Pick::Numbered(session);
        let request = match goes_on {
            true if stored.iter().any(|told| told.seq == seq) => Request::Fork(pick, Some(seq)),
            false if state.latest() != Some(session) => Request::Resume(pick),
            true | false => return Ok(()),
        };
        let moved = self.app.request(&self.scope, &request).await?;
        self.note_move(moved).await;
        Ok(())
    }

    /// The same request once more: it gets the reply of then, or another try if there is none.
    async fn again(self, seq: Seq) -> Result<Turn, Problem> {
        let state = self.state().await?;
        let decided = self.app.decision(&self.scope, seq).await?;
        let holds = |number: &Number| state.view(*number).iter().any(|s| s.first <= seq && seq <= s.last);
        let holder = || state.all().map(|(number, _)| number).filter(holds).min();
        let session = decided.as_ref().map(|decision| decision.session).or_else(holder);
        let session = session.map_or_else(|| latest(&state), Ok)?;
        let action = decided.map_or(Action::Continue, |decision| decision.action);
        let marks = self.marks(session, action, None);
        let next = match self.reply_to(session, Some(seq)).await? {
            Some(reply) => Next::Answer(Box::new(reply)),
            None => Next::AsSent,
        };
        Ok(self.turn(session, marks, next))
    }

    /// The client sends only what is new: it is decided on, and the context is ours.
    async fn only_new(mut self, system: &[RequestMessage], said: &[RequestMessage]) -> Result<Turn, Problem> {
        let last_user = said.iter().rposition(|said| said.role == Role::User);
        let mut last = None;
        for (at, one) in said.iter().enumerate().filter(|(at, _)| Some(*at) != last_user) {
            last = self.keep(one, Some(at)).await?.or(last);
        }
        if let Some(user) = last_user.and_then(|at| said.get(at)) {
            return self.decide(system, user).await;
        }
        let session = latest(&*self.state().await?)?;
        let marks = self.moved_marks(session);
        if let Some(again) = last.filter(|outcome| outcome.delivery == Delivery::Again)
            && let Some(reply) = self.reply_to(again.session, again.seq).await?
        {
            return Ok(self.turn(again.session, marks, Next::Answer(Box::new(reply))));
        }
        let context = self.context(system, None).await?;
        Ok(self.turn(session, marks, Next::Managed(context)))
    }

    /// The client sends its whole history, and the configuration says that the context is ours all the same.
    async fn managed(
        mut self,
        system: &[RequestMessage],
        said: Vec<RequestMessage>,
    ) -> Result<Turn, Problem> {
        let state = self.app.engine.store().load(&self.scope).await?;
        let Conversation { said, .. } = Conversation::of(said);
        let mut new: Vec<(usize, &RequestMessage)> = said.iter().enumerate().collect();
        if let Some(state) = state
            && let Some(known) = self.app.recognise_anywhere(&state, &said).await?
        {
            if known.goes_on {
                let forked = self.fork(&known, None).await?;
                self.note_move(forked).await;
            }
            new.retain(|(at, _)| known.new.contains(at));
            self.hold(&said, &known);
        }
        let last_user = new.iter().rposition(|(_, said)| said.role == Role::User);
        let last = last_user.map(|at| new.remove(at).1);
        for (at, one) in new {
            self.keep(one, Some(at)).await?;
        }
        match last {
            Some(last) => self.decide(system, last).await,
            None => {
                let session = latest(&*self.state().await?)?;
                let marks = self.moved_marks(session);
                let context = self.context(system, None).await?;
                Ok(self.turn(session, marks, Next::Managed(context)))
            }
        }
    }

    /// The client sends its whole history, and the model is given that. A thread of the client is a session.
    async fn take_over(mut self, said: Vec<RequestMessage>) -> Result<Turn, Problem> {
        let state = self.app.engine.store().load(&self.scope).await?;
        let conversation = Conversation::of(said);
        let known = match &state {
            Some(state) => match self.app.recognise_behind_command(state, &conversation).await? {
                Some(known) => Some(known),
                None => self.app.recognise(state, &conversation.said).await?,
            },
            None => None,
        };
        let latest_is = |session| state.as_ref().and_then(|state| state.latest()) == Some(session);
        let mut new: Vec<(usize, &RequestMessage)> = conversation.said.iter().enumerate().collect();
        match &known {
            Some(known) => {
                new.retain(|(at, _)| known.new.contains(at));
                self.hold(&conversation.said, known);
                if known.goes_on {
                    // Where nothing is added, the fork alone tells that the request was done.
                    let last = conversation.said.last().filter(|_| new.is_empty());
                    let last = last.map(|last| self.message(last, None)).transpose()?;
                    let id = last.and_then(|last| last.message_id);
                    let forked = self.fork(known, id).await?;
                    self.note_move(forked).await;
                } else if !latest_is(known.session) {
                    let resume = Request::Resume(Pick::Numbered(known.session));
                    let resumed = self.app.request(&self.scope, &resume).await?;
                    self.note_move(resumed).await;
                }
            }
            None if state.as_ref().is_some_and(|state| state.latest().is_some()) => {
                let new = self.app.request(&self.scope, &Request::New(None)).await?;
                self.note_move(new).await;
            }
            None => {}
        }
        let last = new.last().map(|(at, _)| *at);
        for (at, one) in new {
            self.keep(one, Some(at).filter(|_| Some(at) != last)).await?;
        }
        let session = latest(&*self.state().await?)?;
        let marks = match known {
            None if self.moved.is_none() => self.marks(session, Action::New, None),
            _ => self.moved_marks(session),
        };
        Ok(self.turn(session, marks, Next::AsSent))
    }

    /// Forks a session behind what is known of it. Where nothing is, that is a new session.
    async fn fork(&self, known: &Known, id: Option<MessageId>) -> Result<Outcome, Problem> {
        let pick = Pick::Numbered(known.session);
        let request = known.last.map_or(Request::New(None), |last| Request::Fork(pick, Some(last)));
        let by = id.map(|id| HostCommand { text: "fork".to_owned(), id });
        self.app.request_as(&self.scope, &request, by).await
    }

    /// Notes what was done before what is new was taken over.
    async fn note_move(&mut self, moved: Outcome) {
        self.since = self.app.behind_own(&self.scope, self.since, &moved).await;
        self.moved = Some(moved);
    }

    /// Notes where the log holds what is known of a history.
    fn hold(&mut self, said: &[RequestMessage], known: &Known) {
        let places = known.held.iter().filter_map(|(at, seq)| Some((said.get(*at)?.place, *seq)));
        self.held.extend(places);
    }

    /// Takes a message over as it is. It is known by the request's id, or by that and its place.
    async fn keep(&mut self, said: &RequestMessage, nth: Option<usize>) -> Result<Option<Outcome>, Problem> {
        let message = self.message(said, nth)?;
        let says_nothing = message.text.trim().is_empty() && message.tool_calls.is_empty();
        if says_nothing && said.role != Role::Tool {
            return Ok(None);
        }
        let outcome = self.app.request(&self.scope, &Request::Keep(said.role, message)).await?;
        self.held.extend(outcome.seq.map(|seq| (said.place, seq)));
        Ok(Some(outcome))
    }

    /// Decides where a message of the person belongs.
    async fn decide(mut self, system: &[RequestMessage], said: &RequestMessage) -> Result<Turn, Problem> {
        let message = Message { message_id: self.id(None), ..said.message.clone() };
        let at = self.app.engine.now();
        let to = self.to.clone();
        let inbound = Inbound { at, to, role: Role::User, message, session: None };
        let outcome = self.app.receive(inbound, None).await?;
        self.since = self.app.behind_own(&self.scope, self.since, &outcome).await;
        self.held.extend(outcome.seq.map(|seq| (said.place, seq)));
        let marks = Marks::of(&outcome).after(self.moved.as_ref());
        let session = outcome.session;
        if outcome.delivery == Delivery::Again
            && let Some(reply) = self.reply_to(session, outcome.seq).await?
        {
            return Ok(self.turn(session, marks, Next::Answer(Box::new(reply))));
        }
        if !outcome.wants_reply() {
            let text = outcome.say().unwrap_or_default();
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
    async fn context(
        &self,
        system: &[RequestMessage],
        last: Option<&RequestMessage>,
    ) -> Result<Vec<Value>, Problem> {
        let context = self.app.context(&self.scope, None).await?;
        let mut all: Vec<Value> = system.iter().map(super::request_message::to_chat).collect();
        all.extend(messages(&context));
        if let Some(last) = last.filter(|last| last.content.is_some())
            && let Some(Value::Object(fields)) =
                all.iter_mut().rfind(|message| message.get("role").and_then(Value::as_str) == Some("user"))
            && let Some(content) = super::request_message::to_chat(last).get("content")
        {
            fields.insert("content".into(), content.clone());
        }
        Ok(all)
    }

    async fn state(&self) -> Result<Arc<State>, Problem> {
        self.app.state(&self.scope).await
    }

    /// Tells what was done before what is new was taken over.
    fn moved_marks(&self, session: Number) -> Marks {
        self.marks(session, Action::Continue, None).after(self.moved.as_ref())
    }

    fn marks(&self, session: Number, action: Action, notice: Option<String>) -> Marks {
        Marks::new(Key::new(self.scope.clone(), session).to_string(), action, notice)
    }

    fn turn(self, session: Number, marks: Marks, next: Next) -> Turn {
        let Self { scope, since, held, .. } = self;
        Turn { scope, session, marks, since, held, sent: Vec::new(), next, call: ModelCall::default() }
    }
}

fn latest(state: &State) -> Result<Number, Problem> {
    state.latest().ok_or_else(|| Problem::refused("nothing has been said in this scope yet"))
}
