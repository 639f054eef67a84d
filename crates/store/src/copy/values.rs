//! Copying values. What was brought to a target is noted there, so that what the source deletes later goes there, too, and what
//! somebody else has put there stays.

use super::PAGE;
use crate::error::Error;
use crate::store::Store;
use crate::values::Value;
use segue_core::Timestamp;
use segue_core::digest::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// Where the target notes what was brought to it, and how many values a note is for.
const NAMESPACE: &str = "segue.copied";
const NOTED_MAX: usize = 500_000;

/// What becomes of values that only the target has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extra {
    /// They stay.
    Keep,
    /// Those that an earlier copy has brought go: the source has deleted them. A token that was revoked there must not work in
    /// the copy.
    DeleteBrought,
}

/// What was done with values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Values {
    /// Written or deleted in the target.
    pub changed: u64,
    /// Only in the target, and left there: no copy has brought them.
    pub foreign: u64,
}

/// The first bytes of a digest of a value's name.
type Name = [u8; 8];

fn name(namespace: &str, key: &str) -> Name {
    let digest = Digest::of_body(format!("{namespace} {key}").as_bytes()).0;
    let mut name = Name::default();
    name.copy_from_slice(&digest[..8]);
    name
}

/// Copies the values of some namespaces.
pub async fn values(
    source: &dyn Store,
    target: &dyn Store,
    namespaces: &[&str],
    extra: Extra,
    now: Timestamp,
) -> Result<Values, Error> {
    let mut done = Values::default();
    for namespace in namespaces {
        let ours = all_values(source, namespace, now).await?;
        let theirs = all_values(target, namespace, now).await?;
        let mut brought = match extra {
            Extra::Keep => BTreeSet::new(),
            Extra::DeleteBrought => noted(target, namespace).await?,
        };
        let current: BTreeSet<Name> = ours.keys().map(|key| name(namespace, key)).collect();
        brought.extend(&current);
        if extra == Extra::DeleteBrought {
            // Noted before it is there: whoever is killed in between has noted too much, and never too little.
            note(target, namespace, &brought).await?;
        }
        for (key, value) in &ours {
            if theirs.get(key) != Some(value) {
                target.put_value(namespace, value.clone()).await?;
                done.changed += 1;
            }
        }
        for key in theirs.keys().filter(|key| !ours.contains_key(*key)) {
            match extra == Extra::DeleteBrought && brought.contains(&name(namespace, key)) {
                true => {
                    target.delete_value(namespace, key).await?;
                    done.changed += 1;
                }
                false => done.foreign += 1,
            }
        }
        if extra == Extra::DeleteBrought && brought != current {
            note(target, namespace, &current).await?;
        }
    }
    Ok(done)
}

async fn all_values(
    store: &dyn Store,
    namespace: &str,
    now: Timestamp,
) -> Result<BTreeMap<String, Value>, Error> {
    let (mut all, mut after): (BTreeMap<String, Value>, Option<String>) = (BTreeMap::new(), None);
    loop {
        let page = store.values(namespace, "", after.as_deref(), PAGE, now).await?;
        let Some(last) = page.last() else { return Ok(all) };
        after = Some(last.key.clone());
        all.extend(page.into_iter().map(|value| (value.key.clone(), value)));
    }
}

/// Reads what was brought of a namespace.
async fn noted(target: &dyn Store, namespace: &str) -> Result<BTreeSet<Name>, Error> {
    let notes = all_values(target, NAMESPACE, Timestamp::MIN).await?;
    let of = notes.iter().filter(|(key, _)| key.rsplit_once('/').is_some_and(|(of, _)| of == namespace));
    let names = of.flat_map(|(_, note)| note.bytes.chunks_exact(8).filter_map(|name| name.try_into().ok()));
    Ok(names.collect())
}

/// Notes what was brought of a namespace, in as many values as it takes.
async fn note(target: &dyn Store, namespace: &str, brought: &BTreeSet<Name>) -> Result<(), Error> {
    let names: Vec<Name> = brought.iter().copied().collect();
    let mut keys = BTreeSet::new();
    for (n, part) in names.chunks(NOTED_MAX).enumerate() {
        let key = format!("{namespace}/{n}");
        target.put_value(NAMESPACE, Value::new(key.clone(), part.concat())).await?;
        keys.insert(key);
    }
    // Fewer than before.
    for key in all_values(target, NAMESPACE, Timestamp::MIN).await?.keys() {
        if !keys.contains(key) && key.rsplit_once('/').is_some_and(|(of, _)| of == namespace) {
            target.delete_value(NAMESPACE, key).await?;
        }
    }
    Ok(())
}
