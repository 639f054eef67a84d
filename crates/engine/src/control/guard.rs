//! what speaks to the judge is not shown to it.

use segue_signals::injection::{Aim, addressee};

/// Tells whether a text speaks to the model that judges it.
pub(super) fn speaks_to_judge(text: &str) -> bool {
    match addressee(text) {
        Aim::Judge => true,
        Aim::Conversation => false,
    }
}
