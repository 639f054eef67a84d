//! Tables of numbers that ship with the library; see `assets/ATTRIBUTION.md` here and in the asset crates.

/// The models of the judgement; `crates/lab/scripts/judge` fits them.
pub(crate) static JUDGE: &[u8] = include_bytes!("../assets/judge.bin");

/// The weights of what a message is to a task, which `segue-lab train` makes.
pub(crate) static INTENTS: &[u8] = include_bytes!("../assets/intents.bin");

/// OpenAI's `o200k_base`; see `vocabulary.rs`.
pub(crate) static O200K_BASE: &[u8] = include_bytes!("../assets/o200k_base.bin");
