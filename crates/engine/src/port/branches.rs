//! Branches inside one transcript: a message that was edited and sent again, an answer that was made anew. Programs keep
//! both and link each entry to the one before it; what counts is the branch that the file ends in.
//!
//! Only what is surely a rival of the branch that was followed is given up. Results of several calls are siblings too, and
//! where a damaged line has broken the chain nobody can tell: there everything stays, in the order of the file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// An entry that is linked to the one before it.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The record.
    pub record: usize,
    /// Whether the conversation can end in it.
    pub weight: Weight,
    /// What it is called.
    pub id: String,
    /// What the one before it is called.
    pub parent: Option<String>,
    /// What it competes for with its siblings, if it does; and as whom: two blocks of one message are no rivals.
    pub rival: Option<(&'static str, String)>,
}

/// What an entry is to the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Somebody said something.
    Talk,
    /// A mark, a counter, a command that the program itself has answered. It may hang anywhere.
    Aside,
}

/// Finds the records of branches that were given up.
pub(super) fn given_up(nodes: &[Node]) -> BTreeSet<usize> {
    let Some(leaf) = nodes.iter().rfind(|node| node.weight == Weight::Talk) else { return BTreeSet::new() };
    let parents: HashMap<&str, Option<&str>> =
        nodes.iter().map(|node| (node.id.as_str(), node.parent.as_deref())).collect();
    let mut followed = HashSet::new();
    let mut at = Some(leaf.id.as_str());
    while let Some(id) = at.filter(|id| followed.insert(*id)) {
        at = parents.get(id).copied().flatten();
    }
    let mut siblings: BTreeMap<(&str, &str), Vec<(&Node, &str)>> = BTreeMap::new();
    for node in nodes {
        if let (Some(parent), Some((class, rival))) = (&node.parent, &node.rival) {
            siblings.entry((parent, class)).or_default().push((node, rival));
        }
    }
    let mut gone: HashSet<&str> = HashSet::new();
    for children in siblings.values() {
        let Some((_, chosen)) = children.iter().find(|(node, _)| followed.contains(node.id.as_str())) else {
            continue;
        };
        let rivals = children.iter().filter(|(_, rival)| rival != chosen);
        gone.extend(rivals.map(|(node, _)| node.id.as_str()));
    }
    let mut records = BTreeSet::new();
    // An entry comes after the one that it is linked to.
    for node in nodes {
        let of_gone = node.parent.as_deref().is_some_and(|parent| gone.contains(parent));
        if (of_gone || gone.contains(node.id.as_str())) && !followed.contains(node.id.as_str()) {
            gone.insert(&node.id);
            records.insert(node.record);
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `id<parent!rival`, one a word; a node without a rival competes with nobody, and `~id` is an aside.
    fn check(nodes: &str, expected: &[usize]) {
        let node = |(at, word): (usize, &str)| {
            let (id, rest) = word.split_once('<').unwrap();
            let (parent, rival) = match rest.split_once('!') {
                Some((parent, rival)) => (parent, Some(("x", rival.to_owned()))),
                None => (rest, None),
            };
            let parent = Some(parent.to_owned()).filter(|parent| !parent.is_empty());
            let (id, weight) = match id.strip_prefix('~') {
                Some(id) => (id, Weight::Aside),
                None => (id, Weight::Talk),
            };
            Node { record: at + 1, weight, id: id.to_owned(), parent, rival }
        };
        let list: Vec<Node> = nodes.split_whitespace().enumerate().map(node).collect();
        assert_eq!(given_up(&list).into_iter().collect::<Vec<_>>(), expected, "{nodes}");
    }

    #[test]
    fn x12_what_was_given_up_is_told_from_what_stands_side_by_side() {
        check("", &[]);
        check("a<!a b<a!b c<b!c", &[]);
        // Edited and sent again.
        check("a<!a b<a!b c<b!c d<a!d e<d!e", &[2, 3]);
        // Gone back to the first one.
        check("a<!a b<a!b c<a!c d<c!d e<b!e", &[3, 4]);
        // Two results of one message, and what hangs at the one that was not gone on from.
        check("a<!m b<a!m r<a s<b c<s!n", &[]);
        // A line between is damaged: nobody can tell.
        check("a<!a b<a!b c<a!c x<lost!x", &[]);
        // A command that the program answered hangs at the very first entry: nothing is given up for it.
        check("~c<!c a<c!a b<a!b ~x<c ~y<x", &[]);
        // What was edited is given up all the same.
        check("a<!a b<a!b c<b!c d<a!d e<d!e ~x<c", &[2, 3, 6]);
        // A chain that bites its tail ends all the same.
        check("a<b!a b<a!b", &[]);
    }
}
