//! Somebody gives up: the reason, and a canonical commit of what there is.

use super::super::Desk;
use super::{Done, Ending, compact};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::canonical::CommitKind;
use crate::task::state::StateName;

pub(super) fn abort(desk: &mut Desk<'_>, session: Number, reason: &str) -> Result<Done, Refusal> {
    desk.may_go(session, StateName::Aborted)?;
    compact::end(desk, session, CommitKind::Abandoned, reason, Ending::ForGood)
}
