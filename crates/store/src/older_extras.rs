//! What upkeep had made of sessions stood in the extras of their scope before it stood with each session.

use crate::error::Error;
use segue_core::entry::Seq;
use segue_core::memory::MemoryEntry;
use segue_core::session::{Number, Upkeep};
use segue_core::title::Name;
use serde_json::Value;
use std::collections::BTreeMap;

/// The extras as they are written now, and what belongs to each session.
type Parted = (String, BTreeMap<Number, Upkeep>);

/// Takes what belongs to sessions out of the extras of a scope, as they were written before. What is remembered of sessions
/// that are gone stays. Returns the extras as they are written now; nothing if they are as they were.
pub(crate) fn split(extras: &str, is_there: impl Fn(Number) -> bool) -> Result<Option<Parted>, Error> {
    let wrong = |error: serde_json::Error| Error::damaged("the extras of a scope", error);
    let mut extras: Value = serde_json::from_str(extras).map_err(wrong)?;
    let Value::Object(fields) = &mut extras else { return Ok(None) };
    let mut taken = |name: &str| fields.remove(name).unwrap_or(Value::Null);
    let (archived, memories, names) = (taken("archived"), taken("memories"), taken("names"));
    if archived.is_null() && memories.is_null() && names.is_null() {
        return Ok(None);
    }
    let archived: Option<BTreeMap<Number, Seq>> = serde_json::from_value(archived).map_err(wrong)?;
    let memories: Option<Vec<MemoryEntry>> = serde_json::from_value(memories).map_err(wrong)?;
    let names: Option<BTreeMap<Number, Name>> = serde_json::from_value(names).map_err(wrong)?;
    let mut sessions: BTreeMap<Number, Upkeep> = BTreeMap::new();
    for (number, seq) in archived.into_iter().flatten().filter(|(number, _)| is_there(*number)) {
        sessions.entry(number).or_default().extracted = Some(seq);
    }
    for (number, name) in names.into_iter().flatten().filter(|(number, _)| is_there(*number)) {
        sessions.entry(number).or_default().name = Some(name);
    }
    let mut left = Vec::new();
    for memory in memories.into_iter().flatten() {
        match is_there(memory.session) {
            true => sessions.entry(memory.session).or_default().memories.push(memory),
            false => left.push(memory),
        }
    }
    if !left.is_empty() {
        left.sort_by_key(|memory| memory.entry);
        fields.insert("memories".to_owned(), serde_json::to_value(left).map_err(wrong)?);
    }
    Ok(Some((extras.to_string(), sessions)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::extras::ScopeExtras;

    #[test]
    fn what_belongs_to_sessions_goes_to_them() {
        let older = r#"{"archived":{"1":6,"2":12},"memories":[{"entry":9,"session":1,"source":2},
            {"entry":8,"session":2,"source":3,"status":"forgotten"},{"entry":10,"session":2,"source":4}],
            "names":{"2":{"entry":11,"messages":4}},"compactions":3}"#;
        let (extras, sessions) = split(older, |number| number == Number(2)).unwrap().unwrap();
        let extras: ScopeExtras = serde_json::from_str(&extras).unwrap();
        assert_eq!((extras.memories.len(), extras.memories[0].entry, extras.compactions), (1, Seq(9), 3));
        let upkeep = &sessions[&Number(2)];
        assert_eq!((sessions.len(), upkeep.extracted, upkeep.memories.len()), (1, Some(Seq(12)), 2));
        assert_eq!(upkeep.name.map(|name| name.entry), Some(Seq(11)));
        assert_eq!(split(r#"{"compactions":3}"#, |_| true).unwrap(), None);
    }
}
