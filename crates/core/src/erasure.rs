//! Erasure: which entries hold words, and which of them were made of what other entries say.
//!
//! [`Place`] is the list of all places in the log that can hold words. [`Trace`] goes through a log once and finds what was
//! made of the entries that are to go, in the order of the log: what is derived comes after what it was derived from, so
//! one pass is enough, however often a summary was summarised again. (Only titles that hosts gave are compared with what goes in
//! a second one.)

mod titles;

use crate::entry::{Body, Bytes, Change, Kind, Record, Seq, TaskStep};
use crate::evolve::evolve;
use crate::message::Role;
use crate::scope;
use crate::segment;
use crate::session::Number;
use crate::span::Spans;
use crate::state::State;
use crate::task::canonical::CanonicalCommit;
use crate::task::commit::WorkCommit;
use crate::task::identity::TaskId;
use crate::task::node::NodeId;
use crate::task::observation::Observation;
use crate::undo::Boundary;
use std::collections::{BTreeMap, BTreeSet};
use titles::{Before, Candidate};

pub use titles::Repeats;

/// A place in the log that can hold what people, agents, tools and hosts said, or what was made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A message of any role. A summary that was carried over is one, too.
    Message,
    /// A slash command as it was typed.
    Command,
    /// The evidence of a decision.
    Decision,
    /// A title that a person gave.
    Title,
    /// A title that a model made.
    ModelTitle,
    /// What was observed in a task: notes, files, command lines, output.
    Observation,
    /// A flushed step of a task.
    WorkCommit,
    /// What a task is about, what was done, why it was given up.
    TaskWords,
    /// What is kept of a task for good.
    CanonicalCommit,
    /// The description of a task, beside what is kept of it.
    Description,
    /// Something that is remembered.
    Memory,
    /// A text that sessions are pinned to. It is a file of the host, and goes where that tells of a person.
    PinnedText,
}

impl Place {
    /// Returns the place that entries of a kind are; nothing if they hold no words of a conversation.
    ///
    /// A new kind of entry has to be put on one of the two sides here, and a sample of it into the test below.
    pub fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::User | Kind::Assistant | Kind::Tool | Kind::System => Some(Self::Message),
            Kind::Command => Some(Self::Command),
            Kind::Decision => Some(Self::Decision),
            Kind::Renamed => Some(Self::Title),
            Kind::Named => Some(Self::ModelTitle),
            Kind::Observation => Some(Self::Observation),
            Kind::WorkCommit => Some(Self::WorkCommit),
            Kind::Worded => Some(Self::TaskWords),
            Kind::Compacted => Some(Self::CanonicalCommit),
            Kind::Copied => Some(Self::Description),
            Kind::Remembered => Some(Self::Memory),
            Kind::Pinned => Some(Self::PinnedText),
            Kind::Opened | Kind::Sealed | Kind::Resumed | Kind::Forked | Kind::Split | Kind::Merged => None,
            Kind::Undone | Kind::Redone | Kind::Stepped | Kind::Cleared | Kind::Attached => None,
            Kind::Pruned | Kind::Deleted | Kind::Erased | Kind::Backlog | Kind::Retiring => None,
            Kind::Asked | Kind::Answered | Kind::Task | Kind::Extracted => None,
            // The name of a model of the configuration: the engine takes no other one.
            Kind::Controlled => None,
        }
    }

    /// Tells whether an entry still holds words of a conversation.
    pub fn is_kept_in(record: &Record) -> bool {
        let is_said = Self::of(record.kind).is_some_and(|place| place != Self::PinnedText);
        is_said && matches!(record.bytes, Bytes::Kept(_))
    }
}

/// What is to go, to begin with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources {
    /// These entries.
    pub entries: BTreeSet<Seq>,
    /// All that is said in these segments.
    pub segments: BTreeSet<segment::Number>,
}

impl Sources {
    /// Makes sources of single entries.
    pub fn entries(entries: impl IntoIterator<Item = Seq>) -> Self {
        Self { entries: entries.into_iter().collect(), segments: BTreeSet::new() }
    }

    /// Makes sources of whole segments.
    pub fn segments(segments: impl IntoIterator<Item = segment::Number>) -> Self {
        Self { entries: BTreeSet::new(), segments: segments.into_iter().collect() }
    }

    fn hold(&self, record: &Record) -> bool {
        let in_segment = || self.segments.contains(&record.segment) && !record.kind.is_structural();
        self.entries.contains(&record.seq) || in_segment()
    }
}

/// Finds what was made of entries that are to go.
#[derive(Debug)]
pub struct Trace {
    state: State,
    sources: Sources,
    /// Everything that goes, by segment.
    going: BTreeMap<segment::Number, BTreeSet<Seq>>,
    going_entries: BTreeSet<Seq>,
    derived: BTreeSet<Seq>,
    /// The sessions that hold, or once held, something that goes. A summary of such a session goes.
    sessions: BTreeSet<Number>,
    /// The tasks of which something goes, or in which something was said that goes. What was flushed or kept of such a task
    /// goes, and what the agent said about it from then on.
    tasks: BTreeSet<TaskId>,
    /// The tasks whose description goes. All that was observed in them was made of it.
    described: BTreeSet<TaskId>,
    /// The entry before, if it is a command that goes.
    command: Option<Seq>,
    /// What the entry before is.
    before: Before,
    /// Titles from imports, and of which sessions.
    imported: Vec<(Seq, Number)>,
    /// Titles that hosts gave.
    titles: Vec<Candidate>,
    /// Whether the log does not fit together, so that nobody knows who saw what.
    is_lost: bool,
}

impl Trace {
    /// Begins in front of the log.
    pub fn new(scope: scope::Key, sources: Sources) -> Self {
        Self {
            state: State::empty(scope),
            sources,
            going: BTreeMap::new(),
            going_entries: BTreeSet::new(),
            derived: BTreeSet::new(),
            sessions: BTreeSet::new(),
            tasks: BTreeSet::new(),
            described: BTreeSet::new(),
            command: None,
            before: Before::Nothing,
            imported: Vec::new(),
            titles: Vec::new(),
            is_lost: false,
        }
    }

    /// Takes in the next entry of the log. Where the log does not fit together, a summary or title of any session is taken
    /// for one of what goes.
    pub fn read(&mut self, record: &Record) {
        let Ok(body) = record.body() else {
            self.is_lost = true;
            return;
        };
        self.follow(&body);
        self.is_lost |= evolve(&mut self.state, record).is_err();
        let is_source = self.sources.hold(record);
        if let Body::Renamed(renamed) = &body {
            self.note_host_title(record, renamed);
        }
        let is_derived = !is_source && self.is_derived(&body);
        if is_derived {
            self.derived.insert(record.seq);
        }
        let goes = is_source || is_derived;
        if goes {
            self.let_go(record.seq, record.segment);
            let session = self.session_of(record.segment);
            self.sessions.extend(session);
            match &body {
                Body::Observation(observing) => _ = self.tasks.insert(observing.task),
                // What is said while a task is open is about that.
                Body::Message(Role::User, _) => {
                    let open = session.and_then(|session| self.state.extras.open_task(session));
                    self.tasks.extend(open.map(|task| task.id));
                }
                _ => {}
            }
        }
        if let Body::Task(step) = &body {
            self.follow_words(record, step);
        }
        self.command = (goes && record.kind == Kind::Command).then_some(record.seq);
        self.before = Before::of(&body);
    }

    fn let_go(&mut self, seq: Seq, segment: segment::Number) {
        self.going.entry(segment).or_default().insert(seq);
        self.going_entries.insert(seq);
    }

    fn goes(&self, seq: Seq) -> bool {
        self.going_entries.contains(&seq)
    }

    /// Tells whether a session holds or held something that goes.
    fn held(&self, session: Number) -> bool {
        self.sessions.contains(&session) || (self.is_lost && !self.going.is_empty())
    }

    fn is_derived(&self, body: &Body) -> bool {
        match body {
            Body::Message(_, message) => message.carried_from.is_some_and(|from| self.held(from)),
            Body::Decision(decision) => self.goes(decision.about),
            // The command that gave it stands right before it.
            Body::Renamed(_) => self.command.is_some(),
            Body::Named(named) => self.held(named.session),
            Body::Observation(observing) => {
                self.described.contains(&observing.task) || self.observes(&observing.observation)
            }
            Body::WorkCommit(commit) => self.flushes(commit),
            Body::Compacted(commit) => self.compacts(commit),
            Body::Copied(copied) => self.goes(copied.message),
            Body::Remembered(remembered) => self.goes(remembered.source),
            Body::Command(_) | Body::Worded(_) | Body::Pinned(_) => false,
            Body::Opened(_) | Body::Sealed(_) | Body::Resumed(_) | Body::Forked(_) | Body::Split(_) => false,
            Body::Merged(_) | Body::Undone | Body::Redone | Body::Stepped(_) | Body::Cleared(_) => false,
            Body::Attached(_) | Body::Pruned(_) | Body::Deleted(_) | Body::Erased(_) | Body::Backlog(_) => {
                false
            }
            Body::Asked(_) | Body::Answered | Body::Controlled(_) | Body::Task(_) | Body::Extracted(_) => {
                false
            }
            Body::Retiring(_) | Body::Gone(_) => false,
        }
    }

    fn observes(&self, observation: &Observation) -> bool {
        let is_message = |node: &NodeId| matches!(node, NodeId::Message(seq) if self.goes(*seq));
        match observation {
            Observation::Note(note) => {
                !note.text.is_empty() && note.message.is_some_and(|seq| self.goes(seq))
            }
            Observation::Relations { edges } => edges
                .iter()
                .any(|edge| !edge.evidence.is_empty() && (is_message(&edge.from) || is_message(&edge.to))),
            Observation::FileRead { .. } | Observation::FileWrite { .. } => false,
            Observation::Command { .. } | Observation::Plan { .. } => false,
        }
    }

    fn flushes(&self, commit: &WorkCommit) -> bool {
        let mut lines = commit.narrative.iter().filter(|line| !line.text.is_empty());
        self.tasks.contains(&commit.task) || lines.any(|line| line.message.is_some_and(|seq| self.goes(seq)))
    }

    fn compacts(&self, commit: &CanonicalCommit) -> bool {
        let mut settled = commit.decisions.iter().filter(|kept| kept.answer.is_some());
        self.tasks.contains(&commit.task)
            || settled.any(|kept| kept.message.is_some_and(|seq| self.goes(seq)))
    }

    /// Words of a task stand before the step that names them, in the same append.
    fn follow_words(&mut self, record: &Record, step: &TaskStep) {
        let words = match &step.change {
            Change::Started { described } => {
                if self.goes(described.entry()) {
                    self.tasks.insert(TaskId(record.seq));
                    self.described.insert(TaskId(record.seq));
                }
                None
            }
            Change::Went { to } | Change::Reopened { to } | Change::Compacted { to, .. } => to.words(),
            Change::Flushed | Change::CameFrom { .. } => None,
        };
        let task = self.state.extras.tasks.get(&step.session).map(|task| task.id);
        let (Some(words), Some(task)) = (words, task) else { return };
        if self.goes(words) {
            self.tasks.insert(task);
        } else if self.tasks.contains(&task) {
            self.derived.insert(words);
            self.let_go(words, record.segment);
        }
    }

    /// Follows what goes from session to session. It is asked before the entry is folded.
    fn follow(&mut self, body: &Body) {
        let pair = |boundary: &Boundary| match boundary {
            Boundary::Created { from, to, .. } | Boundary::Resumed { from, to, .. } => Some([*from, *to]),
            Boundary::Cleared { .. } => None,
        };
        let joined = match body {
            Body::Forked(branch) => {
                let taken = branch.forked(&self.state.view(branch.parent));
                return self.inherit(branch.session, &taken);
            }
            Body::Split(branch) => {
                let (_, taken) = branch.split(&self.state.view(branch.parent));
                return self.inherit(branch.session, &taken);
            }
            Body::Resumed(resumed) => match &resumed.moved {
                Some(moved) => return self.inherit(resumed.session, &moved.taken),
                None => None,
            },
            Body::Merged(merged) => Some([merged.from, merged.into]),
            Body::Undone => self.state.boundaries.last().and_then(pair),
            Body::Redone => {
                let walk = self.state.extras.walk.as_ref();
                walk.and_then(|walk| walk.undone.as_ref()).and_then(|undone| pair(&undone.boundary))
            }
            _ => None,
        };
        if let Some(both) = joined.filter(|both| both.iter().any(|session| self.sessions.contains(session))) {
            self.sessions.extend(both);
        }
    }

    fn inherit(&mut self, session: Number, taken: &Spans) {
        let holds = taken.iter().any(|span| {
            let going = self.going.get(&span.segment);
            going.is_some_and(|going| going.range(span.first..=span.last).next().is_some())
        });
        if holds {
            self.sessions.insert(session);
        }
    }

    fn session_of(&self, segment: segment::Number) -> Option<Number> {
        let open = [self.state.open.as_ref(), self.state.side.as_ref()];
        open.into_iter().flatten().find(|open| open.number == segment).map(|open| open.session)
    }
}

#[cfg(test)]
mod tests;
