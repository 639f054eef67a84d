//! Tokens: what an index holds of a term. They are keyed hashes, so that no word stands in an index, and those of one
//! scope say nothing about another.

use super::Term;
use segue_core::scope::Key;

/// The key of a store's tokens. It is random and stays with the store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenKey(pub [u8; 32]);

impl TokenKey {
    /// Returns the token of a term in a scope: sixteen hexadecimal digits.
    pub fn token(&self, scope: &Key, term: Term) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&term.get().to_le_bytes());
        hasher.update(scope.as_str().as_bytes());
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}
