//! Retire: sessions are announced before they go by themselves, and the person is told with the next message.

use super::{Decided, Desk, Verdict};
use crate::Timestamp;
use crate::decision::Action;
use crate::entry::Body;
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::retention::{Going, Retiring, Wish, untold};
use crate::session::Number;

/// Announces what will go, and withdraws what will not. What does not fit any more is left out.
pub(super) fn announce(
    mut desk: Desk<'_>,
    going: &[Going],
    stays: &[Number],
    due: Timestamp,
) -> Result<Decided, Refusal> {
    let session = desk.latest()?;
    let state = desk.state();
    let goes = |going: &&Going| {
        let number = going.session;
        number != session && state.live(number).is_some() && !state.is_kept(number)
    };
    let sessions: Vec<Going> = going.iter().filter(goes).copied().collect();
    let known = |number: &&Number| state.standing.retiring.contains_key(number);
    let withdrawn: Vec<Number> = stays.iter().filter(known).copied().collect();
    let mut about = desk.state().head;
    if !withdrawn.is_empty() {
        about = desk.draft.push(Body::Retiring(Retiring::Withdrawn { sessions: withdrawn }))?;
    }
    if !sessions.is_empty() {
        about = desk.draft.push(Body::Retiring(Retiring::Announced { sessions, due }))?;
    }
    Ok(desk.close_quietly(session, about))
}

/// Tells the person, with what they are told anyway, what was announced since they spoke last.
pub(super) fn tell(desk: &mut Desk<'_>) -> Result<(), Refusal> {
    if let Some(going) = untold(desk.state(), desk.draft.effective_now(), &desk.policy.segmented.time_zone) {
        desk.also = Some(going);
        desk.draft.push(Body::Retiring(Retiring::Told))?;
    }
    Ok(())
}

/// Keeps a session, whatever its age; or lets it go when its time has come.
pub(super) fn wish(mut desk: Desk<'_>, session: Number, wish: Wish) -> Result<Decided, Refusal> {
    desk.live(session)?;
    let about = desk.note_command()?;
    let retiring = match wish {
        Wish::Keep => Retiring::Kept { session },
        Wish::Release => Retiring::Released { session },
    };
    if desk.state().is_kept(session) != (wish == Wish::Keep) {
        desk.draft.push(Body::Retiring(retiring))?;
    }
    let active = desk.latest()?;
    let notice = Notice::Wished { session, wish };
    desk.close(Verdict::commanded(Action::Command, "keep", active, notice).about(about))
}
