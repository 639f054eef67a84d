//! Word vectors in English and Chinese that recall compares words by; see `ATTRIBUTION.md`.

/// The table.
pub static BYTES: &[u8] = include_bytes!("../kin.bin");
