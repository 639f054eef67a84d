//! The states of scopes in memory, and whose turn it is in each.
//!
//! A state here is a guess that the store checks at the append: a wrong one costs a read, never a message.

use crate::mind::Mind;
use segue_core::scope::Key;
use segue_core::state::State;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

/// How many drawers there are; turns of scopes in different drawers do not wait for each other.
const DRAWERS: usize = 256;

/// The states that were used lately.
#[derive(Debug)]
pub(crate) struct States {
    drawers: Vec<Mutex<Drawer>>,
    hasher: RandomState,
}

/// The scopes that share a turn.
#[derive(Debug)]
pub(crate) struct Drawer {
    states: HashMap<Key, Seat>,
    states_max: usize,
}

/// A scope's state, and what is known about its latest session.
#[derive(Debug)]
struct Seat {
    state: Arc<State>,
    mind: Option<Box<Mind>>,
}

impl States {
    /// Makes room for some states.
    pub(crate) fn new(states_max: usize) -> Self {
        let states_max = states_max.div_ceil(DRAWERS).max(1);
        let drawer = || Mutex::new(Drawer { states: HashMap::new(), states_max });
        Self { drawers: std::iter::repeat_with(drawer).take(DRAWERS).collect(), hasher: RandomState::new() }
    }

    /// Waits for the scope's turn.
    pub(crate) async fn turn(&self, scope: &Key) -> MutexGuard<'_, Drawer> {
        self.drawer(scope).lock().await
    }

    /// Returns the state of a scope as it is known, unless somebody is at work there.
    pub(crate) fn known(&self, scope: &Key) -> Option<Arc<State>> {
        self.drawer(scope).try_lock().ok()?.get(scope)
    }

    /// Keeps a state that was read, unless somebody is at work there, who knows better.
    pub(crate) fn learn(&self, state: &Arc<State>) {
        if let Ok(mut drawer) = self.drawer(&state.scope).try_lock()
            && drawer.get(&state.scope).is_none_or(|known| known.head < state.head)
        {
            drawer.put(Arc::clone(state), None);
        }
    }

    fn drawer(&self, scope: &Key) -> &Mutex<Drawer> {
        &self.drawers[self.hasher.hash_one(scope) as usize % DRAWERS]
    }
}

impl Drawer {
    pub(crate) fn get(&self, scope: &Key) -> Option<Arc<State>> {
        self.states.get(scope).map(|seat| seat.state.clone())
    }

    /// Takes out what is known about the latest session.
    pub(crate) fn take_mind(&mut self, scope: &Key) -> Option<Box<Mind>> {
        self.states.get_mut(scope).and_then(|seat| seat.mind.take())
    }

    pub(crate) fn put(&mut self, state: Arc<State>, mind: Option<Box<Mind>>) {
        if self.states.len() >= self.states_max
            && !self.states.contains_key(&state.scope)
            && let Some(other) = self.states.keys().next().cloned()
        {
            // Any one will do: who comes back is read again.
            self.states.remove(&other);
        }
        self.states.insert(state.scope.clone(), Seat { state, mind });
    }

    pub(crate) fn forget(&mut self, scope: &Key) {
        self.states.remove(scope);
    }
}
