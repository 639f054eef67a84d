//! Remember: what is worth keeping is taken from a session, once (P-11). Forget: it goes again, on request.

use super::{Decided, DecisionBuilder};
use crate::effect::Effect;
use crate::entry::{Body, Erased, Seq};
use crate::memory::{Extracted, Extraction, Status, Taken};
use crate::refusal::Refusal;

/// Writes down what a session leaves behind, with the mark that it was looked at: both or neither.
pub(super) fn remember(mut builder: DecisionBuilder<'_>, extracted: &Extracted) -> Result<Decided, Refusal> {
    builder.live(extracted.session)?;
    let about = keep(&mut builder, extracted)?;
    Ok(builder.close_quietly(extracted.session, about))
}

/// What was said in a message that was looked at before is not taken a second time, whichever session shows it now.
pub(super) fn keep(builder: &mut DecisionBuilder<'_>, extracted: &Extracted) -> Result<Seq, Refusal> {
    let Extracted { session, upto, found } = extracted;
    let extras = builder.state().extras.clone();
    let seen = extras.extracted.get(session).copied().unwrap_or(Seq::ZERO);
    if *upto <= seen {
        return Ok(seen);
    }
    let known = |source: Seq| extras.memories.iter().any(|memory| memory.source == source);
    let mut taken = Vec::new();
    for remembered in found.iter().filter(|remembered| !known(remembered.source)) {
        let entry = builder.draft.push(Body::Remembered(remembered.clone()))?;
        taken.push(Taken { entry, source: remembered.source });
    }
    builder.draft.push(Body::Extracted(Extraction { session: *session, upto: *upto, taken }))
}

/// Forgets one thing. Its words are erased, and that it was there can still be proved.
pub(super) fn forget(mut builder: DecisionBuilder<'_>, entry: Seq) -> Result<Decided, Refusal> {
    let session = builder.latest()?;
    let mut memories = builder.state().extras.memories.iter();
    if !memories.any(|memory| memory.entry == entry && memory.status == Status::Kept) {
        return Err(Refusal::NotRemembered(entry));
    }
    let about = builder.draft.push(Body::Erased(Erased { entries: vec![entry] }))?;
    builder.erase([entry]);
    builder.effects.push(Effect::Purge);
    Ok(builder.close_quietly(session, about))
}
