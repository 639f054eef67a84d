//! Evidence about a message: what the words, the clock and the window say.
#![doc = "TODO"]

mod assets;
pub mod boundary;
mod classifier;
pub mod content;
pub mod context;
mod embed;
mod evidence;
mod features;
mod hash;
pub mod health;
pub mod intent;
mod model;
mod probability;
mod profile;
pub mod semantic;
pub mod task_intent;
mod terms;
mod text;
pub mod time;
pub mod train;

pub use classifier::{Classifier, Judgement, LoadError};
pub use embed::TableError;
pub use model::{Model, ModelError};
pub use probability::Probability;
pub use profile::{Profile, Role};
