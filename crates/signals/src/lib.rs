//! Evidence about a message: what the words, the clock and the window say.
//!
//! Text and numbers in, typed evidence out. Nothing here reads a clock, a file or the network, and the
//! same input gives the same evidence. What follows from evidence is decided elsewhere.
//!
//! | module | rule | evidence |
//! |---|---|---|
//! | [`Classifier`] | R-1, R-2, R-9 | does a message belong; does a conversation or a task begin |
//! | [`intent`] | R-3 | the explicit wish to start over |
//! | [`task_intent`] | C-9 | what a message is to the task |
//! | [`context`] | R-4 | how full the window is |
//! | [`time`] | R-6 | how long the silence was, and whether a day ended |
//! | [`health`] | R-7 | whether the conversation gets anywhere |
//! | [`memory_extraction`] | P-11 | what of a session is kept in memory |
//! | [`naming`] | R-11, R-14 | which conversation a message names |
//! | [`content`] | R-10 | images, files and code as text |
//! | [`eval`] | | how the classifier is measured |

pub mod answer;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
mod assets;
pub mod boundary;
mod classifier;
mod code;
pub mod content;
pub mod context;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
mod embed;
pub mod eval;
mod evidence;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
mod features;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
mod hash;
pub mod health;
pub mod injection;
pub mod intent;
pub mod judge;
pub mod memory_extraction;
pub mod methods;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
mod model;
pub mod naming;
mod numerals;
pub mod objection;
pub mod periods;
mod phrases;
mod probability;
mod profile;
mod remark;
pub mod semantic;
mod sentences;
pub mod summary;
pub mod task_intent;
mod terms;
#[cfg_attr(feature = "lab", allow(missing_docs, reason = "reached by segue-lab alone"))]
mod text;
pub mod time;
pub mod work;

pub use classifier::{Classifier, Judgement, LoadError};
pub use embed::TableError;
pub use model::{Model, ModelError};
pub use probability::Probability;
pub use profile::{Profile, Role};
pub use remark::{KEPT_MAX, Remark};

/// What `segue-lab` fits weights with. Not for hosts: it changes without notice.
#[cfg(feature = "lab")]
#[doc(hidden)]
pub mod internals {
    pub use crate::assets::WORDS;
    pub use crate::embed::Table;
    pub use crate::features::{DENSE, Features, Reader};
    pub use crate::hash::{SplitMix, WordHash};
    pub use crate::model::{intents, network};
    /// What a message is to a task, as numbers.
    pub mod intent_features {
        pub use crate::task_intent::features::{BUCKETS, DENSE, IntentFeatures};
    }
    pub use crate::text::Window;
}
