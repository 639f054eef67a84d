//! The encoder, and what it was asked lately: each message is embedded once.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
        let key = self.key(text);
        if let Some(found) = self.known().find(key) {
            return Some(found);
        }
        let embedding = Arc::new(Encoder::builtin().ok()?.embed(text));
        self.known().keep(key, Arc::clone(&embedding));
        Some(embedding)
    }

    /// Tells whether it still has the embedding of a text.
    #[must_use]
    pub fn knows(&self, text: &str) -> bool {
        let key = self.key(text);
        self.known().find(key).is_some()
    }

    /// Takes the embedding of a text that was kept elsewhere, as [`Embedding::bytes`] gave it.
    pub fn learn(&self, text: &str, bytes: &[u8]) {
        if let Some(embedding) = Embedding::from_bytes(bytes) {
            let key = self.key(text);
            self.known().keep(key, Arc::new(embedding));
        }
    }

    /// A long text is known by what the encoder reads of it.
    fn key(&self, text: &str) -> u64 {
        self.keys.hash_one(segue_encoder::clipped(text))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // A thread that failed while it held the lock left at worst one embedding out.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what it found: some of it was erased.
    pub fn forget(&self) {
        *self.known() = Known::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_elsewhere_is_not_embedded_again() {
        let embedder = Embedder::default();
        let long = "数".repeat(2_000);
        for text in ["hello", &long] {
            assert!(!embedder.knows(text));
            embedder.learn(text, &[7; segue_encoder::DIMENSIONS]);
            assert!(embedder.knows(text) && embedder.knows(&segue_encoder::clipped(text)));
            assert_eq!(embedder.embed(text).map(|found| found.bytes()), Some([7; segue_encoder::DIMENSIONS]));
        }
        embedder.learn("damaged", &[7; 3]);
        embedder.forget();
        assert!(!embedder.knows("hello") && !embedder.knows("damaged"));
    }

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
