//! Remember: what is worth keeping is taken from a session, once (P-11). Forget: it goes again, on request.

use super::{Decided, DecisionBuilder};
use crate::effect::Effect;
use crate::entry::{Body, Erased, Seq};
use crate::memory::{self, Extracted, Extraction, Remembered, Taken};
use crate::refusal::Refusal;
use std::collections::BTreeSet;

/// Writes down what a session leaves behind, with the mark that it was looked at: both or neither.
pub(super) fn remember(mut builder: DecisionBuilder<'_>, extracted: &Extracted) -> Result<Decided, Refusal> {
    builder.live(extracted.session)?;
    let about = keep(&mut builder, extracted)?;
    Ok(builder.close_quietly(extracted.session, about))
}

/// What was said in a message that was looked at before is not taken a second time, whichever session shows it now.
pub(super) fn keep(builder: &mut DecisionBuilder<'_>, extracted: &Extracted) -> Result<Seq, Refusal> {
    let Extracted { session, upto, found } = extracted;
    let seen = memory::extracted(builder.state(), *session);
    if *upto <= seen {
        return Ok(seen);
    }
    let mut new: Vec<&Remembered> = found.iter().collect();
    if !new.is_empty() {
        let known: BTreeSet<Seq> = memory::all(builder.state()).map(|memory| memory.source).collect();
        new.retain(|remembered| !known.contains(&remembered.source));
    }
    let mut taken = Vec::new();
    for remembered in new {
        let entry = builder.draft.push(Body::Remembered(remembered.clone()))?;
        taken.push(Taken { entry, source: remembered.source });
    }
    builder.draft.push(Body::Extracted(Extraction { session: *session, upto: *upto, taken }))
}

/// Forgets one thing. Its words are erased, and that it was there can still be proved.
pub(super) fn forget(mut builder: DecisionBuilder<'_>, entry: Seq) -> Result<Decided, Refusal> {
    let session = builder.latest()?;
    if !memory::kept(builder.state()).any(|memory| memory.entry == entry) {
        return Err(Refusal::NotRemembered(entry));
    }
    let about = builder.draft.push(Body::Erased(Erased { entries: vec![entry] }))?;
    builder.erase([entry]);
    builder.effects.push(Effect::Purge);
    Ok(builder.close_quietly(session, about))
}
