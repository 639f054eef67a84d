//! Split from here: the latest session keeps the part before a message, a new one gets the rest.

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Branched};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::span::{Cut, Side};

pub(super) fn split(mut builder: DecisionBuilder<'_>, at: &Cut) -> Result<Decided, Refusal> {
    let parent = builder.latest()?;
    if !builder.state().view(parent).hold(at.segment, at.message) {
        return Err(Refusal::NotInSession { session: parent, seq: at.message });
    }
    let about = builder.note_command()?;
    builder.draft.seal()?;
    let session = builder.state().next_session;
    let (kept, _) = builder.state().view(parent).cut(at, Side::InFront);
    if kept.messages() == 0 {
        return Err(Refusal::NothingBefore(at.message));
    }
    let branch = Branched::new(session, builder.at.fresh, parent, parent, Some(at.clone()));
    builder.draft.push(Body::Split(branch))?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let notice = Notice::Split { session, parent, at: at.message, pruned, way_back };
    builder.close(Verdict::commanded(Action::Split, "split", session, notice).about(about))
}
