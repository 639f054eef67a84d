//! Decide: turns a command into entries, or refuses it. One file per verb.

mod answer;
mod archive;
mod back_to;
mod clear;
mod command;
mod control;
mod delete;
mod erase;
mod fork;
mod import;
mod late;
mod merge;
mod move_exchange;
mod needs;
mod new;
mod on_user_message;
mod pin;
mod prune;
mod refuse;
mod remember;
mod rename;
mod resume;
mod retire;
mod rotate;
mod say;
mod split;
mod start_over;
mod task;
mod undo;

pub use command::Command;
pub use import::before_import;
pub use needs::needs;
pub use prune::prunable;
pub use task::{TaskCommand, TaskVerb};

use crate::Timestamp;
use crate::decision::{Action, Alternative, Cause, Confidence, Decision, Reason, Thresholds};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::entry::{Body, Dropped, Opened, Record, Seq, Source, Spoken};
use crate::facts::Facts;
use crate::memory::Extracted;
use crate::message::{Message, Role};
use crate::notice::{Notice, Summary, Undoable};
use crate::observed::Observed;
use crate::policy::{Excess, Mode, Policy, RULES_VERSION};
use crate::refusal::Refusal;
use crate::retention::RetireCheck;
use crate::segment;
use crate::session::{Id, Number, Session, Status};
use crate::state::State;
use crate::task::assignment::Assignment;
use crate::task::history::TaskHistory;
use std::sync::Arc;

/// What a decision depends on besides the state: time, a fresh id, and how the command was typed.
#[derive(Debug, Clone, PartialEq)]
pub struct Circumstances {
    /// The time.
    pub now: Timestamp,
    /// The id of the session that the command may create.
    pub fresh: Id,
    /// The slash command as it was typed, if it was.
    pub spoken: Option<Spoken>,
}

/// What was decided: entries to append, the state that they lead to, and what to do once they are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The entries.
    pub records: Vec<Record>,
    /// The state after them.
    pub state: State,
    /// What happened.
    pub action: Action,
    /// What kind of evidence decided.
    pub cause: Cause,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why.
    pub reasons: Vec<Reason>,
    /// What was observed about the message, if anything was.
    pub observed: Option<Box<Observed>>,
    /// The session that it ended up in.
    pub session: Number,
    /// The message or command that was written, or else the entry that makes the boundary.
    pub about: Option<Seq>,
    /// The command that was written down, if there was one.
    pub command: Option<Seq>,
    /// What is done with the entries and after them.
    pub effects: Vec<Effect>,
}

impl Decided {
    /// Returns what the person is told.
    pub fn notice(&self) -> Option<&Notice> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Tell(notice) => Some(notice),
            _ => None,
        })
    }

    /// Returns what the person is told besides.
    pub fn warning(&self) -> Option<&Notice> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Warn(notice) => Some(notice),
            _ => None,
        })
    }

    /// Returns the sessions that were dropped.
    pub fn dropped(&self) -> impl Iterator<Item = Number> {
        let dropped = self.effects.iter().map(|effect| match effect {
            Effect::Drop(sessions) => sessions.as_slice(),
            _ => &[],
        });
        dropped.flatten().copied()
    }

    /// Returns the segments to delete, once the entries are kept.
    pub fn swept(&self) -> impl Iterator<Item = segment::Number> {
        let swept = self.effects.iter().map(|effect| match effect {
            Effect::Sweep(segments) => segments.as_slice(),
            _ => &[],
        });
        swept.flatten().copied()
    }

    /// Returns the entries whose bodies are erased with the append.
    pub fn erased(&self) -> impl Iterator<Item = Seq> {
        let erased = self.effects.iter().map(|effect| match effect {
            Effect::Erase(entries) => entries.as_slice(),
            _ => &[],
        });
        erased.flatten().copied()
    }
}

/// Decides what happens to a command. The facts are what [`needs`] asks for on the same state.
///
/// ```
/// use segue_core::{decide::{decide, Circumstances, Command}, facts::Facts, message::{Message, Role}};
/// use segue_core::{policy::Policy, session::Id, state::State, Timestamp};
/// let state = State::empty("agent:main:cli:direct:me".parse()?);
/// let hello = Command::Say { role: Role::User, message: Message::text("hello") };
/// let at = Circumstances { now: Timestamp::UNIX_EPOCH, fresh: Id(Default::default()), spoken: None };
/// let decided = decide(&state, &Policy::default(), &hello, &Facts::default(), &at)?;
/// assert_eq!(decided.state.messages, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decide(
    state: &State,
    policy: &Policy,
    command: &Command,
    facts: &Facts,
    at: &Circumstances,
) -> Result<Decided, Refusal> {
    let mut decided = decide_entries(state, policy, command, facts, at)?;
    if wakes(command) && !decided.state.extras.tasks.is_empty() {
        decided.effects.push(Effect::Wake);
    }
    Ok(decided)
}

/// Tells whether an agent may wait for what a command says.
fn wakes(command: &Command) -> bool {
    match command {
        Command::Say { .. } | Command::UserMessage { .. } | Command::Answer { .. } => true,
        Command::Task(task) => matches!(task.verb, TaskVerb::Interrupt { .. } | TaskVerb::Abort { .. }),
        _ => false,
    }
}

fn decide_entries(
    state: &State,
    policy: &Policy,
    command: &Command,
    facts: &Facts,
    at: &Circumstances,
) -> Result<Decided, Refusal> {
    let mut builder = DecisionBuilder {
        draft: Draft::new(state, at.now),
        policy,
        at,
        history: facts.task.as_deref().cloned(),
        memories: &facts.memories,
        derived: &facts.derived,
        pruned: facts.pruned,
        warning: None,
        command: None,
        effects: Vec::new(),
    };
    // Only what could not be read leaves a scope without sessions whose numbers go on.
    if builder.state().sessions.is_empty() && builder.state().next_session > Number::FIRST {
        builder.warning = Some(Notice::Aside);
    }
    if let Command::UserMessage { .. } = command {
        retire::tell(&mut builder)?;
    }
    match command {
        Command::Say { role, message } => say::say(builder, *role, message),
        Command::UserMessage { message, observed, summary } => on_user_message::on_user_message(
            builder,
            message,
            MessageSignals { observed, summary: summary.as_deref() },
        ),
        Command::Answer { answer, summary } => answer::command(builder, *answer, summary.as_deref()),
        Command::Control { session, model } => control::control(builder, *session, model.as_deref()),
        Command::Pin { session, change, texts } => pin::pin(builder, *session, change, *texts),
        Command::Reply { role, message, session } => late::reply(builder, *role, message, *session),
        Command::Keep { role, message } => say::keep(builder, *role, message),
        Command::New { first } => match policy.mode {
            Mode::Segmented => new::new(builder, first.as_ref()),
            Mode::Legacy => clear::clear(builder, first.as_ref()),
        },
        Command::Resume { session } => resume::resume(builder, *session),
        Command::Undo => undo::undo(builder),
        Command::Redo => undo::redo(builder),
        Command::Restore { session } => archive::restore(builder, *session),
        Command::Move { session, at } => move_exchange::move_exchange(builder, *session, at),
        Command::OpenImported => import::open(builder),
        Command::EndImport => import::end(builder),
        Command::Fork { session, at } => fork::fork(builder, *session, at.as_ref()),
        Command::Split { at } => split::split(builder, at),
        Command::Merge { from, into } => merge::merge(builder, *from, *into),
        Command::Rename { session, title } => rename::rename(builder, *session, title),
        Command::Name(named) => rename::name(builder, named),
        Command::Prune { keep } => {
            let sessions = prunable(builder.state(), keep.get());
            let seen = builder.state().head;
            prune::retire(builder, &sessions, RetireCheck::AsOf(seen))
        }
        Command::Retire { sessions, notice } => prune::retire(builder, sessions, *notice),
        Command::Announce { going, stays, due } => retire::announce(builder, going, stays, *due),
        Command::KeepChoice { session, wish } => retire::wish(builder, *session, *wish),
        Command::Delete { session } => delete::delete(builder, *session),
        Command::Refuse { refusal } => refuse::refuse(builder, refusal),
        Command::Erase { entries, along } => erase::erase(builder, entries, along),
        Command::Remember(extracted) => remember::remember(builder, extracted),
        Command::Forget { entry } => remember::forget(builder, *entry),
        Command::Task(command) => task::decide(builder, command),
    }
}

/// Where a verb does its work: the draft, the settings, and what is to be dropped.
struct DecisionBuilder<'a> {
    draft: Draft,
    policy: &'a Policy,
    at: &'a Circumstances,
    history: Option<TaskHistory>,
    memories: &'a [Extracted],
    derived: &'a [Seq],
    pruned: u32,
    warning: Option<Notice>,
    command: Option<Seq>,
    effects: Vec<Effect>,
}

/// What a message of the user is judged by.
#[derive(Clone, Copy)]
struct MessageSignals<'a> {
    observed: &'a Observed,
    summary: Option<&'a str>,
}

/// The verdict of a verb.
struct Verdict {
    action: Action,
    cause: Cause,
    confidence: Confidence,
    rule: String,
    reasons: Vec<Reason>,
    thresholds: Option<Thresholds>,
    alternatives: Vec<Alternative>,
    signals: Option<Box<Observed>>,
    notice: Option<Notice>,
    session: Number,
    about: Option<Seq>,
}

impl Verdict {
    fn new(action: Action, cause: Cause, session: Number) -> Self {
        Self {
            action,
            cause,
            confidence: Confidence::CERTAIN,
            rule: String::new(),
            reasons: Vec::new(),
            thresholds: None,
            alternatives: Vec::new(),
            signals: None,
            notice: None,
            session,
            about: None,
        }
    }

    fn commanded(action: Action, command: &str, session: Number, notice: Notice) -> Self {
        let reasons = vec![Reason::Commanded { command: command.to_owned() }];
        Self { reasons, notice: Some(notice), ..Self::new(action, Cause::Command, session) }
    }

    fn because(self, reason: Reason) -> Self {
        Self { reasons: vec![reason], ..self }
    }

    fn notice(self, notice: Notice) -> Self {
        Self { notice: Some(notice), ..self }
    }

    /// Adds what was observed, unless nothing was.
    fn observing(mut self, observed: &Observed) -> Self {
        if *observed != Observed::default() {
            self.signals = Some(Box::new(observed.clone()));
        }
        if let Some(model) = observed.model.as_ref().filter(|model| model.prompt_hash.is_some()) {
            self.reasons.push(Reason::ModelAsked { name: model.name.clone() });
        }
        self
    }

    fn about(self, about: Option<Seq>) -> Self {
        Self { about, ..self }
    }
}

impl DecisionBuilder<'_> {
    fn state(&self) -> &State {
        self.draft.state()
    }

    fn latest(&self) -> Result<Number, Refusal> {
        self.state().latest().ok_or(Refusal::NothingSaid)
    }

    fn live(&self, number: Number) -> Result<&Arc<Session>, Refusal> {
        let session = self.state().sessions.get(&number).ok_or(Refusal::NoSession(number))?;
        match session.status {
            Status::Live | Status::Archived => Ok(session),
            Status::Merged { into } => Err(Refusal::Merged { from: number, into }),
        }
    }

    /// Writes down the slash command where it was said, if it was typed and there is a place for it.
    fn note_command(&mut self) -> Result<Option<Seq>, Refusal> {
        if let (Some(spoken), Some(_)) = (&self.at.spoken, &self.state().open) {
            self.command = Some(self.draft.push(Body::Command(spoken.clone()))?);
        }
        Ok(self.command)
    }

    /// Opens the scope's next session, because someone asked for it.
    fn open(&mut self, parent: Option<Number>) -> Result<Number, Refusal> {
        self.open_because(parent, None)
    }

    /// Opens the scope's next session.
    fn open_because(&mut self, parent: Option<Number>, cause: Option<Cause>) -> Result<Number, Refusal> {
        let session = self.state().next_session;
        self.push_opened(Opened { session, id: self.at.fresh, parent, cause, source: Source::Own })
    }

    fn push_opened(&mut self, opened: Opened) -> Result<Number, Refusal> {
        let session = opened.session;
        self.draft.push(Body::Opened(opened)).map(|_| session)
    }

    /// Carries a summary of the session before into the one that was just opened (R-5).
    fn carry_over(&mut self, from: Number, summary: Option<&str>) -> Result<Summary, Refusal> {
        let Some(text) = summary.filter(|text| !text.trim().is_empty()) else { return Ok(Summary::Left) };
        let message = Message { carried_from: Some(from), ..Message::text(text) };
        self.draft.push(Body::Message(Role::System, message))?;
        Ok(Summary::Carried)
    }

    /// Keeps the list of sessions short after a boundary. Tells how many were dropped, and whether there is a way back
    /// from the boundary that was just made.
    fn keep_backlog(&mut self) -> Result<(u32, Undoable), Refusal> {
        let pruned = match self.policy.excess {
            Excess::Delete => prune::drop_excess(self)?,
            Excess::Archive => {
                archive::archive_excess(self)?;
                0
            }
        };
        let way_back = match self.state().boundaries.last() {
            Some(_) => Undoable::Open,
            None => Undoable::Gone,
        };
        Ok((pruned, way_back))
    }

    /// Drops the content of sessions with an entry.
    fn drop_content(&mut self, dropped: &Dropped) {
        self.effects.push(Effect::Drop(dropped.sessions.clone()));
        self.effects.push(Effect::Sweep(dropped.segments.clone()));
        self.effects.push(Effect::Erase(dropped.erased.clone()));
    }

    /// Erases the bodies of entries.
    fn erase(&mut self, entries: impl IntoIterator<Item = Seq>) {
        self.effects.push(Effect::Erase(entries.into_iter().collect()));
    }

    /// Writes down a decision.
    fn push_decision(&mut self, about: Seq, verdict: &Verdict) -> Result<(), Refusal> {
        let decision = Decision {
            about,
            session: verdict.session,
            action: verdict.action,
            cause: verdict.cause,
            confidence: verdict.confidence,
            policy: self.policy.name().to_owned(),
            version: (!verdict.rule.is_empty()).then_some(RULES_VERSION),
            rule: verdict.rule.clone(),
            reasons: verdict.reasons.clone(),
            signals: verdict.signals.clone(),
            thresholds: verdict.thresholds,
            alternatives: verdict.alternatives.clone(),
            notice: verdict.notice.clone(),
            also: self.warning.clone(),
            refusal: None,
            task: self.state().extras.tasks.get(&verdict.session).map(Assignment::state),
        };
        self.draft.push(Body::Decision(Box::new(decision))).map(drop)
    }

    /// Writes down the decision, and ends the draft.
    fn close(mut self, verdict: Verdict) -> Result<Decided, Refusal> {
        let confidence = verdict.confidence;
        // A boundary that nobody typed is about the entry that makes it: nothing is silent.
        let about = verdict.about.or_else(|| self.draft.boundary().filter(|_| verdict.action.is_boundary()));
        if let Some(about) = about {
            self.push_decision(about, &verdict)?;
        }
        let effects = self.effects();
        let told = verdict.notice.map(Effect::Tell);
        let (state, records) = self.draft.finish();
        Ok(Decided {
            records,
            state,
            action: verdict.action,
            cause: verdict.cause,
            confidence,
            reasons: verdict.reasons,
            observed: verdict.signals,
            session: verdict.session,
            about,
            command: self.command,
            effects: told.into_iter().chain(effects).collect(),
        })
    }

    fn effects(&mut self) -> Vec<Effect> {
        let warned = self.warning.take().map(Effect::Warn);
        let records = self.draft.records();
        let added = records.iter().any(|record| record.kind.role().is_some());
        let after = records.first().map_or(Seq::ZERO, |first| Seq(first.seq.0.saturating_sub(1)));
        let index = added.then_some(Effect::Index { after });
        let forget = records.iter().any(|record| record.kind.erases()).then_some(Effect::Forget);
        // What is forgotten may stand in the store's files, which are purged after that.
        warned.into_iter().chain(forget).chain(std::mem::take(&mut self.effects)).chain(index).collect()
    }

    /// Closes the draft without a decision record: the entry speaks for itself.
    fn close_quietly(mut self, session: Number, about: Seq) -> Decided {
        let effects = self.effects();
        let (state, records) = self.draft.finish();
        Decided {
            records,
            state,
            action: Action::Continue,
            cause: Cause::None,
            confidence: Confidence::CERTAIN,
            reasons: Vec::new(),
            observed: None,
            session,
            about: Some(about),
            command: self.command,
            effects,
        }
    }
}
