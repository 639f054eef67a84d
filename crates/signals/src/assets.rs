//! Tables of numbers that ship with the library; see `assets/ATTRIBUTION.md` here and in the asset crates.

/// The word table that `crates/lab/scripts/distil_embeddings.py` makes.
pub static WORDS: &[u8] = segue_asset_words::BYTES;

/// The table of English and Chinese words that `crates/lab/scripts/distil_kin.py` makes.
pub(crate) static KIN: &[u8] = segue_asset_kin::BYTES;

/// The sentence encoder that `crates/lab/scripts/pack_encoder.py` packs; packaged crates leave it out (`build.rs`).
#[cfg(encoder_asset)]
pub(crate) static ENCODER: Option<&[u8]> = Some(include_bytes!("../assets/encoder.bin"));
#[cfg(not(encoder_asset))]
pub(crate) static ENCODER: Option<&[u8]> = None;

/// The weights that `segue-lab train` makes.
pub(crate) static WEIGHTS: &[u8] = include_bytes!("../assets/weights.bin");

/// The models of the judgement.
pub(crate) static JUDGE: &[u8] = include_bytes!("../assets/judge.bin");
