//! A session gets a control model of its own, or the usual one again (M-C2).

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Controlled};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn control(
    mut builder: DecisionBuilder<'_>,
    session: Number,
    model: Option<&str>,
) -> Result<Decided, Refusal> {
    builder.live(session)?;
    let about = builder.note_command()?;
    let model = model.map(str::to_owned);
    builder.draft.push(Body::Controlled(Controlled { session, model: model.clone() }))?;
    let notice = Notice::Controlled { session, model };
    builder.close(Verdict::commanded(Action::Command, "control", session, notice).about(about))
}
