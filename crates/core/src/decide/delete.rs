//! Delete: a session goes on request, never the active one (P-4).

use super::prune::what_goes;
use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::Body;
use crate::memory::{Memory, Status};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn delete(mut desk: Desk<'_>, session: Number) -> Result<Decided, Refusal> {
    desk.live(session)?;
    let active = desk.latest()?;
    if active == session {
        return Err(Refusal::Active(session));
    }
    let about = desk.note_command()?;
    let mut dropped = what_goes(desk.state(), vec![session]);
    // What is kept of tasks, and what is remembered, outlives a clean-up, and not a request to delete.
    let kept = dropped.sessions.iter().filter_map(|number| desk.state().standing.kept.get(number));
    dropped.erased.extend(kept.flatten());
    let memories = &desk.state().standing.memories;
    let sessions = &dropped.sessions;
    // What was merged into the session goes with it, and so does what is remembered of that.
    let told = |memory: &&Memory| memory.status == Status::Kept && sessions.contains(&memory.session);
    dropped.erased.extend(memories.iter().filter(told).map(|memory| memory.entry));
    desk.lay_off(&dropped);
    desk.draft.push(Body::Deleted(dropped))?;
    let notice = Notice::Deleted { session };
    desk.close(Verdict::commanded(Action::Command, "delete", active, notice).about(about))
}
