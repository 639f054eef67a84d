//! Word vectors in sixteen languages, as a table of numbers; see `ATTRIBUTION.md`.

/// The table.
pub static BYTES: &[u8] = include_bytes!("../words.bin");
