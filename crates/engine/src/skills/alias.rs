//! Aliases: who owns which word.

use super::load::Candidate;
use super::{Diagnostic, Problem, folded, is_name};
use std::collections::BTreeMap;

/// Takes from each skill the aliases that are no words or belong to another; says so for each.
///
/// Names come first, then the aliases in the order of `candidates`: the strongest root first. `reserved`
/// are the names that broken skills keep.
pub(super) fn settle(
    candidates: &mut [Candidate],
    reserved: impl Iterator<Item = String>,
) -> Vec<Diagnostic> {
    let mut owners: BTreeMap<String, String> = reserved.map(|name| (folded(&name), name)).collect();
    owners.extend(candidates.iter().map(|skill| (folded(&skill.front.name), skill.front.name.clone())));
    let mut diagnostics = Vec::new();
    for skill in candidates {
        let name = skill.front.name.clone();
        let mut kept: Vec<String> = Vec::new();
        for alias in std::mem::take(&mut skill.front.aliases) {
            let problem = if !is_name(&alias) {
                Problem::BadAlias { alias }
            } else {
                match owners.get(&folded(&alias)) {
                    // The same word twice in one skill hurts nobody.
                    Some(owner) if *owner == name => continue,
                    Some(owner) => Problem::AliasCollision { taken_by: owner.clone(), alias },
                    None => {
                        owners.insert(folded(&alias), name.clone());
                        kept.push(alias);
                        continue;
                    }
                }
            };
            diagnostics.push(Diagnostic { source: skill.source.clone(), skill: Some(name.clone()), problem });
        }
        skill.front.aliases = kept;
    }
    diagnostics
}
