//! The live scopes of an engine, bounded by their number and by the bytes that they take.

use super::{Scope, ScopeCache};
use crate::error::Error;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use segue_core::state::State;
use segue_store::Store;
use std::collections::{HashMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// About how many bytes all scopes may take together.
const BYTES_MAX: usize = 64 << 20;

/// The live scopes. What is not used goes by the clock algorithm: it is read again when it is needed.
#[derive(Debug)]
pub(crate) struct Registry {
    live: Mutex<Live>,
    scopes_max: usize,
}

/// How well the scopes in memory serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheCounters {
    /// How many scopes are in memory.
    pub scopes: u64,
    /// About how many bytes they take.
    pub bytes: u64,
    /// How often a scope was there when it was needed.
    pub hits: u64,
    /// How often it was not, and was read.
    pub misses: u64,
    /// How many scopes had to go.
    pub evictions: u64,
}

#[derive(Debug, Default)]
struct Live {
    hits: u64,
    misses: u64,
    evictions: u64,
    slots: HashMap<Key, Slot>,
    /// The keys in the order in which the clock's hand meets them.
    order: VecDeque<Key>,
    bytes: usize,
}

#[derive(Debug)]
struct Slot {
    scope: Arc<Scope>,
    bytes: usize,
    /// Whether it was used since the hand was here.
    used: bool,
}

/// A scope whose turn it is. Others wait until this is dropped.
pub(crate) struct Entered<'a> {
    registry: &'a Registry,
    scope: Arc<Scope>,
    memory: OwnedMutexGuard<ScopeCache>,
}

impl Registry {
    /// Makes room for some scopes.
    pub(crate) fn new(scopes_max: usize) -> Self {
        Self { live: Mutex::default(), scopes_max: scopes_max.max(1) }
    }

    /// Returns a scope. It stays the same one as long as somebody holds it.
    pub(crate) fn get(&self, key: &Key) -> Arc<Scope> {
        let mut live = self.live();
        if let Some(slot) = live.slots.get_mut(key) {
            slot.used = true;
            let scope = Arc::clone(&slot.scope);
            live.hits += 1;
            return scope;
        }
        live.misses += 1;
        if live.slots.len() >= self.scopes_max {
            live.evict();
        }
        let scope = Arc::new(Scope::new(key.clone()));
        live.slots.insert(key.clone(), Slot { scope: Arc::clone(&scope), bytes: 0, used: true });
        live.order.push_back(key.clone());
        scope
    }

    /// Tells how well the scopes in memory serve.
    pub(crate) fn counters(&self) -> CacheCounters {
        let live = self.live();
        CacheCounters {
            scopes: live.slots.len() as u64,
            bytes: live.bytes as u64,
            hits: live.hits,
            misses: live.misses,
            evictions: live.evictions,
        }
    }

    /// Returns a scope if it is live.
    pub(super) fn find(&self, key: &Key) -> Option<Arc<Scope>> {
        self.live().slots.get(key).map(|slot| Arc::clone(&slot.scope))
    }

    /// Wakes the agents of all scopes.
    pub(super) fn wake_all(&self) {
        for slot in self.live().slots.values() {
            slot.scope.interrupts.wake();
        }
    }

    /// Waits for a scope's turn.
    pub(crate) async fn enter(&self, key: &Key) -> Entered<'_> {
        let scope = self.get(key);
        let memory = Arc::clone(&scope.memory).lock_owned().await;
        Entered { registry: self, scope, memory }
    }

    /// Takes down what a scope takes now, and makes room if all take too much.
    fn charge(&self, key: &Key, bytes: usize) {
        let mut live = self.live();
        let Some(slot) = live.slots.get_mut(key) else { return };
        let before = std::mem::replace(&mut slot.bytes, bytes);
        live.bytes = live.bytes.saturating_sub(before) + bytes;
        while live.bytes > BYTES_MAX && live.evict() == Evicted::One {}
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether something could go.
#[derive(Debug, PartialEq, Eq)]
enum Evicted {
    One,
    None,
}

impl Live {
    /// Lets go of a scope that was not used lately. One that an agent holds stays, and forgets what it can read again.
    fn evict(&mut self) -> Evicted {
        for _ in 0..2 * self.order.len() {
            let Some(key) = self.order.pop_front() else { break };
            let Some(slot) = self.slots.get_mut(&key) else { continue };
            if std::mem::take(&mut slot.used) {
                self.order.push_back(key);
            } else if Arc::strong_count(&slot.scope) == 1 {
                self.bytes = self.bytes.saturating_sub(slot.bytes);
                self.slots.remove(&key);
                self.evictions += 1;
                return Evicted::One;
            } else {
                let freed = match slot.scope.memory.try_lock() {
                    Ok(mut memory) => {
                        *memory = ScopeCache::default();
                        std::mem::take(&mut slot.bytes)
                    }
                    Err(_) => 0,
                };
                self.order.push_back(key);
                self.bytes = self.bytes.saturating_sub(freed);
                if freed > 0 {
                    return Evicted::One;
                }
            }
        }
        Evicted::None
    }
}

impl Entered<'_> {
    /// Returns the state as the store has it. If another one wrote meanwhile, all that was known is forgotten.
    pub(crate) async fn checked(&mut self, store: &dyn Store) -> Result<Option<Arc<State>>, Error> {
        let known = self.memory.state.as_ref().map(|state| state.head);
        if known.is_some() && store.head(&self.scope.key).await? == known {
            return Ok(self.memory.state.clone());
        }
        self.forget();
        self.load(store).await?;
        Ok(self.memory.state.clone())
    }

    /// Returns the state as it is known. The store checks it when something is appended to it: a wrong one costs a
    /// read.
    pub(crate) async fn state(&mut self, store: &dyn Store) -> Result<Arc<State>, Error> {
        if self.memory.state.is_none() {
            self.load(store).await?;
        }
        Ok(self.memory.state.clone().unwrap_or_else(|| Arc::new(State::empty(self.scope.key.clone()))))
    }

    async fn load(&mut self, store: &dyn Store) -> Result<(), Error> {
        self.memory.state = store.load(&self.scope.key).await?;
        if let Some(state) = &self.memory.state {
            self.scope.saw(state.head);
        }
        Ok(())
    }

    /// Takes the memory out while entries up to a head are appended. It is put back once they are durable; where they are
    /// not, or where nobody waits for it any more, everything is read again.
    pub(crate) fn take(&mut self, head: Seq) -> ScopeCache {
        self.scope.writes(head);
        std::mem::take(&mut *self.memory)
    }

    /// Puts the memory back as it is after an append.
    pub(crate) fn put(&mut self, memory: ScopeCache) {
        *self.memory = memory;
    }

    /// Forgets everything.
    pub(crate) fn forget(&mut self) {
        *self.memory = ScopeCache::default();
    }

    /// Wakes the agents that work in the scope.
    pub(crate) fn wake(&self) {
        self.scope.interrupts.wake();
    }
}

impl Deref for Entered<'_> {
    type Target = ScopeCache;

    fn deref(&self) -> &ScopeCache {
        &self.memory
    }
}

impl DerefMut for Entered<'_> {
    fn deref_mut(&mut self) -> &mut ScopeCache {
        &mut self.memory
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.registry.charge(&self.scope.key, self.memory.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: usize) -> Key {
        format!("agent:main:cli:direct:p{n}").parse().unwrap()
    }

    #[tokio::test]
    async fn the_number_of_scopes_is_bounded_and_those_in_use_stay() {
        let registry = Registry::new(4);
        let held = registry.get(&key(0));
        for n in 1..50 {
            registry.enter(&key(n)).await;
        }
        let (slots, order) = {
            let live = registry.live();
            (live.slots.len(), live.order.len())
        };
        assert!(slots <= 5 && slots == order, "{slots} {order}");
        assert!(Arc::ptr_eq(&held, &registry.get(&key(0))));
    }

    #[tokio::test]
    async fn what_was_used_lately_stays() {
        let registry = Registry::new(4);
        for n in 0..50 {
            registry.enter(&key(n)).await;
            registry.enter(&key(1000)).await;
        }
        assert!(registry.live().slots.contains_key(&key(1000)));
        assert!(!registry.live().slots.contains_key(&key(1)));
    }

    #[tokio::test]
    async fn turns_of_one_scope_wait_and_those_of_others_do_not() {
        let registry = Registry::new(4);
        let one = key(1);
        let first = registry.enter(&one).await;
        let mut second = Box::pin(registry.enter(&one));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(second.as_mut().poll(&mut context).is_pending());
        registry.enter(&key(2)).await;
        drop(first);
        second.await;
    }

    #[tokio::test]
    async fn the_bytes_of_all_scopes_are_bounded() {
        let registry = Registry::new(100);
        for n in 0..40 {
            drop(registry.get(&key(n)));
            registry.charge(&key(n), BYTES_MAX / 8);
        }
        let live = registry.live();
        assert!(live.bytes <= BYTES_MAX && live.slots.len() <= 8, "{} {}", live.bytes, live.slots.len());
    }
}
