//! Evidence about a message: what the words, the clock and the window say.
//!
//! A part of Segue. Programs add the crate `segue`; what is public here is for the other parts, and changes without notice.
//!
//! Text and numbers in, typed evidence out. Nothing here reads a clock, a file or the network, and the
//! same input gives the same evidence. What follows from evidence is decided elsewhere.
//!
//! | module | rule | evidence |
//! |---|---|---|
//! | [`judge`] | R-1, R-9 | does a message belong, or does a conversation begin |
//! | [`methods`] | R-2 | other ways to compare a message with a session |
//! | [`intent`] | R-3 | the explicit wish to start over |
//! | [`task_intent`] | C-9 | what a message is to the task |
//! | [`context`] | R-4 | how full the window is |
//! | [`health`] | R-7 | whether the conversation gets anywhere |
//! | [`memory_extraction`] | P-11 | what of a session is kept in memory |
//! | [`naming`] | R-11, R-14 | which conversation a message names |
//! | [`content`] | R-10 | images, files and code as text |
//! | [`eval`] | | how the judgement is measured |

pub mod answer;
mod assets;
mod code;
pub mod content;
pub mod context;
mod cues;
pub mod eval;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
mod hash;
pub mod health;
pub mod injection;
pub mod intent;
pub mod judge;
pub mod memory_extraction;
pub mod methods;
pub mod naming;
mod numerals;
pub mod objection;
pub mod periods;
mod phrases;
mod probability;
mod remark;
mod role;
pub mod semantic;
mod sentences;
mod session_number;
pub mod summary;
pub mod task_intent;
mod terms;
mod text;
mod vocabulary;
pub mod work;

pub use probability::Probability;
pub use remark::{KEPT_MAX, Remark};
pub use role::Role;

/// What `segue-lab` fits weights with. Not for hosts: it changes without notice.
#[cfg(feature = "lab")]
#[doc(hidden)]
pub mod internals {
    pub use crate::hash::SplitMix;
    /// What a message is to a task, as numbers.
    pub mod intent_features {
        pub use crate::task_intent::features::{BUCKETS, DENSE, IntentFeatures};
    }
    /// The model over these numbers.
    pub mod intents {
        pub use crate::task_intent::network::{INTENTS, IntentNetwork, softmax};
    }
}
