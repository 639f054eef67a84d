//! Weights of the sentence encoder, part 1 of 3: Universal Sentence Encoder multilingual 3 (Apache-2.0, by Google), packed by
//! `scripts/pack_encoder.py`.

/// The bytes, which `segue-encoder` reads.
pub const PART: &[u8] = include_bytes!("../part.bin");
