//! A map by number whose copies share what they have in common.
//!
//! A state is copied by every decision, and most decisions change one session of many. The entries stand in chunks, and a
//! copy of the map copies the chunk that it changes and pointers to the others. So a boundary in a scope of 100,000
//! sessions costs about as much as in one of ten.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// How many numbers fall into one chunk.
const CHUNK: u32 = 256;

/// A number that entries are found by.
pub trait Numbered: Copy + Ord {
    /// Returns the number.
    fn number(self) -> u32;
}

/// What stands in a map.
pub trait Entry {
    /// Tells whether it is listed; how many are is remembered for each chunk.
    fn is_listed(&self) -> bool;

    /// Tells whether it is still there, listed or not.
    fn is_live(&self) -> bool;
}

#[derive(Debug, Clone, Copy)]
struct Counts {
    listed: usize,
    live: usize,
}

#[derive(Debug)]
struct Chunk<K, V> {
    entries: BTreeMap<K, V>,
    /// How many entries are listed and live, once somebody asked.
    counts: OnceLock<Counts>,
}

impl<K: Clone, V: Clone> Clone for Chunk<K, V> {
    /// A copy is made to be changed.
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), counts: OnceLock::new() }
    }
}

impl<K, V: Entry> Chunk<K, V> {
    fn counts(&self) -> Counts {
        let count = |is: fn(&V) -> bool| self.entries.values().filter(|entry| is(entry)).count();
        *self.counts.get_or_init(|| Counts { listed: count(V::is_listed), live: count(V::is_live) })
    }
}

/// A map by number whose copies share what they have in common.
#[derive(Debug, Clone)]
pub struct SharedMap<K, V> {
    chunks: BTreeMap<u32, Arc<Chunk<K, V>>>,
    len: usize,
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self { chunks: BTreeMap::new(), len: 0 }
    }
}

impl<K: Numbered, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.chunks.values().zip(other.chunks.values());
        self.len == other.len
            && self.chunks.keys().eq(other.chunks.keys())
            && pairs.all(|(a, b)| Arc::ptr_eq(a, b) || a.entries == b.entries)
    }
}

impl<K: Numbered, V: Eq> Eq for SharedMap<K, V> {}

impl<K: Numbered, V: Clone + Entry> SharedMap<K, V> {
    /// Finds an entry.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.chunks.get(&(key.number() / CHUNK))?.entries.get(key)
    }

    /// Tells whether there is an entry.
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.chunks.values().flat_map(|chunk| chunk.entries.iter())
    }

    /// Returns the numbers in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the entries in order, without their numbers.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, entry)| entry)
    }

    /// Returns the entry with the highest number.
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Returns the entries that are listed, in order. Chunks without any are passed over.
    pub fn listed(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        let chunks = self.chunks.values().filter(|chunk| chunk.counts().listed > 0);
        chunks.flat_map(|chunk| chunk.entries.iter()).filter(|(_, entry)| entry.is_listed())
    }

    /// Counts the entries that are listed.
    pub fn listed_len(&self) -> usize {
        self.chunks.values().map(|chunk| chunk.counts().listed).sum()
    }

    /// Counts the entries that are live.
    pub fn live_len(&self) -> usize {
        self.chunks.values().map(|chunk| chunk.counts().live).sum()
    }

    /// Returns the entries of chunks that are not shared with an older copy: all that have changed are among them.
    pub fn unshared<'a>(&'a self, with: &'a Self) -> impl DoubleEndedIterator<Item = (&'a K, &'a V)> {
        let is_shared = |number: &u32, chunk: &Arc<Chunk<K, V>>| {
            with.chunks.get(number).is_some_and(|other| Arc::ptr_eq(other, chunk))
        };
        let chunks = self.chunks.iter().filter(move |(number, chunk)| !is_shared(number, chunk));
        chunks.flat_map(|(_, chunk)| chunk.entries.iter())
    }

    /// Finds an entry to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        // One that is not there must not copy a chunk.
        if !self.contains_key(key) {
            return None;
        }
        self.chunk_mut(*key).entries.get_mut(key)
    }

    /// Puts an entry in, and returns the one that was there.
    pub fn insert(&mut self, key: K, entry: V) -> Option<V> {
        let before = self.chunk_mut(key).entries.insert(key, entry);
        self.len += usize::from(before.is_none());
        before
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        if !self.contains_key(key) {
            return None;
        }
        let chunk = self.chunk_mut(*key);
        let removed = chunk.entries.remove(key);
        let is_empty = chunk.entries.is_empty();
        if is_empty {
            self.chunks.remove(&(key.number() / CHUNK));
        }
        self.len -= usize::from(removed.is_some());
        removed
    }

    /// Keeps the entries that something is true for.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        let gone: Vec<K> =
            self.iter().filter(|(key, entry)| !keep(key, entry)).map(|(key, _)| *key).collect();
        for key in gone {
            self.remove(&key);
        }
    }

    fn chunk_mut(&mut self, key: K) -> &mut Chunk<K, V> {
        let empty = || Arc::new(Chunk { entries: BTreeMap::new(), counts: OnceLock::new() });
        let chunk = Arc::make_mut(self.chunks.entry(key.number() / CHUNK).or_insert_with(empty));
        chunk.counts = OnceLock::new();
        chunk
    }
}

impl<K: Numbered, V: Clone + Entry> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        for (key, entry) in entries {
            map.insert(key, entry);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Flag(bool);

    impl Entry for Flag {
        fn is_listed(&self) -> bool {
            self.0
        }

        fn is_live(&self) -> bool {
            true
        }
    }

    impl Numbered for u32 {
        fn number(self) -> u32 {
            self
        }
    }

    proptest! {
        /// It does as a plain map does, and what is not shared with a copy covers all that changed.
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0u32..2_000, 0u8..4, any::<bool>()), 0..200)) {
            let (mut map, mut plain) = (SharedMap::default(), BTreeMap::new());
            for (key, verb, listed) in steps {
                let (before, plain_before) = (map.clone(), plain.clone());
                match verb {
                    0 | 1 => prop_assert_eq!(map.insert(key, Flag(listed)), plain.insert(key, Flag(listed))),
                    2 => prop_assert_eq!(map.remove(&key), plain.remove(&key)),
                    _ => {
                        if let Some(flag) = map.get_mut(&key) {
                            *flag = Flag(listed);
                        }
                        plain.entry(key).and_modify(|flag| *flag = Flag(listed));
                    }
                }
                prop_assert!(map.iter().eq(plain.iter()) && map.iter().rev().eq(plain.iter().rev()));
                prop_assert_eq!((map.len(), map.live_len()), (plain.len(), plain.len()));
                prop_assert_eq!(map.listed_len(), plain.values().filter(|flag| flag.0).count());
                prop_assert!(map.listed().eq(plain.iter().filter(|(_, flag)| flag.0)));
                prop_assert_eq!(map.last_key_value(), plain.last_key_value());
                prop_assert!(before.iter().eq(plain_before.iter()), "a copy stays as it was");
                let unshared: Vec<u32> = map.unshared(&before).map(|(key, _)| *key).collect();
                let changed = plain.iter().filter(|(key, flag)| plain_before.get(key) != Some(flag));
                prop_assert!(changed.map(|(key, _)| key).all(|key| unshared.contains(key)));
                prop_assert!(unshared.len() <= CHUNK as usize);
            }
        }
    }
}
