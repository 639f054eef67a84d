//! Folds the entries of tasks into what a scope keeps in mind.

use crate::entry::{Change, Observing, Record, Seq, TaskStep};
use crate::segment;
use crate::session::Number;
use crate::span::Spans;
use crate::standing::Standing;
use crate::task::assignment::Assignment;
use crate::task::identity::TaskId;

/// Folds a step. Returns false if it is about a task that is not there.
pub(crate) fn step(standing: &mut Standing, entry: &Record, at: crate::Timestamp, step: &TaskStep) -> bool {
    let session = step.session;
    match &step.change {
        Change::Started { described } => {
            let task = Assignment::start(TaskId(entry.seq), entry.segment, *described, at);
            standing.tasks.insert(session, task);
            return true;
        }
        Change::CameFrom { from } => {
            let Some(task) = standing.tasks.remove(from) else { return false };
            standing.tasks.insert(session, task);
        }
        Change::Went { .. } | Change::Flushed | Change::Compacted { .. } | Change::Reopened { .. } => {}
    }
    let Some(task) = standing.tasks.get_mut(&session) else { return false };
    if let Some(commit) = step.flushed {
        task.flush(commit);
    }
    match &step.change {
        Change::Went { to } => {
            (task.stage, task.since, task.was) = (to.clone(), entry.seq, step.was.clone());
        }
        Change::Reopened { to } => {
            (task.stage, task.since, task.was) = (to.clone(), entry.seq, None);
            // What was kept of it stays in the log; it is kept once more when it ends.
            task.canonical = None;
        }
        Change::Compacted { to, commit, kept, before } => {
            (task.stage, task.since, task.canonical) = (to.clone(), entry.seq, Some(*commit));
            task.was = step.was.clone();
            let message = task.described.message();
            standing.canonical = Some(*commit);
            // Logs from before steps named each other are read through instead.
            standing.canonical_at = before.map(|_| entry.seq);
            standing.compactions = standing.compactions.saturating_add(1);
            standing.kept.entry(session).or_default().extend(kept);
            if let (Some(message), [_, copy, ..]) = (message, kept.as_slice()) {
                standing.copies.insert(message, *copy);
            }
        }
        Change::Started { .. } | Change::Flushed | Change::CameFrom { .. } => {}
    }
    true
}

/// Stages an observation.
pub(crate) fn observe(standing: &mut Standing, entry: &Record, observing: &Observing) {
    if let Some(task) = standing.tasks.get_mut(&observing.session).filter(|task| task.id == observing.task) {
        task.stage(entry.seq, entry.segment, &observing.observation);
    }
}

/// Forgets the tasks of a session that is gone. What is kept for good stays in the log.
pub(crate) fn forget(standing: &mut Standing, session: Number) {
    standing.tasks.remove(&session);
    if let Some(kept) = standing.kept.remove(&session) {
        standing.copies.retain(|_, copy| !kept.contains(copy));
    }
}

/// Forgets what was staged in segments that are gone.
pub(crate) fn drop_segments(standing: &mut Standing, gone: &[segment::Number]) {
    for task in standing.tasks.values_mut() {
        task.staged.retain(|segment, _| !gone.contains(segment));
    }
}

/// A session went into another one: so does its task, unless that one has an open task of its own.
pub(crate) fn join(standing: &mut Standing, from: Number, into: Number) {
    if let Some(kept) = standing.kept.remove(&from) {
        standing.kept.entry(into).or_default().extend(kept);
    }
    let Some(task) = standing.tasks.remove(&from) else { return };
    let mine = standing.tasks.get(&into);
    if mine.is_none_or(|mine| !mine.is_open() && (task.is_open() || task.id > mine.id)) {
        standing.tasks.insert(into, task);
    }
}

/// A part of a session's view went to another one: a task that was started in it goes along.
pub(crate) fn follow(standing: &mut Standing, from: Number, to: Number, taken: &Spans) {
    let goes = standing.tasks.get(&from).is_some_and(|task| taken.hold(task.segment, task.id.0));
    let room = standing.tasks.get(&to).is_none_or(|task| !task.is_open());
    if goes
        && room
        && let Some(task) = standing.tasks.remove(&from)
    {
        standing.tasks.insert(to, task);
    }
}

/// A resume was taken back: a task that was started since goes back too.
pub(crate) fn go_back(standing: &mut Standing, to: Number, from: Number, at: Seq) {
    let room = standing.tasks.get(&from).is_none_or(|task| !task.is_open());
    if room && let Some(task) = standing.tasks.remove(&to) {
        let home = if task.id.0 > at { from } else { to };
        standing.tasks.insert(home, task);
    }
}
