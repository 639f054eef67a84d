//! `segue chat`: talk to the engine in a terminal and see what it decides; with a model, talk to that too.

mod flow;
mod input;
mod screen;
mod speaker;
mod tell;
mod typeahead;
mod typed_lines;

pub use speaker::ModelReply;
pub use typed_lines::TypedLines;

use super::{erase, memory};
use crate::args::{Chat, Common};
use crate::setup::{self, Absent};
use crate::{Exit, json, out, paint};
use input::{History, Input};
use screen::{Screen, Writes};
use segue_core::decision::Action;
use segue_core::entry::Seq;
use segue_core::message::{ReplyEnd, Role};
use segue_core::observed::Answer;
use segue_core::policy::QuestionMode;
use segue_core::scope;
use segue_engine::commands::{Parsed, Slash, parse};
use segue_engine::context::Context;
use segue_engine::history::StoredMessage;
use segue_engine::route::{Address, route};
use segue_engine::words::Language;
use segue_engine::{Engine, Inbound, Outcome, Target, models, words};
use segue_signals::context::OpenAiTokens;
use speaker::{CUT_OFF, Speaker};
use std::sync::Arc;
use tokio::task::JoinHandle;

pub async fn run(common: &Common, chat: &Chat) -> anyhow::Result<Exit> {
    // Before anything is opened: who names a model that is not there has mistyped it.
    let speaker = Speaker::of(chat, &setup::config(common, &[])?)?;
    // Sessions that begin here are pinned to the model that is named; those that have one keep it.
    let named = chat.model.as_deref().map(|name| ("agents.defaults.model", name));
    let options: Vec<(&str, &str)> = named.into_iter().collect();
    let engine = setup::engine_with(common, Absent::Make, &options).await?;
    let scope = match chat.scope.as_ref().or(engine.config().scope.as_ref()) {
        Some(scope) => scope.clone(),
        None => route(&engine.config().routing, &Address::direct("cli", setup::user())),
    };
    // What is said in a store that is forgotten is kept nowhere else.
    let is_forgotten = setup::locate(&engine.config().store_url)? == segue_store::Location::Memory;
    let writes = if common.json { Writes::Nothing } else { Writes::Pieces };
    let screen = Arc::new(Screen::new(engine.language(&scope).await?, writes));
    let history = if is_forgotten { History::Forgotten } else { History::Kept };
    let mut input = Input::open(history, Arc::clone(&screen))?;
    if input.is_terminal() && !common.json {
        greet(&engine, &scope, speaker.as_ref(), screen.language())?;
    }
    let engine = Arc::new(engine);
    let shows = match (common.json, chat.explain) {
        (true, _) => OutputMode::Json,
        (false, true) => OutputMode::Everything,
        (false, false) => OutputMode::ChatSession,
    };
    let tokens = OpenAiTokens::new();
    let talk = ChatSession { engine, scope, speaker, tokens, shows, screen };
    if talk.shows != OutputMode::Json {
        // What was asked or offered before the program was ended can still be answered.
        if let Some(asked) = talk.engine.open_question(&talk.scope).await? {
            tell::outcome(&asked)?;
        }
    }
    let mut line = 0;
    let mut tending: Option<JoinHandle<()>> = None;
    loop {
        let standing = talk.prompt().await?;
        let Some(text) = input.read(&standing.prompt()).await? else { return Ok(Exit::Done) };
        line += 1;
        match text.trim() {
            "" => continue,
            "exit" | "quit" | "/exit" | "/quit" => return Ok(Exit::Done),
            "/retry" => {
                input.listen();
                talk.retry(line).await?;
                continue;
            }
            _ => {}
        }
        input.listen();
        let text = standing.meant(text);
        match talk.engine.receive(Inbound::user(talk.scope.clone(), talk.engine.now(), &text)).await {
            Ok(outcome) => {
                talk.go_on(line, &text, &outcome).await?;
                if !outcome.dropped.is_empty() {
                    input.forget_typed();
                    erase::forget_typed();
                }
                if was_left(&outcome) {
                    // A person goes on typing meanwhile; a program gets the same answers every time.
                    let task = tend(Arc::clone(&talk.engine), talk.scope.clone(), tending.take());
                    tending = Some(tokio::spawn(task));
                    if !input.is_terminal()
                        && let Some(tending) = tending.take()
                    {
                        tending.await?;
                    }
                }
            }
            Err(error) => out::error(error),
        }
    }
}

fn greet(
    engine: &Engine,
    scope: &scope::Key,
    speaker: Option<&Speaker>,
    language: Language,
) -> std::io::Result<()> {
    out::line(paint::strong(scope))?;
    let store = segue_store::redacted(&engine.config().store_url);
    let greeting = words::chat::greeting(language, speaker.map(|speaker| speaker.name.as_str()), &store);
    out::line(paint::dim(greeting))
}

/// Does what is to be done once a session was left: keeps what is worth keeping of it, has it named, announces what is
/// past its time, and embeds its messages for recall. All of it is done later if it fails. `before` is the
/// same after an earlier boundary.
async fn tend(engine: Arc<Engine>, scope: scope::Key, before: Option<JoinHandle<()>>) {
    if let Some(before) = before {
        _ = before.await;
    }
    if let Err(error) = memory::tend(&engine, &scope).await {
        out::error(error);
    }
    // What is announced now is told with the next message.
    match engine.retain(&scope, engine.now()).await {
        // What is not finished now is finished at the next start.
        Ok(done) if !done.goes.is_empty() => _ = engine.purge().await,
        Ok(_) => {}
        Err(error) => out::error(error),
    }
    if let Err(error) = engine.name_sessions(&scope).await {
        out::error(error);
    }
    if let Err(error) = engine.prepare_recall(&scope).await {
        out::error(error);
    }
}

fn was_left(outcome: &Outcome) -> bool {
    matches!(
        outcome.action,
        Action::New | Action::NewCarryOver | Action::Fork | Action::Resume | Action::Split
    )
}

/// A conversation in a scope.
struct ChatSession {
    engine: Arc<Engine>,
    scope: scope::Key,
    speaker: Option<Speaker>,
    tokens: OpenAiTokens,
    shows: OutputMode,
    screen: Arc<Screen>,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputMode {
    /// An object for each decision and each reply.
    Json,
    /// What was said, and what a person has to know.
    ChatSession,
    /// Each decision too, and what a model is given.
    Everything,
}

impl ChatSession {
    /// Finds out where the next message will be said, as far as can be told before it is.
    async fn prompt(&self) -> anyhow::Result<ChatPrompt> {
        let Some(state) = self.engine.store().load(&self.scope).await? else {
            return Ok(ChatPrompt::default());
        };
        let session = state.latest().map(|session| session.to_string());
        let options = match &state.extras.question {
            None => Vec::new(),
            Some(question) if question.manner == QuestionMode::Propose => Vec::new(),
            Some(question) if question.older.is_some() => Answer::ALL.to_vec(),
            Some(_) => vec![Answer::Continue, Answer::Fresh],
        };
        Ok(ChatPrompt { session, options })
    }

    /// Tells what came of a message, and has it answered if it is time for that.
    async fn go_on(&self, line: usize, text: &str, outcome: &Outcome) -> anyhow::Result<()> {
        self.screen.speak(outcome.language);
        match self.shows {
            OutputMode::Json => json::print(&json::outcome(line, outcome, None))?,
            OutputMode::ChatSession => tell::outcome(outcome)?,
            OutputMode::Everything => {
                tell::outcome(outcome)?;
                tell::decision(outcome)?;
            }
        }
        if text.trim() == "/help" && self.shows != OutputMode::Json {
            tell::engine(words::chat::help(outcome.language))?;
        }
        if calls_for_reply(text, outcome) { self.reply(line).await } else { Ok(()) }
    }

    /// Has the last message answered that got no answer, or no whole one.
    async fn retry(&self, line: usize) -> anyhow::Result<()> {
        let language = self.screen.language();
        if self.speaker.is_none() {
            out::error(words::chat::no_model(language));
            return Ok(());
        }
        let context = match self.engine.store().load(&self.scope).await? {
            Some(_) => unanswered(self.engine.context(&self.scope).await?),
            None => None,
        };
        match context {
            Some(context) => self.ask(line, &context).await,
            None => {
                out::error(words::chat::nothing_to_retry(language));
                Ok(())
            }
        }
    }

    async fn reply(&self, line: usize) -> anyhow::Result<()> {
        let context = self.engine.context(&self.scope).await?;
        if self.speaker.is_none() {
            return match self.shows {
                OutputMode::Everything => Ok(tell::context(self.screen.language(), &context, &self.tokens)?),
                OutputMode::Json | OutputMode::ChatSession => Ok(()),
            };
        }
        if ends_with_the_person(&context) { self.ask(line, &context).await } else { Ok(()) }
    }

    /// Has the model answer that the session is pinned to.
    async fn ask(&self, line: usize, context: &Context) -> anyhow::Result<()> {
        let Some(speaker) = &self.speaker else { return Ok(()) };
        let state = self.engine.state(&self.scope).await?;
        let pinned = self.engine.pinned(&state, context.session.number).await?.model;
        match speaker.as_pinned(&pinned, self.engine.config()) {
            Ok(own) => self.answer(line, own.as_ref().unwrap_or(speaker), context).await,
            // The message is kept, and another model can be named.
            Err(error) => {
                out::error(error);
                Ok(())
            }
        }
    }

    /// Has a model answer, and keeps what it says in the session that it was asked for, or that it said nothing.
    async fn answer(&self, line: usize, speaker: &Speaker, context: &Context) -> anyhow::Result<()> {
        let said = context.said().into_iter().filter(|(_, message)| !message.text.trim().is_empty());
        let messages: Vec<_> = said.map(|(role, message)| models::Message::new(role, message.text)).collect();
        self.screen.wait();
        let bytes_max = self.engine.config().limits.message_bytes_max;
        let reply = speaker.speak(&messages, bytes_max, |piece| self.screen.write(piece)).await;
        let is_cut_off = reply.as_ref().is_ok_and(|reply| reply.is_cut_off() && !reply.text.is_empty());
        self.screen.end(is_cut_off.then_some(CUT_OFF))?;
        let reply = reply?;
        if let Some(trouble) = reply.trouble() {
            let language = self.screen.language();
            let failed = words::chat::model_failed(language, &speaker.name, trouble);
            out::error(failed + words::chat::asks_again(language));
        }
        let seq = self.keep(context, &reply).await.filter(|_| !reply.text.is_empty());
        if self.shows == OutputMode::Json {
            json::print(&json::spoken(line, &context.session, &speaker.name, &reply, seq))?;
        }
        Ok(())
    }

    /// Keeps a reply. That it could not be kept ends nothing.
    async fn keep(&self, context: &Context, reply: &ModelReply) -> Option<Seq> {
        if reply.text.is_empty() && self.is_known_to_have_failed(context).await {
            return None;
        }
        let inbound = Inbound {
            at: self.engine.now(),
            to: Target::Scope(self.scope.clone()),
            role: Role::Assistant,
            message: reply.message(),
            session: Some(context.session.number),
        };
        match self.engine.receive(inbound).await {
            Ok(outcome) => outcome.seq,
            Err(error) => {
                out::error(words::chat::not_kept(self.screen.language(), &error.to_string()));
                None
            }
        }
    }
}

impl ChatSession {
    /// Tells whether it is kept already that there was no answer.
    async fn is_known_to_have_failed(&self, context: &Context) -> bool {
        let newest = async {
            let state = self.engine.state(&self.scope).await.ok()?;
            self.engine.messages(&state, context.session.number, 1).await.ok()?.pop()
        };
        let is_failure = |told: StoredMessage| told.message.is_some_and(|said| said.end == ReplyEnd::Failed);
        newest.await.is_some_and(is_failure)
    }
}

/// Where the next message will be said, and what can be answered if something was asked.
#[derive(Default)]
struct ChatPrompt {
    session: Option<String>,
    options: Vec<Answer>,
}

impl ChatPrompt {
    fn prompt(&self) -> String {
        let session = self.session.as_deref().unwrap_or("1");
        let asked = if self.options.is_empty() { "" } else { " ?" };
        format!("#{session}{asked}")
    }

    /// Reads a bare number as the answer of that number, while there is a question.
    fn meant(&self, text: String) -> String {
        let number = text.trim().parse::<usize>().ok();
        match number.and_then(|number| self.options.get(number.checked_sub(1)?)) {
            Some(answer) => format!("/{}", answer.name()),
            None => text,
        }
    }
}

/// Tells whether it is a model's turn now: not after most commands, and not before a question is settled.
fn calls_for_reply(text: &str, outcome: &Outcome) -> bool {
    if !outcome.options().is_empty() || outcome.action == Action::Refused {
        return false;
    }
    match parse(text) {
        Parsed::Message | Parsed::Slash(Slash::New(Some(_))) => true,
        // What followed an offer may have been answered.
        Parsed::Slash(Slash::Answer(_)) => outcome.wants_reply(),
        // The configuration may let commands of others pass.
        Parsed::Unknown => outcome.reply.is_none(),
        Parsed::Slash(_) | Parsed::Usage(_) => false,
    }
}

/// Returns the context up to a message of the person that got no answer, or no whole one; nothing if there is none.
fn unanswered(mut context: Context) -> Option<Context> {
    let is_broken = |told: &&Arc<StoredMessage>| {
        told.role == Role::Assistant && told.message.as_ref().is_some_and(|message| !message.end.is_whole())
    };
    while context.messages.last().filter(is_broken).is_some() {
        context.messages.pop();
    }
    ends_with_the_person(&context).then_some(context)
}

fn ends_with_the_person(context: &Context) -> bool {
    context.messages.last().is_some_and(|told| told.role == Role::User)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r14_a_number_is_an_answer_while_there_is_a_question() {
        let asked = ChatPrompt { session: Some("2".into()), options: vec![Answer::Continue, Answer::Fresh] };
        assert_eq!(asked.prompt(), "#2 ?");
        for (typed, meant) in [("1", "/continue"), (" 2 ", "/fresh"), ("3", "3"), ("0", "0"), ("x", "x")] {
            assert_eq!(asked.meant(typed.to_owned()), meant);
        }
        let quiet = ChatPrompt::default();
        assert_eq!((quiet.prompt(), quiet.meant("1".to_owned())), ("#1".to_owned(), "1".to_owned()));
    }
}
