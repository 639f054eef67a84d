//! Retire: sessions are announced before they go by themselves, and the person is told with the next message.

use super::{Decided, DecisionBuilder, Verdict};
use crate::Timestamp;
use crate::decision::Action;
use crate::entry::Body;
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::retention::{KeepChoice, Retiring, ScheduledDeletion, untold};
use crate::session::Number;

/// Announces what will go, and withdraws what will not. What does not fit any more is left out.
pub(super) fn announce(
    mut builder: DecisionBuilder<'_>,
    going: &[ScheduledDeletion],
    stays: &[Number],
    due: Timestamp,
) -> Result<Decided, Refusal> {
    let session = builder.latest()?;
    let state = builder.state();
    let goes = |going: &&ScheduledDeletion| {
        let number = going.session;
        number != session && state.live(number).is_some() && !state.is_kept(number)
    };
    let sessions: Vec<ScheduledDeletion> = going.iter().filter(goes).copied().collect();
    let known = |number: &&Number| state.extras.retiring.contains_key(number);
    let withdrawn: Vec<Number> = stays.iter().filter(known).copied().collect();
    let mut about = builder.state().head;
    if !withdrawn.is_empty() {
        about = builder.draft.push(Body::Retiring(Retiring::Withdrawn { sessions: withdrawn }))?;
    }
    if !sessions.is_empty() {
        about = builder.draft.push(Body::Retiring(Retiring::Announced { sessions, due }))?;
    }
    Ok(builder.close_quietly(session, about))
}

/// Tells the person, with what they are told anyway, what was announced since they spoke last.
pub(super) fn tell(builder: &mut DecisionBuilder<'_>) -> Result<(), Refusal> {
    if let Some(going) =
        untold(builder.state(), builder.draft.effective_now(), &builder.policy.segmented.time_zone)
    {
        builder.warning = Some(going);
        builder.draft.push(Body::Retiring(Retiring::Told))?;
    }
    Ok(())
}

/// Keeps a session, whatever its age; or lets it go when its time has come.
pub(super) fn wish(
    mut builder: DecisionBuilder<'_>,
    session: Number,
    wish: KeepChoice,
) -> Result<Decided, Refusal> {
    builder.live(session)?;
    let about = builder.note_command()?;
    let retiring = match wish {
        KeepChoice::Keep => Retiring::Kept { session },
        KeepChoice::Release => Retiring::Released { session },
    };
    if builder.state().is_kept(session) != (wish == KeepChoice::Keep) {
        builder.draft.push(Body::Retiring(retiring))?;
    }
    let active = builder.latest()?;
    let notice = Notice::Wished { session, wish };
    builder.close(Verdict::commanded(Action::Command, "keep", active, notice).about(about))
}
