//! Keys of endpoints.

use std::fmt;

/// A key. It cannot be printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key, without the white space that comes along when it is pasted.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        assert_eq!(format!("{:?}", Some(Secret::new(" sk-123\n"))), "Some(***)");
        assert_eq!(Secret::new(" sk-123\n").reveal(), "sk-123");
    }
}
