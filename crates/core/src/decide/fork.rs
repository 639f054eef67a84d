//! Fork: a new session that shares another one's past up to a message.

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Branched};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::span::{Cut, Side};

pub(super) fn fork(
    mut builder: DecisionBuilder<'_>,
    parent: Number,
    at: Option<&Cut>,
) -> Result<Decided, Refusal> {
    builder.live(parent)?;
    let from = builder.latest()?;
    if let Some(cut) = at
        && !builder.state().view(parent).hold(cut.segment, cut.message)
    {
        return Err(Refusal::NotInSession { session: parent, seq: cut.message });
    }
    let about = builder.note_command()?;
    builder.draft.seal()?;
    let session = builder.state().next_session;
    let whole = builder.state().view(parent);
    let taken = at.map_or(whole.clone(), |cut| whole.cut(cut, Side::Behind).0);
    let seq = at.map(|cut| cut.message);
    builder.draft.push(Body::Forked(Branched {
        session,
        id: builder.at.fresh,
        parent,
        from,
        at: seq,
        kept: None,
        taken,
    }))?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let notice = Notice::Forked { session, parent, at: seq, pruned, way_back };
    builder.close(Verdict::commanded(Action::Fork, "fork", session, notice).about(about))
}
