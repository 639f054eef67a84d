//! The encoder, and what it was asked lately: each message is embedded once.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use segue_encoder::{Embedding, Encoder};

/// How many embeddings are kept: two megabytes of them.
const KEPT_MAX: usize = 4_096;

/// Embeds texts, and keeps what it found for a while.
#[derive(Debug, Default)]
pub struct Embedder {
    keys: RandomState,
    known: Mutex<Known>,
}

/// Two generations: what is asked for again moves into the younger one, and with the older one goes what nobody asked for.
#[derive(Debug, Default)]
struct Known {
    younger: HashMap<u64, Arc<Embedding>>,
    older: HashMap<u64, Arc<Embedding>>,
}

impl Known {
    fn find(&mut self, key: u64) -> Option<Arc<Embedding>> {
        if let Some(found) = self.younger.get(&key) {
            return Some(Arc::clone(found));
        }
        let found = self.older.remove(&key)?;
        self.keep(key, Arc::clone(&found));
        Some(found)
    }

    fn keep(&mut self, key: u64, embedding: Arc<Embedding>) {
        if self.younger.len() >= KEPT_MAX / 2 {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(key, embedding);
    }
}

impl Embedder {
    /// Tells where a text lies. Nothing if what is shipped is no encoder, which a test rules out.
    #[must_use]
    pub fn embed(&self, text: &str) -> Option<Arc<Embedding>> {
        let key = self.keys.hash_one(text);
        // A thread that failed while it held the lock left at worst one embedding out.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().find(key) {
            return Some(found);
        }
        let embedding = Arc::new(Encoder::builtin().ok()?.embed(text));
        known().keep(key, Arc::clone(&embedding));
        Some(embedding)
    }

    /// Forgets what it found: some of it was erased.
    pub fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Known::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_again_stays_and_the_rest_goes() {
        let embedding = Arc::new(Embedding::of(&[0.0; segue_encoder::DIMENSIONS]));
        let mut known = Known::default();
        for key in 0..KEPT_MAX as u64 * 3 {
            known.keep(key, Arc::clone(&embedding));
            assert!(known.find(0).is_some(), "{key}");
            assert!(known.younger.len() + known.older.len() <= KEPT_MAX);
        }
        assert!(known.find(1).is_none());
    }
}
