//! Which sessions a notice tells of by their titles: those that people know. One that just began has nothing to be
//! called by yet.

use segue_core::notice::{Notice, QuestionTopic};
use segue_core::session::Number;

/// How many sessions of a list are named.
pub(super) const LISTED_MAX: usize = 3;

/// Returns the sessions whose titles help who reads a notice.
pub(crate) fn mentioned(notice: &Notice) -> Vec<Number> {
    match notice {
        Notice::StartedOver { previous, .. }
        | Notice::Overflowed { previous, .. }
        | Notice::Fresh { previous, .. } => vec![*previous],
        Notice::Shifted { previous, like, .. } | Notice::Expired { previous, like, .. } => {
            [*previous].into_iter().chain(*like).collect()
        }
        Notice::Question { stake: QuestionTopic::Unclear | QuestionTopic::Unfinished { .. }, .. } => {
            Vec::new()
        }
        Notice::Question { session, older, .. } => [*session].into_iter().chain(*older).collect(),
        Notice::Offer { older, .. } => older.iter().copied().collect(),
        Notice::BackTo { session, previous } => vec![*session, *previous],
        Notice::Rejoined { session, .. }
        | Notice::Resumed { session, .. }
        | Notice::Undone { session, .. }
        | Notice::Redone { session, .. }
        | Notice::Restored { session }
        | Notice::Renamed { session }
        | Notice::Wished { session, .. } => vec![*session],
        Notice::Forked { parent, .. } | Notice::Split { parent, .. } => vec![*parent],
        Notice::Merged { from, into } => vec![*from, *into],
        Notice::Going { sessions, .. } => sessions.iter().take(LISTED_MAX).copied().collect(),
        Notice::Started { .. }
        | Notice::Stays { .. }
        | Notice::Controlled { .. }
        | Notice::Pinned { .. }
        | Notice::Cleared { .. }
        | Notice::Deleted { .. }
        | Notice::Aside
        | Notice::Pruned { .. }
        | Notice::Erased { .. }
        | Notice::Unfinished
        | Notice::Task(_) => Vec::new(),
    }
}
