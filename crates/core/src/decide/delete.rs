//! Delete: a session goes on request, never the active one (P-4).

use super::prune::what_goes;
use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::effect::Effect;
use crate::entry::Body;
use crate::memory::{self, MemoryEntry};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn delete(mut builder: DecisionBuilder<'_>, session: Number) -> Result<Decided, Refusal> {
    builder.live(session)?;
    let active = builder.latest()?;
    if active == session {
        return Err(Refusal::Active(session));
    }
    if let Some(at_work) = builder.state().extras.worked_in(session) {
        return Err(Refusal::HoldsWork { session, at_work });
    }
    let about = builder.note_command()?;
    let mut dropped = what_goes(builder.state(), vec![session]);
    // What is kept of tasks, and what is remembered, outlives a clean-up, and not a request to delete.
    let kept = dropped.sessions.iter().filter_map(|number| builder.state().extras.kept.get(number));
    dropped.erased.extend(kept.flatten());
    // What was merged into the session goes with it, and so does what is remembered of that.
    let told = |memory: &&MemoryEntry| dropped.sessions.contains(&memory.session);
    let memories: Vec<_> = memory::kept(builder.state()).filter(told).map(|memory| memory.entry).collect();
    dropped.erased.extend(memories);
    // Summaries that were carried over tell of it.
    dropped.erased.extend(builder.derived);
    dropped.erased.sort_unstable();
    dropped.erased.dedup();
    builder.drop_content(&dropped);
    builder.effects.push(Effect::Purge);
    builder.draft.push(Body::Deleted(dropped))?;
    let notice = Notice::Deleted { session };
    builder.close(Verdict::commanded(Action::Command, "delete", active, notice).about(about))
}
