//! `segue chat`: talk to the engine in a terminal and see what it decides; with a model, talk to that too.

mod flow;
mod input;
mod speaker;
mod tell;
mod typeahead;
mod typed_lines;

pub use speaker::ModelReply;

use super::{erase, memory};
use crate::args::{Chat, Common};
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out, paint};
use flow::WordWrap;
use indicatif::{ProgressBar, ProgressStyle};
use input::{History, Input};
use segue_core::decision::Action;
use segue_core::entry::Seq;
use segue_core::message::{Message, Role};
use segue_core::observed::Answer;
use segue_core::policy::QuestionMode;
use segue_core::scope;
use segue_engine::commands::{Parsed, Slash, parse};
use segue_engine::context::Context;
use segue_engine::route::{Address, route};
use segue_engine::{Engine, Inbound, Outcome, Target, models, words};
use segue_signals::context::OpenAiTokens;
use speaker::{CUT_OFF, Speaker};
use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

pub async fn run(common: &Common, chat: &Chat) -> anyhow::Result<Exit> {
    // Before anything is opened: who names a model that is not there has mistyped it.
    let speaker = Speaker::of(chat, &setup::config(common, &[])?)?;
    // Sessions that begin here are pinned to the model that is named; those that have one keep it.
    let named = chat.model.as_deref().map(|name| ("agents.defaults.model", name));
    let options: Vec<(&str, &str)> = named.into_iter().collect();
    let engine = setup::engine_with(common, Absent::Make, &options).await?;
    let scope = match &chat.scope {
        Some(scope) => scope.clone(),
        None => route(&engine.config().routing, &Address::direct("cli", setup::user())),
    };
    // What is said in a store that is forgotten is kept nowhere else.
    let is_forgotten = setup::locate(&engine.config().store_url)? == segue_store::Location::Memory;
    let mut input = Input::open(if is_forgotten { History::Forgotten } else { History::Kept })?;
    if input.is_terminal() && !common.json {
        greet(&engine, &scope, speaker.as_ref())?;
    }
    let engine = Arc::new(engine);
    let shows = match (common.json, chat.explain) {
        (true, _) => OutputMode::Json,
        (false, true) => OutputMode::Everything,
        (false, false) => OutputMode::ChatSession,
    };
    let tokens = OpenAiTokens::new();
    let mut talk = ChatSession { engine, scope, speaker, tokens, shows, failed: BTreeSet::new() };
    if talk.shows != OutputMode::Json {
        // A question that was asked before the program was ended is still open.
        if let Some(asked) = talk.engine.open_question(&talk.scope).await? {
            tell::outcome(&asked)?;
        }
    }
    let mut line = 0;
    let mut tending: Option<JoinHandle<()>> = None;
    loop {
        let standing = talk.standing().await?;
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
                    if let Err(error) = erase::forget_beside(&talk.engine, &talk.scope).await {
                        out::error(error);
                    }
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

fn greet(engine: &Engine, scope: &scope::Key, speaker: Option<&Speaker>) -> std::io::Result<()> {
    out::line(paint::strong(scope))?;
    let who = match speaker {
        Some(speaker) => format!("{} answers", speaker.name),
        None => "no model answers (see --model; --explain shows each decision)".to_owned(),
    };
    let store = segue_store::redacted(&engine.config().store_url);
    out::line(paint::dim(format!("{who}; kept in {store}; /help lists the commands, Ctrl-D ends")))
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
    /// Messages that a model failed to answer. The next one is asked without them: they would only pile up.
    failed: BTreeSet<Seq>,
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
    async fn standing(&self) -> anyhow::Result<ChatPrompt> {
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
    async fn go_on(&mut self, line: usize, text: &str, outcome: &Outcome) -> anyhow::Result<()> {
        match self.shows {
            OutputMode::Json => json::print(&json::outcome(line, outcome, None))?,
            OutputMode::ChatSession => tell::outcome(outcome)?,
            OutputMode::Everything => {
                tell::outcome(outcome)?;
                tell::decision(outcome)?;
            }
        }
        if text.trim() == "/help" && self.shows != OutputMode::Json {
            out::line(words::chat_help(outcome.language))?;
        }
        if calls_for_reply(text, outcome) { self.reply(line).await } else { Ok(()) }
    }

    /// Has the last message answered that got no answer.
    async fn retry(&mut self, line: usize) -> anyhow::Result<()> {
        let context = match self.engine.store().load(&self.scope).await? {
            Some(_) if self.speaker.is_some() => Some(self.engine.context(&self.scope).await?),
            _ => None,
        };
        if !context.is_some_and(|context| ends_with_the_person(&context)) {
            out::error("there is nothing to try again: no message waits for an answer");
            return Ok(());
        }
        self.failed.pop_last();
        self.reply(line).await
    }

    async fn reply(&mut self, line: usize) -> anyhow::Result<()> {
        let context = self.engine.context(&self.scope).await?;
        match &self.speaker {
            Some(speaker) if ends_with_the_person(&context) => {
                let state = self.engine.state(&self.scope).await?;
                let pinned = self.engine.pinned(&state, context.session.number).await?.model;
                match speaker.as_pinned(&pinned, self.engine.config()) {
                    Ok(own) => {
                        let failed = self.answer(line, own.as_ref().unwrap_or(speaker), &context).await?;
                        self.failed.extend(failed);
                        Ok(())
                    }
                    // The message is kept, and another model can be named.
                    Err(error) => {
                        out::error(error);
                        Ok(())
                    }
                }
            }
            Some(_) => Ok(()),
            None if self.shows != OutputMode::Everything => Ok(()),
            None => Ok(tell::context(&context, &self.tokens)?),
        }
    }

    /// Has a model answer, and keeps what it says in the session that it was asked for. Returns the message that it failed
    /// to answer, if it did.
    async fn answer(&self, line: usize, speaker: &Speaker, context: &Context) -> anyhow::Result<Option<Seq>> {
        let asked = context.messages.last().map(|told| told.seq);
        let mut given = context.clone();
        given.messages.retain(|told| Some(told.seq) == asked || !self.failed.contains(&told.seq));
        let said = given.said().into_iter().filter(|(_, message)| !message.text.trim().is_empty());
        let messages: Vec<_> = said.map(|(role, message)| models::Message::new(role, message.text)).collect();
        let mut flow = WordWrap::new(layout::width());
        let is_json = self.shows == OutputMode::Json;
        let write = |text: String| if is_json { Ok(()) } else { out::text(&text) };
        let waiting = waiting(is_json);
        let heard = |piece: &str| {
            waiting.finish_and_clear();
            write(flow.push(piece))
        };
        let bytes_max = self.engine.config().limits.message_bytes_max;
        let said = speaker.speak(&messages, bytes_max, heard).await;
        waiting.finish_and_clear();
        let said = said?;
        let mark = (said.is_cut_off() && !said.text.is_empty()).then_some(CUT_OFF);
        write(flow.finish(mark))?;
        if let Some(trouble) = said.trouble() {
            let again = if said.text.is_empty() { " (/retry asks again)" } else { "" };
            out::error(format!("{}{again}", speaker.trouble(trouble)));
        }
        let seq = if said.text.is_empty() { None } else { self.keep(context, &said).await };
        if is_json {
            json::print(&json::spoken(line, &context.session, &speaker.name, &said, seq))?;
        }
        Ok(asked.filter(|_| said.text.is_empty()))
    }

    /// Keeps a reply. That it could not be kept ends nothing.
    async fn keep(&self, context: &Context, said: &ModelReply) -> Option<Seq> {
        let reply = Inbound {
            at: self.engine.now(),
            to: Target::Scope(self.scope.clone()),
            role: Role::Assistant,
            message: Message::text(said.text.as_str()),
            session: Some(context.session.number),
        };
        match self.engine.receive(reply).await {
            Ok(outcome) => outcome.seq,
            Err(error) => {
                out::error(format!("the reply was not kept: {error}"));
                None
            }
        }
    }
}

/// Shows that something happens while a model thinks, and for how long.
fn waiting(is_json: bool) -> ProgressBar {
    if is_json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("  {spinner} {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
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
