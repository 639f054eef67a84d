//! Prune: sessions are dropped, never the active one (P-8).

use super::{Decided, DecisionBuilder, Verdict, remember};
use crate::Timestamp;
use crate::decision::Action;
use crate::effect::Effect;
use crate::entry::{Body, Dropped, Seq};
use crate::memory;
use crate::notice::Notice;
use crate::policy::{Excess, Policy};
use crate::refusal::Refusal;
use crate::retention::RetireCheck;
use crate::segment;
use crate::session::{Number, Origin, Session, Status};
use crate::state::State;
use crate::task::assignment::Assignment;
use crate::title;
use crate::undo::Boundary;
use std::collections::BTreeSet;

/// Drops sessions that are past what is to be kept; the active one stays, whatever its age and size.
pub(super) fn retire(
    mut builder: DecisionBuilder<'_>,
    sessions: &[Number],
    notice: RetireCheck,
) -> Result<Decided, Refusal> {
    let session = builder.latest()?;
    let about = builder.note_command()?;
    let sessions = retirable(builder.state(), sessions, notice, builder.draft.effective_now());
    let count = drop_these(&mut builder, sessions)?;
    if count > 0 {
        builder.effects.push(Effect::Purge);
    }
    let notice = Notice::Pruned { sessions: count };
    builder.close(Verdict::commanded(Action::Command, "prune", session, notice).about(about))
}

/// Drops the sessions past the backlog's limit and tells how many.
pub(super) fn drop_excess(builder: &mut DecisionBuilder<'_>) -> Result<u32, Refusal> {
    let sessions = excess(builder.state(), builder.policy, Opening::Done);
    drop_these(builder, sessions)
}

/// Whether the session that may be one too many is there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// It is the latest one.
    Done,
    /// It will be opened, and the latest one left by that.
    Ahead,
}

/// Finds the listed sessions past the backlog's limit, in the order in which they go (P-8). The active session stays, and
/// so does what somebody asked to be kept. Imported sessions push nobody out.
pub(super) fn excess(state: &State, policy: &Policy, opening: Opening) -> Vec<Number> {
    let limit = policy.backlog.get();
    let ahead = match opening {
        Opening::Done => 0,
        Opening::Ahead => 1,
    };
    // Most scopes have room, and a list that is short enough needs no sorting.
    let listed = state.listed() + ahead;
    if listed <= limit {
        return Vec::new();
    }
    let active = match opening {
        Opening::Ahead => None,
        Opening::Done => state.latest(),
    };
    let is_imported = |session: &Session| session.origin == Origin::Import;
    let own = state.list().filter(|(_, session)| !is_imported(session)).count() + ahead;
    let may_go = |number: Number| Some(number) != active && !state.is_kept(number);
    let (mut imported, mut others) = (Vec::new(), Vec::new());
    for (number, session) in state.list().filter(|(number, _)| may_go(*number)) {
        if is_imported(session) { imported.push(number) } else { others.push(number) }
    }
    imported.sort_unstable();
    let own_excess = own.saturating_sub(limit);
    match policy.excess {
        Excess::Archive => {
            others.sort_by_key(|number| archive_order(state, opening, *number));
            others.truncate(own_excess);
            imported.truncate((listed - limit).saturating_sub(others.len()));
            imported.extend(others);
            imported
        }
        // 004: the oldest first, whatever it is. It knows no tasks: what is observed for an open one stays (C-7).
        Excess::Delete => {
            others.retain(|number| !holds_work(state, *number));
            others.sort_unstable();
            others.truncate(own_excess);
            others
        }
    }
}

/// Orders what is archived: imported sessions go before, the oldest first, work that was left open after them, and last
/// the session that was just left.
fn archive_order(state: &State, opening: Opening, number: Number) -> (bool, bool, Number) {
    let left = match opening {
        Opening::Ahead => state.latest(),
        Opening::Done => left(state),
    };
    (Some(number) == left, state.extras.open_task(number).is_some(), number)
}

/// Tells whether a session holds what was observed for an open task, its own or one that goes on elsewhere.
fn holds_work(state: &State, number: Number) -> bool {
    let observed = |task: &Assignment| task.steps > 0 || task.staged() > 0;
    state.extras.open_task(number).is_some_and(observed) || state.extras.worked_in(number).is_some()
}

/// Returns the session that was latest before the boundary that was just made.
fn left(state: &State) -> Option<Number> {
    match state.boundaries.last() {
        Some(Boundary::Created { from, .. } | Boundary::Resumed { from, .. }) => Some(*from),
        Some(Boundary::Cleared { .. }) | None => None,
    }
}

/// Finds the oldest sessions past a limit, archived ones too, for who asks for a clean-up.
pub fn prunable(state: &State, limit: usize) -> Vec<Number> {
    let may_go = |number: Number| Some(number) != state.latest() && !state.is_kept(number);
    let excess = state.all().count().saturating_sub(limit);
    let mut sessions: Vec<Number> = state.all().map(|(number, _)| number).filter(|n| may_go(*n)).collect();
    let at_work = |number: Number| state.extras.open_task(number).is_some();
    sessions.sort_by_key(|number| (at_work(*number), *number));
    sessions.truncate(excess);
    sessions
}

/// Finds which of some sessions may go by retention: never the active one, and none that is to be kept.
pub(super) fn retirable(
    state: &State,
    sessions: &[Number],
    notice: RetireCheck,
    now: Timestamp,
) -> Vec<Number> {
    let may_go = |number: Number| match notice {
        RetireCheck::AsOf(seen) => memory::end(state, number) <= Some(seen),
        RetireCheck::Yes => state.announced_deletion(number).is_some_and(|deletion| deletion.due <= now),
    };
    let stays = |number: Number| {
        Some(number) == state.latest()
            || state.live(number).is_none()
            || state.is_kept(number)
            || state.extras.worked_in(number).is_some()
    };
    sessions.iter().filter(|number| !stays(**number) && may_go(**number)).copied().collect()
}

/// Drops sessions, and keeps what is worth remembering of them in the same append (P-11).
fn drop_these(builder: &mut DecisionBuilder<'_>, sessions: Vec<Number>) -> Result<u32, Refusal> {
    if sessions.is_empty() {
        return Ok(0);
    }
    for extracted in builder.memories.iter().filter(|extracted| sessions.contains(&extracted.session)) {
        remember::keep(builder, extracted)?;
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
    let (mut needed, mut looked_at) = (BTreeSet::<segment::Number>::new(), BTreeSet::new());
    stays().for_each(|(_, session)| session.spans.add_segments(&mut needed, &mut looked_at));
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
    let named = sessions.iter().filter_map(|number| title::name(state, *number)).map(|name| name.entry);
    let erased = erased.chain(named);
    let pinned = |(_, session): (_, &std::sync::Arc<Session>)| session.pins.texts.clone();
    let still_pinned: BTreeSet<Seq> = stays().flat_map(pinned).collect();
    let texts: BTreeSet<Seq> =
        state.sessions.iter().filter(|(number, _)| goes.contains(number)).flat_map(pinned).collect();
    let erased = erased.chain(texts.difference(&still_pinned).copied()).collect();
    Dropped { sessions, segments, erased }
}
