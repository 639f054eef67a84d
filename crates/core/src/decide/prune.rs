//! Prune: the oldest sessions go, never the active one (P-8).

use super::{Decided, DecisionBuilder, Verdict, archive};
use crate::Timestamp;
use crate::decision::Action;
use crate::entry::{Body, Dropped, Seq};
use crate::notice::Notice;
use crate::policy::Backlog;
use crate::refusal::Refusal;
use crate::retention::Forewarned;
use crate::segment;
use crate::session::{Number, Session, Status};
use crate::state::State;
use crate::undo::Boundary;
use std::collections::BTreeSet;

pub(super) fn prune(mut builder: DecisionBuilder<'_>, keep: Backlog) -> Result<Decided, Refusal> {
    let session = builder.latest()?;
    let about = builder.note_command()?;
    let sessions = drop_oldest(&mut builder, keep, None)?;
    let notice = Notice::Pruned { sessions };
    builder.close(Verdict::commanded(Action::Command, "prune", session, notice).about(about))
}

/// Drops sessions that are past what is to be kept; the active one stays, whatever its age and size.
pub(super) fn retire(
    mut builder: DecisionBuilder<'_>,
    sessions: &[Number],
    notice: Forewarned,
) -> Result<Decided, Refusal> {
    let session = builder.latest()?;
    let about = builder.note_command()?;
    let sessions = retirable(builder.state(), sessions, notice, builder.draft.effective_now());
    let notice = Notice::Pruned { sessions: drop_these(&mut builder, sessions)? };
    builder.close(Verdict::commanded(Action::Command, "prune", session, notice).about(about))
}

/// Drops the oldest sessions past the limit and tells how many. The session to spare goes last: who has
/// just left it must be able to go back.
pub(super) fn drop_oldest(
    builder: &mut DecisionBuilder<'_>,
    keep: Backlog,
    spare: Option<Number>,
) -> Result<u32, Refusal> {
    let sessions = oldest(builder.state(), keep, 0, builder.state().latest(), spare);
    drop_these(builder, sessions)
}

/// Finds the oldest sessions past the limit, where so many are about to be opened. The active one stays.
pub(super) fn oldest(
    state: &State,
    keep: Backlog,
    opening: usize,
    active: Option<Number>,
    spare: Option<Number>,
) -> Vec<Number> {
    let mut live: Vec<Number> = state.list().map(|(number, _)| number).collect();
    let excess = (live.len() + opening).saturating_sub(keep.get());
    if excess == 0 {
        return Vec::new();
    }
    live.retain(|number| Some(*number) != active);
    // Work that was left open goes after what is over.
    let at_work = |number: &Number| state.extras.open_task(*number).is_some();
    // Who asked for a session to be kept loses it last: the backlog is a bound all the same (P-8).
    live.sort_by_key(|number| (Some(*number) == spare, state.is_kept(*number), at_work(number), *number));
    live.truncate(excess);
    live
}

/// Finds which of some sessions may go by retention: never the active one, and none that is to be kept.
pub(super) fn retirable(
    state: &State,
    sessions: &[Number],
    notice: Forewarned,
    now: Timestamp,
) -> Vec<Number> {
    let may_go = |number: Number| match notice {
        Forewarned::No => true,
        Forewarned::Yes => state.farewell(number).is_some_and(|farewell| farewell.due <= now),
    };
    let stays = |number: Number| {
        Some(number) == state.latest() || state.live(number).is_none() || state.is_kept(number)
    };
    sessions.iter().filter(|number| !stays(**number) && may_go(**number)).copied().collect()
}

/// Drops sessions, and keeps what is worth remembering of them in the same append (P-11).
fn drop_these(builder: &mut DecisionBuilder<'_>, sessions: Vec<Number>) -> Result<u32, Refusal> {
    if sessions.is_empty() {
        return Ok(0);
    }
    for extracted in builder.memories.iter().filter(|extracted| sessions.contains(&extracted.session)) {
        archive::keep(builder, extracted)?;
    }
    let state = builder.state();
    let dropped = what_goes(state, sessions);
    let count = dropped.sessions.iter().filter(|n| state.live(**n).is_some()).count();
    builder.drop_content(&dropped);
    builder.draft.push(Body::Pruned(dropped))?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Works out what goes with some sessions: what was merged into them, the segments that no other session
/// sees, the titles, and the texts that no other session was ever pinned to.
pub(super) fn what_goes(state: &State, mut sessions: Vec<Number>) -> Dropped {
    let mut goes: BTreeSet<Number> = sessions.iter().copied().collect();
    // A session can be merged into one that was itself merged later: follow until nothing is added.
    loop {
        let merged: Vec<Number> = state
            .sessions
            .iter()
            .filter(|(number, _)| !goes.contains(number))
            .filter(|(_, s)| matches!(s.status, Status::Merged { into } if goes.contains(&into)))
            .map(|(number, _)| *number)
            .collect();
        if merged.is_empty() {
            break;
        }
        goes.extend(&merged);
        sessions.extend(merged);
    }
    let stays = || state.sessions.iter().filter(|(number, _)| !goes.contains(number));
    let mut needed: BTreeSet<segment::Number> =
        stays().flat_map(|(_, s)| s.spans.iter().map(|span| span.segment)).collect();
    for boundary in state.boundaries.iter() {
        if let Boundary::Cleared { session, view, .. } = boundary
            && !goes.contains(session)
        {
            needed.extend(view.iter().map(|span| span.segment));
        }
    }
    let segments = state.segments.keys().filter(|number| !needed.contains(number)).copied().collect();
    let erased = sessions
        .iter()
        .filter_map(|number| state.sessions.get(number))
        .flat_map(|session| session.title_entries.iter().copied());
    let named = sessions.iter().filter_map(|number| state.extras.names.get(number)).map(|name| name.entry);
    let erased = erased.chain(named);
    let pinned = |(_, session): (_, &std::sync::Arc<Session>)| session.pins.texts.clone();
    let still_pinned: BTreeSet<Seq> = stays().flat_map(pinned).collect();
    let texts: BTreeSet<Seq> =
        state.sessions.iter().filter(|(number, _)| goes.contains(number)).flat_map(pinned).collect();
    let erased = erased.chain(texts.difference(&still_pinned).copied()).collect();
    Dropped { sessions, segments, erased }
}
