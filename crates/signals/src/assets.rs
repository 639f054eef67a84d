//! Tables of numbers that ship with the library; see `assets/ATTRIBUTION.md` here and in the asset crates.

/// The word table that `crates/lab/scripts/distil_embeddings.py` makes.
pub static WORDS: &[u8] = segue_asset_words::BYTES;

/// The weights that `segue-lab train` makes.
pub(crate) static WEIGHTS: &[u8] = include_bytes!("../assets/weights.bin");

/// The models of the judgement.
pub(crate) static JUDGE: &[u8] = include_bytes!("../assets/judge.bin");
