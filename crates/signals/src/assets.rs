//! What is shipped inside the library; see `assets/ATTRIBUTION.md`.

/// The word table that `scripts/distil_embeddings.py` makes.
pub(crate) static WORDS: &[u8] = include_bytes!("../assets/words.bin");

/// The table of English and Chinese words that `scripts/distil_kin.py` makes.
pub(crate) static KIN: &[u8] = include_bytes!("../assets/kin.bin");

/// The sentence encoder that `scripts/pack_encoder.py` packs.
pub(crate) static ENCODER: &[u8] = include_bytes!("../assets/encoder.bin");

/// The weights that `segue train` makes.
pub(crate) static WEIGHTS: &[u8] = include_bytes!("../assets/weights.bin");
