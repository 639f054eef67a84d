//! A session gets a control model of its own, or the usual one again (M-C2).

use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Controlled};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn control(mut desk: Desk<'_>, session: Number, model: Option<&str>) -> Result<Decided, Refusal> {
    desk.live(session)?;
    let about = desk.note_command()?;
    let model = model.map(str::to_owned);
    desk.draft.push(Body::Controlled(Controlled { session, model: model.clone() }))?;
    let notice = Notice::Controlled { session, model };
    desk.close(Verdict::commanded(Action::Command, "control", session, notice).about(about))
}
