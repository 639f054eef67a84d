//! What is shipped inside the library; see `assets/ATTRIBUTION.md`.

/// The word table that `scripts/distil_embeddings.py` makes.
pub(crate) static WORDS: &[u8] = include_bytes!("../assets/words.bin");

/// The weights that `segue train` makes.
pub(crate) static WEIGHTS: &[u8] = include_bytes!("../assets/weights.bin");
