//! What is there of a task becomes a canonical commit on the scope's chain (C-8). It includes what was not flushed,
//! and deletes nothing.

use super::super::DecisionBuilder;
use super::{Done, Ending};
use crate::entry::{Body, Change, Copied, Seq, TaskStep, Wording};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::assignment::Stage;
use crate::task::canonical::CommitKind;
use crate::task::compaction::KEPT_BYTES_MAX;
use crate::task::history::Reach;
use crate::task::notice::TaskNotice;
use crate::task::state::StateName;
use crate::task::text::clip;

/// Compacts once: a second time nothing is written, and the commit is the one that there is.
pub(super) fn compact(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    summary: &str,
    kind: Option<CommitKind>,
) -> Result<Done, Refusal> {
    let task = builder.task(session)?;
    if let Some(commit) = task.canonical {
        return Ok(Done::told(task.since, TaskNotice::Kept { session, commit }));
    }
    let usual = match task.state() {
        StateName::PendingComplete | StateName::Complete => CommitKind::Normal,
        StateName::Running | StateName::AwaitingUser | StateName::Interrupted => CommitKind::Abandoned,
        StateName::None | StateName::Aborted => CommitKind::Abandoned,
    };
    let kind = kind.unwrap_or(usual);
    let told = match (kind, summary.trim()) {
        // What the agent said when it finished is the summary, if nobody gives another one.
        (CommitKind::Normal, "") => builder.history(session, Reach::Whole)?.words.clone(),
        (_, summary) => summary.to_owned(),
    };
    end(builder, session, kind, &told, Ending::ForGood)
}

/// Ends a task with a canonical commit.
pub(super) fn end(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    kind: CommitKind,
    summary: &str,
    ending: Ending,
) -> Result<Done, Refusal> {
    let task = builder.task(session)?;
    let was = ending.was(&task.stage);
    let (is_open, stage, described) = (task.is_open(), task.stage.clone(), task.described);
    if is_open {
        builder.may_go(session, kind.ends_as())?;
    }
    let parent = builder.state().extras.canonical;
    let history = builder.history(session, Reach::Whole)?;
    let description = history.description.clone();
    let commit = history.compaction().clone().finish(kind, &clip(summary, KEPT_BYTES_MAX * 16), parent);
    let id = commit.id;
    let to = match kind.ends_as() {
        _ if !is_open => stage,
        StateName::Complete => Stage::Complete,
        _ if summary.trim().is_empty() => Stage::Aborted { reason: None },
        _ => Stage::Aborted { reason: Some(builder.worded(Wording::Reason, summary)?) },
    };
    let mut kept = vec![builder.draft.push(Body::Compacted(Box::new(commit)))?];
    if let Some(message) = described.message() {
        let text = clip(&description, KEPT_BYTES_MAX);
        kept.push(builder.draft.push(Body::Copied(Copied { message, text }))?);
    }
    let before = Some(builder.state().extras.canonical_at.unwrap_or(Seq::ZERO));
    let change = Change::Compacted { to, commit: id, kept, before };
    let step = builder.draft.push(Body::Task(TaskStep { was, ..TaskStep::new(session, change) }))?;
    let notice = match kind {
        CommitKind::Normal => TaskNotice::Completed { session, commit: id },
        _ => TaskNotice::GivenUp { session, commit: id },
    };
    Ok(Done::told(step, notice))
}
