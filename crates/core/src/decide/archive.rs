//! Archive: what is worth keeping is taken from a session, once (P-11). Forget: it goes again, on request.

use super::{Decided, Desk};
use crate::entry::{Body, Erased, Seq};
use crate::memory::{Archived, Kept, Status, Taken};
use crate::refusal::Refusal;

/// Writes down what a session leaves behind, with the mark that it was looked at: both or neither.
pub(super) fn archive(mut desk: Desk<'_>, kept: &Kept) -> Result<Decided, Refusal> {
    desk.live(kept.session)?;
    let about = keep(&mut desk, kept)?;
    Ok(desk.close_quietly(kept.session, about))
}

/// What was said in a message that was looked at before is not taken a second time, whichever session shows it now.
pub(super) fn keep(desk: &mut Desk<'_>, kept: &Kept) -> Result<Seq, Refusal> {
    let Kept { session, upto, found } = kept;
    let standing = desk.state().standing.clone();
    let seen = standing.archived.get(session).copied().unwrap_or(Seq::ZERO);
    if *upto <= seen {
        return Ok(seen);
    }
    let known = |source: Seq| standing.memories.iter().any(|memory| memory.source == source);
    let mut taken = Vec::new();
    for remembered in found.iter().filter(|remembered| !known(remembered.source)) {
        let entry = desk.draft.push(Body::Remembered(remembered.clone()))?;
        taken.push(Taken { entry, source: remembered.source });
    }
    desk.draft.push(Body::Archived(Archived { session: *session, upto: *upto, taken }))
}

/// Forgets one thing. Its words are erased, and that it was there can still be proved.
pub(super) fn forget(mut desk: Desk<'_>, entry: Seq) -> Result<Decided, Refusal> {
    let session = desk.latest()?;
    let mut memories = desk.state().standing.memories.iter();
    if !memories.any(|memory| memory.entry == entry && memory.status == Status::Kept) {
        return Err(Refusal::NotRemembered(entry));
    }
    let about = desk.draft.push(Body::Erased(Erased { entries: vec![entry] }))?;
    desk.erase.push(entry);
    Ok(desk.close_quietly(session, about))
}
