//! The scopes that are kept in memory, each behind a lock of its own.

use super::lock;
use super::scope::Scope;
use segue_core::scope::Key;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How many scopes are kept in memory.
const SCOPES_MAX: usize = 256;

/// The slot of a scope; empty until the scope is read.
pub(super) type Slot = Arc<Mutex<Option<Scope>>>;

/// A cache of scopes; the one that was not used for longest makes room.
#[derive(Debug, Default)]
pub(super) struct ScopeCache(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    scopes: HashMap<Key, (Slot, u64)>,
    uses: u64,
}

impl ScopeCache {
    /// Finds the slot of a scope, and makes room for it.
    pub(super) fn slot(&self, key: &Key) -> Slot {
        let mut slots = lock(&self.0);
        slots.uses += 1;
        let now = slots.uses;
        if let Some((slot, used)) = slots.scopes.get_mut(key) {
            *used = now;
            return Arc::clone(slot);
        }
        if slots.scopes.len() >= SCOPES_MAX {
            // A slot that somebody holds stays: with two slots a scope would have two states.
            let free = slots.scopes.iter().filter(|(_, (slot, _))| Arc::strong_count(slot) == 1);
            let oldest = free.min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                slots.scopes.remove(&oldest);
            }
        }
        let slot = Slot::default();
        slots.scopes.insert(key.clone(), (Arc::clone(&slot), now));
        slot
    }

    /// Lists the scopes in the cache.
    pub(super) fn keys(&self) -> Vec<Key> {
        lock(&self.0).scopes.keys().cloned().collect()
    }
}
