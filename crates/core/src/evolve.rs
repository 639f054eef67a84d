//! Evolve: folds an entry into the state of its scope.
//!
//! A pure function, and total over anything that a damaged disk may hold: what does not fit is an
//! error that names the entry, never a panic.

mod gone;
mod walk;

use crate::decision::Cause;
use crate::digest::Digest;
use crate::entry::{
    Asked, Backlog, Body, Branched, Kind, Merged, Opened, Record, Resumed, ResumedBy, Sealed, Seq, Source,
    Unreadable,
};
use crate::extras::{MESSAGES_SINCE_MAX, PendingQuestion, Rotation, ScopeExtras};
use crate::memory;
use crate::message::Role;
use crate::pins::{Pinned, Pins};
use crate::retention;
use crate::segment;
use crate::session::{Id, Number, Origin, Session, Status, Upkeep};
use crate::span::Spans;
use crate::state::State;
use crate::task::fold;
use crate::title;
use crate::undo::Boundary;
use gone::{drop_sessions, forget_entries, observe_gone};
use std::sync::Arc;

/// Why an entry does not fit the log before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The body cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The entry does not come after the head.
    #[error("entry {seq} does not come after entry {head}")]
    Order {
        /// The entry.
        seq: Seq,
        /// The last entry before it.
        head: Seq,
    },
    /// The entry was written to a segment that is not open.
    #[error("entry {seq} stands in segment {segment}, which is not open there")]
    Segment {
        /// The entry.
        seq: Seq,
        /// The segment.
        segment: segment::Number,
    },
    /// The entry names a session that is not there.
    #[error("entry {seq} names session {session}, which is not there")]
    Session {
        /// The entry.
        seq: Seq,
        /// The session.
        session: Number,
    },
    /// The entry moves a task that is not there.
    #[error("entry {seq} moves the task of session {session}, which has none")]
    Task {
        /// The entry.
        seq: Seq,
        /// The session.
        session: Number,
    },
    /// The entry takes back a boundary, and there is none.
    #[error("entry {seq} takes back a boundary, and there is none")]
    Boundary {
        /// The entry.
        seq: Seq,
    },
}

/// Folds an entry into the state.
///
/// Gaps in the numbers are fine: dropped segments leave them. Digests are not checked here, because a
/// fold must work on what is left of a log; `verify` checks them.
pub fn evolve(state: &mut State, entry: &Record) -> Result<(), FoldError> {
    fold_in(state, entry, &entry.body()?)
}

/// Folds an entry whose body is at hand: one that was just made need not be read back.
pub(crate) fn fold_in(state: &mut State, entry: &Record, body: &Body) -> Result<(), FoldError> {
    if entry.seq <= state.head {
        return Err(FoldError::Order { seq: entry.seq, head: state.head });
    }
    state.clock = state.clock.max(entry.at);
    state.head = entry.seq;
    if state.extras.walk.is_some() && walk::ends_with(entry, body) {
        extras_mut(state).walk = None;
    }
    match body {
        Body::Opened(opened) => open_new(state, entry, opened),
        Body::Resumed(resumed) => resume(state, entry, resumed),
        Body::Forked(branch) => branch_off(state, entry, branch, Origin::Fork),
        Body::Split(branch) => branch_off(state, entry, branch, Origin::Split),
        Body::Attached(of) => {
            session_mut(state, entry, of.session)?;
            state.side = Some(new_segment(state, entry, of.session));
            Ok(())
        }
        Body::Sealed(sealed) => seal(state, entry, sealed),
        Body::Pruned(dropped) | Body::Deleted(dropped) => {
            drop_sessions(state, dropped);
            Ok(())
        }
        Body::Renamed(renamed) => {
            session_mut(state, entry, renamed.session)?.take_title(&renamed.title, entry.seq);
            Ok(())
        }
        Body::Named(named) => {
            title::take_in(state, entry.seq, named);
            Ok(())
        }
        Body::Merged(merged) => merge(state, entry, merged),
        Body::Undone => walk::undo(state, entry),
        Body::Redone => walk::redo(state, entry),
        Body::Stepped(stepped) => walk::step(state, entry, stepped),
        Body::Backlog(backlog) => change_backlog(state, entry, backlog),
        Body::Cleared(of) => clear(state, entry, of.session),
        Body::Asked(asked) => ask(state, entry, asked),
        Body::Answered => {
            extras_mut(state).question = None;
            Ok(())
        }
        Body::Controlled(controlled) => {
            session_mut(state, entry, controlled.session)?;
            let models = &mut extras_mut(state).control_models;
            match &controlled.model {
                Some(model) => _ = models.insert(controlled.session, model.clone()),
                None => _ = models.remove(&controlled.session),
            }
            Ok(())
        }
        Body::Task(step) => {
            session_mut(state, entry, step.session)?;
            let clock = state.clock;
            let fits = fold::step(extras_mut(state), entry, clock, step);
            if fits { Ok(()) } else { Err(FoldError::Task { seq: entry.seq, session: step.session }) }
        }
        Body::Observation(observing) => {
            fold::observe(extras_mut(state), entry, observing);
            Ok(())
        }
        Body::Pinned(pinned) => pin(state, entry, pinned),
        Body::WorkCommit(_) | Body::Worded(_) | Body::Compacted(_) | Body::Copied(_) => Ok(()),
        Body::Extracted(extraction) => {
            memory::take_in(state, extraction);
            Ok(())
        }
        Body::Retiring(retiring) => {
            let clock = state.clock;
            retention::take_in(extras_mut(state), entry.seq, clock, retiring);
            Ok(())
        }
        Body::Erased(erased) => {
            forget_entries(state, &erased.entries);
            Ok(())
        }
        // Its words are gone; that it was observed still counts.
        Body::Gone(Kind::Observation) => {
            observe_gone(state, entry);
            Ok(())
        }
        Body::Message(..) | Body::Command(_) | Body::Decision(_) | Body::Remembered(_) | Body::Gone(_) => {
            Ok(())
        }
    }?;
    if !matches!(body, Body::Sealed(_)) {
        count(state, entry)?;
    }
    Ok(())
}

/// Adds the entry to the open segment that it was written to.
fn count(state: &mut State, entry: &Record) -> Result<(), FoldError> {
    let main = state.open.as_mut().filter(|open| open.number == entry.segment);
    let clock = state.clock;
    let Some(open) = main.or(state.side.as_mut().filter(|side| side.number == entry.segment)) else {
        return Err(FoldError::Segment { seq: entry.seq, segment: entry.segment });
    };
    open.digest = open.digest.with(entry);
    open.updated_at = clock;
    let Some(role) = entry.kind.role() else { return Ok(()) };
    open.messages += 1;
    state.messages += 1;
    if role == Role::User {
        open.last_user_at = Some(clock);
        count_user_message(state);
    }
    Ok(())
}

/// Whatever the user says next settles a question, an offer stands for some messages; and it is one more message since
/// the rotation.
///
/// Counting stops where nobody looks any more: an ordinary message must not change the extras, which are cloned and
/// written whole.
fn count_user_message(state: &mut State) {
    let extras = &state.extras;
    let counts =
        extras.rotation.as_ref().is_some_and(|rotation| rotation.messages_since < MESSAGES_SINCE_MAX);
    if extras.question.is_none() && !counts {
        return;
    }
    let extras = extras_mut(state);
    extras.question = extras.question.take().and_then(|question| {
        Some(PendingQuestion { messages_left: question.messages_left.checked_sub(1)?, ..question })
    });
    if let Some(rotation) = extras.rotation.as_mut().filter(|_| counts) {
        rotation.messages_since += 1;
    }
}

fn extras_mut(state: &mut State) -> &mut ScopeExtras {
    Arc::make_mut(&mut state.extras)
}

fn ask(state: &mut State, entry: &Record, asked: &Asked) -> Result<(), FoldError> {
    let misfit = FoldError::Segment { seq: entry.seq, segment: entry.segment };
    let open = state.open.as_ref().filter(|open| open.number == entry.segment).ok_or(misfit)?;
    // The question stands right behind the message that it is about.
    let before = open.messages.saturating_sub(1);
    let (segment, clock) = (open.number, state.clock);
    let extras = extras_mut(state);
    let Asked { held, cause, older, intent, manner, messages_left } = *asked;
    extras.question =
        Some(PendingQuestion { held, segment, before, cause, older, intent, manner, messages_left });
    extras.asked_at = Some(clock);
    Ok(())
}

fn resume(state: &mut State, entry: &Record, resumed: &Resumed) -> Result<(), FoldError> {
    open_segment(state, entry, resumed.session)?;
    let session = session_mut(state, entry, resumed.session)?;
    let taken = match &resumed.moved {
        Some(moved) => {
            session.spans = session.spans.union(&moved.taken);
            session_mut(state, entry, resumed.from)?.spans = moved.kept.clone();
            follow_task(state, resumed.from, resumed.session, &moved.taken);
            moved.taken.clone()
        }
        None => Spans::default(),
    };
    let (from, to, at) = (resumed.from, resumed.session, entry.seq);
    match resumed.by {
        ResumedBy::Choice => push_boundary(state, Boundary::Resumed { from, to, at, taken }),
        ResumedBy::ImportEnd => Arc::make_mut(&mut state.boundaries).forget_import(from),
    }
    Ok(())
}

fn session_mut<'a>(
    state: &'a mut State,
    entry: &Record,
    number: Number,
) -> Result<&'a mut Session, FoldError> {
    match Arc::make_mut(&mut state.sessions).get_mut(&number) {
        Some(session) => Ok(Arc::make_mut(session)),
        None => Err(FoldError::Session { seq: entry.seq, session: number }),
    }
}

fn push_boundary(state: &mut State, boundary: Boundary) {
    Arc::make_mut(&mut state.boundaries).push(boundary);
}

fn new_segment(state: &mut State, entry: &Record, session: Number) -> segment::Open {
    state.next_segment = state.next_segment.max(entry.segment.next());
    segment::Open {
        number: entry.segment,
        session,
        first: entry.seq,
        messages: 0,
        digest: Digest::of_segment(&state.scope, entry.segment),
        opened_at: state.clock,
        last_user_at: None,
        updated_at: state.clock,
        view_from: entry.seq,
        view_skips: 0,
    }
}

/// Opens a segment for the session that is latest now; the latest session is always listed.
fn open_segment(state: &mut State, entry: &Record, session: Number) -> Result<(), FoldError> {
    state.open = Some(new_segment(state, entry, session));
    set_listed(state, entry, session)
}

fn set_listed(state: &mut State, entry: &Record, number: Number) -> Result<(), FoldError> {
    let session =
        state.sessions.get(&number).ok_or(FoldError::Session { seq: entry.seq, session: number })?;
    if session.status == Status::Archived {
        session_mut(state, entry, number)?.status = Status::Live;
    }
    Ok(())
}

/// Folds in that sessions leave the list or come back to it. What is not there any more is passed over.
fn change_backlog(state: &mut State, entry: &Record, backlog: &Backlog) -> Result<(), FoldError> {
    let (sessions, from, to) = match backlog {
        Backlog::Archived { sessions, boundary } => {
            if let Some(boundary) = boundary {
                Arc::make_mut(&mut state.boundaries).note_archived(*boundary, sessions);
            }
            (sessions, Status::Live, Status::Archived)
        }
        Backlog::Restored { sessions } => (sessions, Status::Archived, Status::Live),
    };
    set_status(state, entry, sessions, from, to)
}

fn set_status(
    state: &mut State,
    entry: &Record,
    sessions: &[Number],
    from: Status,
    to: Status,
) -> Result<(), FoldError> {
    for number in sessions {
        if state.sessions.get(number).is_some_and(|session| session.status == from) {
            session_mut(state, entry, *number)?.status = to;
        }
    }
    Ok(())
}

fn create(state: &mut State, number: Number, id: Id, parent: Option<Number>, origin: Origin) {
    state.next_session = state.next_session.max(number.next());
    let session = Session {
        id,
        parent,
        origin,
        status: Status::Live,
        title: None,
        title_entries: Vec::new(),
        spans: Spans::default(),
        created_at: state.clock,
        updated_at: state.clock,
        pins: Pins::default(),
        upkeep: Upkeep::default(),
    };
    Arc::make_mut(&mut state.sessions).insert(number, Arc::new(session));
}

fn open_new(state: &mut State, entry: &Record, opened: &Opened) -> Result<(), FoldError> {
    let origin = match (opened.source, opened.parent) {
        (Source::Imported, _) => Origin::Import,
        (Source::Own, Some(_)) => Origin::New,
        (Source::Own, None) => Origin::First,
    };
    create(state, opened.session, opened.id, opened.parent, origin);
    open_segment(state, entry, opened.session)?;
    let Some(from) = opened.parent else { return Ok(()) };
    push_boundary(state, Boundary::Created { from, to: opened.session, at: entry.seq, archived: Vec::new() });
    if let Some(cause) = opened.cause {
        let clock = state.clock;
        let extras = extras_mut(state);
        extras.rotation = Some(Rotation { from, to: opened.session, cause, messages_since: 0 });
        if cause == Cause::Semantic {
            extras.shifted_at = Some(clock);
        }
    }
    Ok(())
}

fn branch_off(state: &mut State, entry: &Record, branch: &Branched, origin: Origin) -> Result<(), FoldError> {
    create(state, branch.session, branch.id, Some(branch.parent), origin);
    open_segment(state, entry, branch.session)?;
    let pins = state.sessions.get(&branch.parent).map(|parent| parent.pins.handed_on()).unwrap_or_default();
    if branch.taken.is_none() && !state.sessions.contains_key(&branch.parent) {
        return Err(FoldError::Session { seq: entry.seq, session: branch.parent });
    }
    let whole = state.view(branch.parent);
    let (kept, taken) = match origin {
        Origin::Split => branch.split(&whole),
        Origin::First | Origin::New | Origin::Fork | Origin::Import => (whole.clone(), branch.forked(&whole)),
    };
    let child = session_mut(state, entry, branch.session)?;
    (child.spans, child.pins) = (taken.clone(), pins);
    if origin == Origin::Split {
        session_mut(state, entry, branch.parent)?.spans = kept;
        follow_task(state, branch.parent, branch.session, &taken);
    }
    let (from, to, at) = (branch.from, branch.session, entry.seq);
    push_boundary(state, Boundary::Created { from, to, at, archived: Vec::new() });
    Ok(())
}

fn seal(state: &mut State, entry: &Record, sealed: &Sealed) -> Result<(), FoldError> {
    let is_main = state.open.as_ref().is_some_and(|open| open.number == entry.segment);
    if is_main {
        let_go(state);
    }
    let slot = if is_main { &mut state.open } else { &mut state.side };
    let misfit = FoldError::Segment { seq: entry.seq, segment: entry.segment };
    let open = slot.take_if(|open| open.number == entry.segment).ok_or(misfit)?;
    state.chain = sealed.chain;
    let (messages, digest, last) = (open.messages, sealed.digest, entry.seq);
    let record = segment::Sealed { first: open.first, last, messages, digest, sealed_at: state.clock };
    Arc::make_mut(&mut state.segments).insert(open.number, record);
    let tail = state.tail(&open);
    let session = session_mut(state, entry, open.session)?;
    session.spans = session.spans.with(tail);
    session.updated_at = session.updated_at.max(sealed.updated_at);
    Ok(())
}

/// Forgets the question and the rotation: the segment that they were about is over.
fn let_go(state: &mut State) {
    if state.extras.question.is_some() || state.extras.rotation.is_some() {
        let extras = extras_mut(state);
        (extras.question, extras.rotation) = (None, None);
    }
}

fn merge(state: &mut State, entry: &Record, merged: &Merged) -> Result<(), FoldError> {
    let from = session_mut(state, entry, merged.from)?;
    from.status = Status::Merged { into: merged.into };
    let spans = std::mem::take(&mut from.spans);
    let updated_at = from.updated_at;
    let into = session_mut(state, entry, merged.into)?;
    into.spans = into.spans.union(&spans);
    into.updated_at = into.updated_at.max(updated_at);
    move_latest(state, entry, merged.from, merged.into)?;
    join_extras(state, merged.from, merged.into);
    let boundaries = Arc::make_mut(&mut state.boundaries);
    boundaries.forget(merged.from);
    boundaries.forget(merged.into);
    Ok(())
}

fn pin(state: &mut State, entry: &Record, pinned: &Pinned) -> Result<(), FoldError> {
    let Some(number) = pinned.session() else { return Ok(()) };
    session_mut(state, entry, number)?.pins.take_in(pinned);
    Ok(())
}

fn join_extras(state: &mut State, from: Number, into: Number) {
    memory::join(state, from, into);
    if retention::knows(&state.extras, from) || retention::knows(&state.extras, into) {
        retention::join(extras_mut(state), from, into);
    }
    if state.extras.tasks.contains_key(&from) || state.extras.kept.contains_key(&from) {
        fold::join(extras_mut(state), from, into);
    }
}

fn follow_task(state: &mut State, from: Number, to: Number, taken: &Spans) {
    if state.extras.tasks.contains_key(&from) {
        fold::follow(extras_mut(state), from, to, taken);
    }
}

fn move_latest(state: &mut State, entry: &Record, from: Number, into: Number) -> Result<(), FoldError> {
    match state.open.as_mut().filter(|open| open.session == from) {
        Some(open) => open.session = into,
        None => return Ok(()),
    }
    set_listed(state, entry, into)
}

fn clear(state: &mut State, entry: &Record, number: Number) -> Result<(), FoldError> {
    let view = state.view(number);
    let session = session_mut(state, entry, number)?;
    session.spans = Spans::default();
    let misfit = FoldError::Segment { seq: entry.seq, segment: entry.segment };
    let open = state.open.as_mut().ok_or(misfit)?;
    (open.view_from, open.view_skips) = (entry.seq, open.messages);
    let_go(state);
    push_boundary(state, Boundary::Cleared { session: number, view });
    Ok(())
}
