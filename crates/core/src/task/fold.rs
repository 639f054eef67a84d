//! Folds the entries of tasks into what a scope keeps in mind.

use crate::entry::{Change, Observing, Record, Seq, TaskStep};
use crate::extras::ScopeExtras;
use crate::segment;
use crate::session::Number;
use crate::span::Spans;
use crate::task::assignment::Assignment;
use crate::task::identity::TaskId;

/// Folds a step. Returns false if it is about a task that is not there.
pub(crate) fn step(extras: &mut ScopeExtras, entry: &Record, at: crate::Timestamp, step: &TaskStep) -> bool {
    let session = step.session;
    match &step.change {
        Change::Started { described } => {
            let task = Assignment::start(TaskId(entry.seq), entry.segment, *described, at);
            extras.tasks.insert(session, task);
            return true;
        }
        Change::CameFrom { from } => {
            let Some(mut task) = extras.tasks.remove(from) else { return false };
            task.came_from.push(*from);
            extras.tasks.insert(session, task);
        }
        Change::Went { .. } | Change::Flushed | Change::Compacted { .. } | Change::Reopened { .. } => {}
    }
    let Some(task) = extras.tasks.get_mut(&session) else { return false };
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
            extras.canonical = Some(*commit);
            // Logs from before steps named each other are read through instead.
            extras.canonical_at = before.map(|_| entry.seq);
            extras.compactions = extras.compactions.saturating_add(1);
            keep(extras, session, kept);
            if let (Some(message), [_, copy, ..]) = (message, kept.as_slice()) {
                extras.copies.insert(message, *copy);
            }
        }
        Change::Started { .. } | Change::Flushed | Change::CameFrom { .. } => {}
    }
    true
}

/// Stages an observation.
pub(crate) fn observe(extras: &mut ScopeExtras, entry: &Record, observing: &Observing) {
    if let Some(task) = extras.tasks.get_mut(&observing.session).filter(|task| task.id == observing.task) {
        task.stage(entry.seq, entry.segment, &observing.observation);
    }
}

/// Tells whether anything is staged that was observed up to an entry.
pub(crate) fn has_staged(extras: &ScopeExtras, last: Seq) -> bool {
    extras.tasks.values().any(|task| task.first_staged().is_some_and(|first| first <= last))
}

/// Folds in that entries up to one were erased. What was staged by then counts as meaningful: nobody can tell any more, and
/// a fold of what is left must come to the same.
pub(crate) fn forget_staged(extras: &mut ScopeExtras, last: Seq) {
    each_staged(extras, |task| {
        for staged in task.staged.values_mut().filter(|staged| staged.first <= last) {
            staged.meaningful = staged.count;
        }
    });
}

/// Changes the tasks in which something is staged.
fn each_staged(extras: &mut ScopeExtras, mut change: impl FnMut(&mut Assignment)) {
    let staged = extras.tasks.iter().filter(|(_, task)| !task.staged.is_empty());
    for session in staged.map(|(session, _)| *session).collect::<Vec<Number>>() {
        if let Some(task) = extras.tasks.get_mut(&session) {
            change(task);
        }
    }
}

/// Adds entries to what is kept of a session's tasks.
fn keep(extras: &mut ScopeExtras, session: Number, entries: &[Seq]) {
    let mut kept = extras.kept.remove(&session).unwrap_or_default();
    kept.extend(entries);
    extras.kept.insert(session, kept);
}

/// Forgets the tasks of a session that is gone. What is kept for good stays in the log.
pub(crate) fn forget(extras: &mut ScopeExtras, session: Number) {
    extras.tasks.remove(&session);
    if let Some(kept) = extras.kept.remove(&session) {
        extras.copies.retain(|_, copy| !kept.contains(copy));
    }
}

/// Forgets what was staged in segments that are gone.
pub(crate) fn drop_segments(extras: &mut ScopeExtras, gone: &[segment::Number]) {
    each_staged(extras, |task| task.staged.retain(|segment, _| !gone.contains(segment)));
}

/// A session went into another one: so does its task, unless that one has an open task of its own.
pub(crate) fn join(extras: &mut ScopeExtras, from: Number, into: Number) {
    if let Some(kept) = extras.kept.remove(&from) {
        keep(extras, into, &kept);
    }
    let Some(task) = extras.tasks.remove(&from) else { return };
    let mine = extras.tasks.get(&into);
    if mine.is_none_or(|mine| !mine.is_open() && (task.is_open() || task.id > mine.id)) {
        extras.tasks.insert(into, task);
    }
}

/// A part of a session's view went to another one: a task that was started in it goes along.
pub(crate) fn follow(extras: &mut ScopeExtras, from: Number, to: Number, taken: &Spans) {
    let goes = extras.tasks.get(&from).is_some_and(|task| taken.hold(task.segment, task.id.0));
    let room = extras.tasks.get(&to).is_none_or(|task| !task.is_open());
    if goes
        && room
        && let Some(task) = extras.tasks.remove(&from)
    {
        extras.tasks.insert(to, task);
    }
}

/// A resume was taken back: a task that was started since goes back too.
pub(crate) fn go_back(extras: &mut ScopeExtras, to: Number, from: Number, at: Seq) {
    let room = extras.tasks.get(&from).is_none_or(|task| !task.is_open());
    if room && let Some(task) = extras.tasks.remove(&to) {
        let home = if task.id.0 > at { from } else { to };
        extras.tasks.insert(home, task);
    }
}
