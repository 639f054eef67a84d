//! Master keys: they come from outside, and wrap the data keys.

use crate::error::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// How many bytes a key has.
pub(super) const KEY_BYTES: usize = 32;

/// A master key. Neither `Debug` nor an error shows it; its [id](MasterKey::id) names it.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; KEY_BYTES]>);

/// The text is no master key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}: a key is 32 bytes, written as 64 hexadecimal digits or as base64; `segue keys new` makes one")]
pub struct NotAKey(String);

impl MasterKey {
    /// Makes a key of its bytes.
    pub fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Makes a new key by chance.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        super::random(bytes.as_mut_slice())?;
        Ok(Self(bytes))
    }

    /// Names the key without telling it: sixteen hexadecimal digits.
    pub fn id(&self) -> String {
        let digest = blake3::derive_key("segue 2026-11-18 id of a master key", self.0.as_slice());
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Writes the key down, as [`MasterKey::from_str`] reads it. It is a secret.
    pub fn reveal(&self) -> Zeroizing<String> {
        Zeroizing::new(self.0.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({})", self.id())
    }
}

impl FromStr for MasterKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let text = text.trim();
        let bytes =
            unhex(text).map(Zeroizing::new).or_else(|| STANDARD.decode(text).ok().map(Zeroizing::new));
        let Some(bytes) = bytes else {
            return Err(NotAKey(format!("a text of {} characters is no key", text.chars().count())));
        };
        let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice());
        key.map(Self::new).map_err(|_| NotAKey(format!("the key has {} bytes", bytes.len())))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| text.as_bytes().chunks(2).map(byte).collect())?
}

/// The master keys that are given, the one to use first. The others open what was wrapped by them until the keys are
/// rotated.
#[derive(Debug, Clone)]
pub struct MasterKeys(Vec<MasterKey>);

impl MasterKeys {
    /// Takes a key, to be used, and others that were used before.
    pub fn new(first: MasterKey, earlier: impl IntoIterator<Item = MasterKey>) -> Self {
        Self(std::iter::once(first).chain(earlier).collect())
    }

    /// Returns the key that is used.
    pub fn first(&self) -> &MasterKey {
        // There is one by construction.
        &self.0[0]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &MasterKey> {
        self.0.iter()
    }
}

impl FromStr for MasterKeys {
    type Err = NotAKey;

    /// Reads the keys of a file or a variable: one a line, the one to use first. Lines that begin with `#` are comments.
    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys = lines.map(str::parse).collect::<Result<Vec<MasterKey>, _>>()?;
        if keys.is_empty() { Err(NotAKey("there is no key".to_owned())) } else { Ok(Self(keys)) }
    }
}
