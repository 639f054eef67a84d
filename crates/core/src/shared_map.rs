//! A map by number whose copies share what they have in common.
//!
//! A state is copied by every decision, and most decisions change one session of many. The entries stand in the leaves of
//! a tree with a fan-out of 32 (a radix tree), and a change copies the nodes on the way to its leaf. So a boundary in a
//! scope of 100,000 sessions costs about as much as in one of ten.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// How many bits of a number tell the way at each node.
const BITS: u32 = 5;

/// How many children or entries a node can have.
const FAN_OUT: u32 = 1 << BITS;

/// A number that entries are found by.
pub trait Numbered: Copy + Ord + Send + Sync {
    /// Returns the number.
    fn number(self) -> u32;
}

/// What stands in a map.
pub trait Entry: Send + Sync {
    /// Tells whether it is listed; how many are is remembered for each node.
    fn is_listed(&self) -> bool;

    /// Tells whether it is still there, listed or not.
    fn is_live(&self) -> bool;
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    listed: usize,
    live: usize,
}

/// Children and entries are sorted by their number.
#[derive(Debug, Clone)]
enum Below<K, V> {
    Nodes(Vec<(u32, Arc<Node<K, V>>)>),
    Entries(Vec<(K, V)>),
}

#[derive(Debug)]
struct Node<K, V> {
    below: Below<K, V>,
    /// How many entries are listed and live, once somebody asked.
    counts: OnceLock<Counts>,
}

impl<K: Clone, V: Clone> Clone for Node<K, V> {
    /// A copy is made to be changed.
    fn clone(&self) -> Self {
        Self { below: self.below.clone(), counts: OnceLock::new() }
    }
}

type Entries<'a, K, V> = Box<dyn DoubleEndedIterator<Item = (&'a K, &'a V)> + Send + 'a>;

/// Tells which child of a node of this height leads to a number.
fn slot(number: u32, height: u32) -> u32 {
    (number >> (BITS * height)) % FAN_OUT
}

/// Tells whether a tree of this height has room for a number.
fn has_room(number: u32, height: u32) -> bool {
    u64::from(number) >> (BITS * (height + 1)) == 0
}

impl<K: Numbered, V: Clone + Entry> Node<K, V> {
    fn of(below: Below<K, V>) -> Arc<Self> {
        Arc::new(Self { below, counts: OnceLock::new() })
    }

    fn empty(height: u32) -> Arc<Self> {
        Self::of(if height == 0 { Below::Entries(Vec::new()) } else { Below::Nodes(Vec::new()) })
    }

    fn counts(&self) -> Counts {
        *self.counts.get_or_init(|| match &self.below {
            Below::Nodes(nodes) => {
                nodes.iter().map(|(_, node)| node.counts()).fold(Counts::default(), |all, one| Counts {
                    listed: all.listed + one.listed,
                    live: all.live + one.live,
                })
            }
            Below::Entries(entries) => Counts {
                listed: entries.iter().filter(|(_, entry)| entry.is_listed()).count(),
                live: entries.iter().filter(|(_, entry)| entry.is_live()).count(),
            },
        })
    }

    fn is_empty(&self) -> bool {
        match &self.below {
            Below::Nodes(nodes) => nodes.is_empty(),
            Below::Entries(entries) => entries.is_empty(),
        }
    }

    fn child(&self, slot: u32) -> Option<&Arc<Self>> {
        match &self.below {
            Below::Nodes(nodes) => {
                let at = nodes.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
                nodes.get(at).map(|(_, node)| node)
            }
            Below::Entries(_) => None,
        }
    }

    fn get(&self, key: &K, height: u32) -> Option<&V> {
        match &self.below {
            Below::Nodes(_) => self.child(slot(key.number(), height))?.get(key, height.saturating_sub(1)),
            Below::Entries(entries) => {
                let at = entries.binary_search_by_key(key, |(key, _)| *key).ok()?;
                entries.get(at).map(|(_, entry)| entry)
            }
        }
    }

    fn get_mut(&mut self, key: &K, height: u32) -> Option<&mut V> {
        self.counts = OnceLock::new();
        match &mut self.below {
            Below::Nodes(nodes) => {
                let slot = slot(key.number(), height);
                let at = nodes.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
                let (_, node) = nodes.get_mut(at)?;
                Arc::make_mut(node).get_mut(key, height.saturating_sub(1))
            }
            Below::Entries(entries) => {
                let at = entries.binary_search_by_key(key, |(key, _)| *key).ok()?;
                entries.get_mut(at).map(|(_, entry)| entry)
            }
        }
    }

    fn insert(&mut self, key: K, entry: V, height: u32) -> Option<V> {
        self.counts = OnceLock::new();
        match &mut self.below {
            Below::Nodes(nodes) => {
                let (slot, below) = (slot(key.number(), height), height.saturating_sub(1));
                let at = match nodes.binary_search_by_key(&slot, |(slot, _)| *slot) {
                    Ok(at) => at,
                    Err(at) => {
                        nodes.insert(at, (slot, Self::empty(below)));
                        at
                    }
                };
                let (_, node) = nodes.get_mut(at)?;
                Arc::make_mut(node).insert(key, entry, below)
            }
            Below::Entries(entries) => match entries.binary_search_by_key(&key, |(key, _)| *key) {
                Ok(at) => entries.get_mut(at).map(|(_, before)| std::mem::replace(before, entry)),
                Err(at) => {
                    entries.insert(at, (key, entry));
                    None
                }
            },
        }
    }

    /// Takes an entry out, and each node that is empty by that.
    fn remove(&mut self, key: &K, height: u32) -> Option<V> {
        self.counts = OnceLock::new();
        match &mut self.below {
            Below::Nodes(nodes) => {
                let slot = slot(key.number(), height);
                let at = nodes.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
                let (_, node) = nodes.get_mut(at)?;
                let removed = Arc::make_mut(node).remove(key, height.saturating_sub(1));
                if node.is_empty() {
                    nodes.remove(at);
                }
                removed
            }
            Below::Entries(entries) => {
                let at = entries.binary_search_by_key(key, |(key, _)| *key).ok()?;
                Some(entries.remove(at).1)
            }
        }
    }

    fn iter(&self) -> Entries<'_, K, V> {
        match &self.below {
            Below::Nodes(nodes) => Box::new(nodes.iter().flat_map(|(_, node)| node.iter())),
            Below::Entries(entries) => Box::new(entries.iter().map(|(key, entry)| (key, entry))),
        }
    }

    fn listed(&self) -> Entries<'_, K, V> {
        match &self.below {
            Below::Nodes(nodes) => {
                let nodes = nodes.iter().filter(|(_, node)| node.counts().listed > 0);
                Box::new(nodes.flat_map(|(_, node)| node.listed()))
            }
            Below::Entries(entries) => {
                let listed = entries.iter().filter(|(_, entry)| entry.is_listed());
                Box::new(listed.map(|(key, entry)| (key, entry)))
            }
        }
    }

    fn last(&self) -> Option<(&K, &V)> {
        match &self.below {
            Below::Nodes(nodes) => nodes.last().and_then(|(_, node)| node.last()),
            Below::Entries(entries) => entries.last().map(|(key, entry)| (key, entry)),
        }
    }
}

/// A tree, or a part of one: a node and its height.
struct Part<'a, K, V> {
    node: &'a Arc<Node<K, V>>,
    height: u32,
}

impl<'a, K: Numbered, V: Clone + Entry> Part<'a, K, V> {
    fn child(&self, slot: u32) -> Option<Self> {
        self.node.child(slot).map(|node| Self { node, height: self.height.saturating_sub(1) })
    }

    /// Returns the entries of leaves that another tree does not share. Both begin at the same number.
    fn unshared(self, mut with: Option<Self>) -> Entries<'a, K, V> {
        while let Some(other) = with.take_if(|other| other.height > self.height) {
            with = other.child(0);
        }
        if with.as_ref().is_some_and(|other| Arc::ptr_eq(other.node, self.node)) {
            return Box::new(std::iter::empty());
        }
        let Below::Nodes(nodes) = &self.node.below else { return self.node.iter() };
        let height = self.height.saturating_sub(1);
        Box::new(nodes.iter().flat_map(move |(slot, node)| {
            let beside = match &with {
                Some(other) if other.height == self.height => other.child(*slot),
                // The other tree is lower: it is all in our first child.
                Some(other) if *slot == 0 => Some(Self { node: other.node, height: other.height }),
                Some(_) | None => None,
            };
            Self { node, height }.unshared(beside)
        }))
    }
}

/// A map by number whose copies share what they have in common.
#[derive(Debug, Clone)]
pub struct SharedMap<K, V> {
    root: Option<Arc<Node<K, V>>>,
    /// How many levels are above the leaves.
    height: u32,
    len: usize,
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self { root: None, height: 0, len: 0 }
    }
}

impl<K: Numbered, V: PartialEq + Clone + Entry> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.unshared(other).all(|(key, entry)| other.get(key) == Some(entry))
    }
}

impl<K: Numbered, V: Eq + Clone + Entry> Eq for SharedMap<K, V> {}

impl<K: Numbered, V: PartialEq + Clone + Entry> SharedMap<K, V> {
    /// Returns the entries that an older copy has not, or has with something else in them.
    pub fn changed<'a>(&'a self, since: &'a Self) -> impl Iterator<Item = (&'a K, &'a V)> {
        self.unshared(since).filter(|(key, entry)| since.get(key) != Some(*entry))
    }

    /// Returns the numbers of an older copy that are not there any more.
    pub fn gone<'a>(&'a self, since: &'a Self) -> impl Iterator<Item = &'a K> {
        since.unshared(self).map(|(key, _)| key).filter(|key| !self.contains_key(key))
    }
}

impl<K: Numbered, V: Clone + Entry> SharedMap<K, V> {
    /// Finds an entry.
    pub fn get(&self, key: &K) -> Option<&V> {
        let root = self.root.as_ref().filter(|_| has_room(key.number(), self.height))?;
        root.get(key, self.height)
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
        self.root.iter().flat_map(|root| root.iter())
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
        self.root.as_ref().and_then(|root| root.last())
    }

    /// Returns the entries that are listed, in order. Nodes without any are passed over.
    pub fn listed(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.root.iter().flat_map(|root| root.listed())
    }

    /// Counts the entries that are listed.
    pub(crate) fn listed_len(&self) -> usize {
        self.root.as_ref().map_or(0, |root| root.counts().listed)
    }

    /// Counts the entries that are live.
    pub(crate) fn live_len(&self) -> usize {
        self.root.as_ref().map_or(0, |root| root.counts().live)
    }

    /// Returns the entries of leaves that are not shared with an older copy: all that have changed are among them.
    pub fn unshared<'a>(&'a self, with: &'a Self) -> impl DoubleEndedIterator<Item = (&'a K, &'a V)> {
        let with = with.part();
        self.part().into_iter().flat_map(move |part| {
            part.unshared(with.as_ref().map(|with| Part { node: with.node, height: with.height }))
        })
    }

    fn part(&self) -> Option<Part<'_, K, V>> {
        self.root.as_ref().map(|node| Part { node, height: self.height })
    }

    /// Finds an entry to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        // One that is not there must not copy a node.
        if !self.contains_key(key) {
            return None;
        }
        Arc::make_mut(self.root.as_mut()?).get_mut(key, self.height)
    }

    /// Puts an entry in, and returns the one that was there.
    pub fn insert(&mut self, key: K, entry: V) -> Option<V> {
        while !has_room(key.number(), self.height) {
            self.height += 1;
            self.root = self.root.take().map(|root| Node::of(Below::Nodes(vec![(0, root)])));
        }
        let root = self.root.get_or_insert_with(|| Node::empty(self.height));
        let before = Arc::make_mut(root).insert(key, entry, self.height);
        self.len += usize::from(before.is_none());
        before
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        if !self.contains_key(key) {
            return None;
        }
        let root = Arc::make_mut(self.root.as_mut()?);
        let removed = root.remove(key, self.height);
        self.len -= usize::from(removed.is_some());
        if self.len == 0 {
            *self = Self::default();
        }
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

impl<K: Numbered + Serialize, V: Clone + Entry + Serialize> Serialize for SharedMap<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter())
    }
}

impl<'de, K: Numbered + Deserialize<'de>, V: Clone + Entry + Deserialize<'de>> Deserialize<'de>
    for SharedMap<K, V>
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        BTreeMap::<K, V>::deserialize(from).map(|entries| entries.into_iter().collect())
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
        fn it_is_a_map(steps in prop::collection::vec((prop_oneof![0u32..70, 0u32..2_000, any::<u32>()], 0u8..4, any::<bool>()), 0..200)) {
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
                prop_assert!(unshared.len() <= FAN_OUT as usize);
                prop_assert_eq!(map == before, plain == plain_before);
            }
        }
    }
}
