//! Fork: a new session that shares another one's past up to a message.

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Branched};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::span::Cut;

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
    let seq = at.map(|cut| cut.message);
    let branch = Branched::new(session, builder.at.fresh, parent, from, at.cloned());
    builder.draft.push(Body::Forked(branch))?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let notice = Notice::Forked { session, parent, at: seq, pruned, way_back };
    builder.close(Verdict::commanded(Action::Fork, "fork", session, notice).about(about))
}
