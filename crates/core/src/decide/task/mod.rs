//! What agents and hosts do with a task, and what a message does to it. One file per verb; each writes all that 001
//! wants to be stored at its transition into one draft, and by that into one transaction.

mod abort;
mod ask;
mod compact;
mod finish;
mod flush;
mod incorporate;
mod interrupt;
mod note;
mod observe;
pub(super) mod on_user_message;
mod reopen;
mod respond;
mod resume;
mod start;

pub(super) use reopen::reopen;

use super::{Circumstances, Decided, DecisionBuilder, Verdict, late};
use crate::decision::{Action, Cause};
use crate::effect::Effect;
use crate::entry::{Body, Change, Of, Seq, TaskStep, Worded, Wording};
use crate::freshness::Silence;
use crate::notice::Notice;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::span::Cut;
use crate::state::State;
use crate::task::assignment::{Assignment, Stage};
use crate::task::canonical::CommitKind;
use crate::task::commit::{CommitId, WorkCommit};
use crate::task::history::{Reach, TaskHistory};
use crate::task::identity::Description;
use crate::task::notice::TaskNotice;
use crate::task::observation::{Observation, ObservationRefusal, TEXT_BYTES_MAX};
use crate::task::refusal::TaskRefusal;
use crate::task::timing::{Return, coming_back};

/// What is done with the task of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskCommand {
    /// The session; the latest one if none is named.
    pub session: Option<Number>,
    /// What is done.
    pub verb: TaskVerb,
}

/// What is done with a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskVerb {
    /// A task begins.
    Start {
        /// What is to be done, if the message does not say it.
        description: Option<Description>,
        /// The person's last message.
        message: Option<Seq>,
        /// Where that message is cut off the session, if the task gets one of its own.
        cut: Option<Cut>,
    },
    /// The agent asks (C-2).
    Ask {
        /// What.
        question: String,
    },
    /// The person answers (C-3).
    Respond {
        /// In which message, if it was one.
        message: Option<Seq>,
        /// What, if it was no message.
        text: String,
    },
    /// The person speaks while the agent works (C-4).
    Interrupt {
        /// In which message.
        message: Seq,
    },
    /// The agent has taken in what was said.
    Incorporate {
        /// What it has taken in; nothing for all there is.
        messages: Option<Vec<Seq>>,
    },
    /// The agent thinks that it is done.
    Finish {
        /// What it has done.
        summary: String,
    },
    /// The person says that it is done (C-5).
    Confirm,
    /// The person wants more (C-5).
    Request {
        /// What.
        text: String,
    },
    /// Somebody gives up.
    Abort {
        /// Why.
        reason: String,
    },
    /// Something happened (C-6).
    Observe {
        /// What.
        observations: Vec<Observation>,
    },
    /// What was observed becomes a work commit (C-7).
    Flush,
    /// What is there becomes a canonical commit (C-8).
    Compact {
        /// What was done.
        summary: String,
        /// How it came about; by default what the state says.
        kind: Option<CommitKind>,
    },
    /// The person has come back (C-11, C-12).
    Resume,
}

pub(super) fn decide(mut builder: DecisionBuilder<'_>, command: &TaskCommand) -> Result<Decided, Refusal> {
    if let TaskVerb::Start { description, message, cut } = &command.verb {
        return start::start(builder, description.as_ref(), *message, cut.as_ref());
    }
    let session = match command.session {
        Some(session) => late::home(builder.state(), session)?,
        None => builder.latest()?,
    };
    builder.task(session)?;
    // An agent may go on with a session that is not the latest any more; the latest one stays where it is.
    let elsewhere = builder.state().latest() != Some(session);
    if elsewhere {
        builder.draft.push(Body::Attached(Of { session }))?;
    }
    builder.note_command()?;
    let done = match &command.verb {
        TaskVerb::Ask { question } => ask::ask(&mut builder, session, question),
        TaskVerb::Respond { message, text } => respond::respond(&mut builder, session, *message, text),
        TaskVerb::Interrupt { message } => interrupt::interrupt(&mut builder, session, *message),
        TaskVerb::Incorporate { messages } => {
            incorporate::incorporate(&mut builder, session, messages.as_deref())
        }
        TaskVerb::Finish { summary } => finish::finish(&mut builder, session, summary),
        TaskVerb::Confirm => finish::confirm(&mut builder, session, None),
        TaskVerb::Request { text } => finish::request(&mut builder, session, None, text),
        TaskVerb::Abort { reason } => abort::abort(&mut builder, session, reason),
        TaskVerb::Observe { observations } => note::note(&mut builder, session, observations),
        TaskVerb::Flush => flush::flush(&mut builder, session),
        TaskVerb::Compact { summary, kind } => compact::compact(&mut builder, session, summary, *kind),
        TaskVerb::Resume => resume::resume(&mut builder, session),
        TaskVerb::Start { .. } => Ok(Done::quiet(Seq::ZERO)),
    }?;
    builder.decide_for_task(session, &done)?;
    if elsewhere {
        builder.draft.seal()?;
    }
    Ok(builder.close_for_task(session, done))
}

/// Finds the task whose history a verb needs, and how far back.
pub(super) fn reach(
    state: &State,
    policy: &Policy,
    command: &TaskCommand,
    at: &Circumstances,
) -> Option<(Number, Reach)> {
    let latest = state.latest()?;
    if let TaskVerb::Start { .. } = &command.verb {
        state.extras.open_task(latest).filter(|task| task.has_meaningful_work())?;
        return Some((latest, Reach::Whole));
    }
    let session = late::home(state, command.session.unwrap_or(latest)).ok()?;
    let task = state.extras.tasks.get(&session)?;
    let reach = match &command.verb {
        TaskVerb::Ask { .. } | TaskVerb::Finish { .. } | TaskVerb::Flush => {
            (task.staged() > 0).then_some(Reach::Staged)
        }
        TaskVerb::Interrupt { .. } => interrupt::reach(task),
        TaskVerb::Confirm | TaskVerb::Abort { .. } => Some(Reach::Whole),
        TaskVerb::Compact { .. } => task.canonical.is_none().then_some(Reach::Whole),
        TaskVerb::Resume => {
            let open = state.open.as_ref().filter(|_| session == latest)?;
            let gap = Silence::of(open, state.effective(at.now)).gap;
            (coming_back(gap, resume::timeouts(policy)) == Return::Stale).then_some(Reach::Whole)
        }
        TaskVerb::Respond { .. } | TaskVerb::Incorporate { .. } => None,
        TaskVerb::Request { .. } | TaskVerb::Observe { .. } | TaskVerb::Start { .. } => None,
    };
    Some((session, reach?))
}

/// Whether a task ends by itself, or because a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself: nothing opens it again.
    ForGood,
    /// Because a session begins right behind it: who takes that back opens it again.
    AtBoundary,
}

impl Ending {
    fn was(self, stage: &Stage) -> Option<Stage> {
        (self == Self::AtBoundary).then(|| stage.clone())
    }
}

/// What a verb came to.
struct Done {
    action: Action,
    about: Seq,
    notice: Option<Notice>,
}

impl Done {
    fn quiet(about: Seq) -> Self {
        Self { action: Action::Command, about, notice: None }
    }

    fn told(about: Seq, notice: TaskNotice) -> Self {
        Self { notice: Some(Notice::Task(notice)), ..Self::quiet(about) }
    }
}

impl DecisionBuilder<'_> {
    /// Writes down what came of a command of the host that may be sent again, so that it gets the same answer.
    fn decide_for_task(&mut self, session: Number, done: &Done) -> Result<(), Refusal> {
        let Some(command) = self.command else { return Ok(()) };
        let verdict =
            Verdict { notice: done.notice.clone(), ..Verdict::new(done.action, Cause::Task, session) };
        self.push_decision(command, &verdict)
    }

    fn close_for_task(self, session: Number, done: Done) -> Decided {
        let mut decided = self.close_quietly(session, done.about);
        decided.effects.splice(..0, done.notice.map(Effect::Tell));
        Decided { action: done.action, cause: Cause::Task, ..decided }
    }

    /// Returns the task of a session.
    fn task(&self, session: Number) -> Result<&Assignment, Refusal> {
        let task = self.state().extras.tasks.get(&session);
        task.ok_or(Refusal::Task(TaskRefusal::NoTask(session)))
    }

    /// Returns what was read of a task's history. That it was is up to [`needs`](super::needs).
    fn history(&mut self, session: Number, reach: Reach) -> Result<&mut TaskHistory, Refusal> {
        let task = self.task(session)?.clone();
        let unread =
            || Refusal::Damaged(format!("the history of the task of session {session} was not read"));
        self.history.as_mut().filter(|history| history.reaches(&task, reach)).ok_or_else(unread)
    }

    /// Writes an observation and stages it.
    fn observe(&mut self, session: Number, observation: Observation) -> Result<Seq, Refusal> {
        let task = self.task(session)?.id;
        let observing = crate::entry::Observing { session, task, observation };
        let observation = observing.observation.clone();
        let seq = self.draft.push(Body::Observation(Box::new(observing)))?;
        let at = self.draft.effective_now();
        if let Some(history) = &mut self.history {
            history.observe(seq, at, &observation);
        }
        Ok(seq)
    }

    /// Writes words of the host or the agent.
    fn worded(&mut self, wording: Wording, text: &str) -> Result<Seq, Refusal> {
        let what = match wording {
            Wording::Description => "description",
            Wording::Summary => "summary",
            Wording::Reason => "reason",
        };
        let (text, bytes_max) = (text.trim(), TEXT_BYTES_MAX);
        if text.len() > bytes_max {
            let unfit = ObservationRefusal::TooLong { what, bytes: text.len(), bytes_max };
            return Err(Refusal::Task(unfit.into()));
        }
        self.draft.push(Body::Worded(Worded { wording, text: text.to_owned() }))
    }

    /// Makes a work commit of what is staged; nothing if nothing is. The step is written by what comes next.
    fn work_commit(&mut self, session: Number) -> Result<Option<CommitId>, Refusal> {
        let task = self.task(session)?;
        if task.staged() == 0 {
            return Ok(None);
        }
        let (id, stage, parents) = (task.id, task.stage.clone(), task.head.into_iter().collect());
        let history = self.history(session, Reach::Staged)?;
        let (narrative, observations) = history.take_staged();
        let commit = WorkCommit::new(id, parents, stage.worded(&history.words), narrative, observations);
        history.flushed(commit.id);
        let commit_id = commit.id;
        self.draft.push(Body::WorkCommit(Box::new(commit)))?;
        Ok(Some(commit_id))
    }

    /// Moves the task, if the table allows it.
    fn go(&mut self, session: Number, to: Stage, flushed: Option<CommitId>) -> Result<Seq, Refusal> {
        self.task(session)?.check(to.name()).map_err(TaskRefusal::from).map_err(Refusal::Task)?;
        let step = TaskStep::new(session, Change::Went { to });
        self.draft.push(Body::Task(TaskStep { flushed, ..step }))
    }

    /// Refuses a transition before anything is written for it.
    fn may_go(&self, session: Number, to: crate::task::state::StateName) -> Result<(), Refusal> {
        self.task(session)?.check(to).map_err(|forbidden| Refusal::Task(forbidden.into()))
    }
}
