//! Fork: a new session that shares another one's past up to a message.

use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Branched};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::span::{Cut, Side};

pub(super) fn fork(mut desk: Desk<'_>, parent: Number, at: Option<&Cut>) -> Result<Decided, Refusal> {
    desk.live(parent)?;
    let from = desk.latest()?;
    if let Some(cut) = at
        && !desk.state().view(parent).hold(cut.segment, cut.message)
    {
        return Err(Refusal::NotInSession { session: parent, seq: cut.message });
    }
    let about = desk.note_command()?;
    desk.draft.seal()?;
    let session = desk.state().next_session;
    let whole = desk.state().view(parent);
    let taken = at.map_or(whole.clone(), |cut| whole.cut(cut, Side::Behind).0);
    let seq = at.map(|cut| cut.message);
    desk.draft.push(Body::Forked(Branched {
        session,
        id: desk.at.fresh,
        parent,
        from,
        at: seq,
        kept: None,
        taken,
    }))?;
    let (pruned, way_back) = desk.keep_backlog()?;
    let notice = Notice::Forked { session, parent, at: seq, pruned, way_back };
    desk.close(Verdict::commanded(Action::Fork, "fork", session, notice).about(about))
}
