//! Somebody gives up: the reason, and a canonical commit of what there is.

use super::super::DecisionBuilder;
use super::{Done, Ending, compact};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::canonical::CommitKind;
use crate::task::state::StateName;

pub(super) fn abort(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    reason: &str,
) -> Result<Done, Refusal> {
    builder.may_go(session, StateName::Aborted)?;
    compact::end(builder, session, CommitKind::Abandoned, reason, Ending::ForGood)
}
