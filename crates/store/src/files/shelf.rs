//! The shelf: the scopes that are in use, each behind a lock of its own.

use super::lock;
use super::scope::Scope;
use segue_core::scope::Key;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How many scopes are kept in memory.
const SCOPES_MAX: usize = 256;

/// A scope's place on the shelf; empty until the scope is read.
pub(super) type Place = Arc<Mutex<Option<Scope>>>;

/// The scopes in use.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<Places>);

#[derive(Debug, Default)]
struct Places {
    scopes: HashMap<Key, (Place, u64)>,
    uses: u64,
}

impl Shelf {
    /// Finds the place of a scope, and makes room for it.
    pub(super) fn place(&self, key: &Key) -> Place {
        let mut places = lock(&self.0);
        places.uses += 1;
        let now = places.uses;
        if let Some((place, used)) = places.scopes.get_mut(key) {
            *used = now;
            return Arc::clone(place);
        }
        if places.scopes.len() >= SCOPES_MAX {
            // A place that somebody holds stays: two places for one scope would be two truths.
            let free = places.scopes.iter().filter(|(_, (place, _))| Arc::strong_count(place) == 1);
            let oldest = free.min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                places.scopes.remove(&oldest);
            }
        }
        let place = Place::default();
        places.scopes.insert(key.clone(), (Arc::clone(&place), now));
        place
    }

    /// Lists the scopes that are on the shelf.
    pub(super) fn keys(&self) -> Vec<Key> {
        lock(&self.0).scopes.keys().cloned().collect()
    }
}
