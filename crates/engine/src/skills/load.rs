//! Loading: from the roots to a snapshot, in the order of the rules.

use super::front::{self, Front};
use super::read::{self, Found};
use super::{Diagnostic, Problem, Root, Roots, Skill, SkillSnapshot, Source, Surroundings};
use super::{alias, eligible, folded};
use segue_core::digest::Digest;
use std::collections::BTreeMap;

/// A snapshot, and the texts that its digests stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The snapshot.
    pub snapshot: SkillSnapshot,
    /// The bodies of its skills by their digests, to be stored once each: a session that shows a skill
    /// must show what it took in, not what the file says by now.
    pub bodies: BTreeMap<Digest, String>,
}

/// A skill that can be read.
pub(super) struct Candidate {
    pub(super) source: Source,
    pub(super) front: Front,
    body: String,
}

/// A name that is taken, by a skill or by the remains of one.
struct Claim {
    name: String,
    source: Source,
    skill: Option<Candidate>,
}

/// Loads the skills under the roots. It never fails: what is wrong with a skill is a diagnostic.
pub fn load(roots: &Roots, here: &Surroundings) -> Loaded {
    let folders = Root::ALL.into_iter().filter_map(|root| Some((root, roots.folder(root)?)));
    let found = folders.flat_map(|(root, folder)| read::root(root, folder));
    let (claims, mut diagnostics) = claims(found);

    let broken = claims.iter().filter(|claim| claim.skill.is_none()).map(|claim| claim.name.clone());
    let broken: Vec<String> = broken.collect();
    let mut candidates: Vec<Candidate> = claims.into_iter().filter_map(|claim| claim.skill).collect();
    candidates.sort_by_cached_key(|skill| (skill.source.root, folded(&skill.front.name)));
    diagnostics.extend(alias::settle(&mut candidates, broken.into_iter()));

    let mut bodies = BTreeMap::new();
    let mut skills = Vec::new();
    for candidate in candidates {
        let Candidate { source, front, body } = candidate;
        let problems = eligible::problems(&front.requires, here);
        if problems.is_empty() {
            let digest = Digest::of_body(body.as_bytes());
            bodies.insert(digest, body);
            let Front { name, description, aliases, requires: _ } = front;
            skills.push(Skill { name, description, aliases, source, body: digest });
        } else {
            diagnostics.extend(problems.into_iter().map(|problem| Diagnostic {
                source: source.clone(),
                skill: Some(front.name.clone()),
                problem,
            }));
        }
    }
    skills.sort_by_cached_key(|skill| folded(&skill.name));
    diagnostics.sort();
    Loaded { snapshot: SkillSnapshot::new(skills, diagnostics), bodies }
}

/// Settles who has which name. `found` comes with the strongest root first, so the first one has it.
fn claims(found: impl Iterator<Item = Found>) -> (Vec<Claim>, Vec<Diagnostic>) {
    let mut taken: BTreeMap<String, Claim> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for Found { source, folder, text } in found {
        let parsed = text.and_then(|text| match front::parse(&text) {
            Ok((front, body)) => Ok(Candidate { source: source.clone(), front, body: body.to_owned() }),
            Err(why) => Err(Problem::Malformed { why }),
        });
        let (name, skill) = match parsed {
            Ok(skill) => (skill.front.name.clone(), Some(skill)),
            Err(problem) => {
                let keeps_its_name = keeps_its_name(&problem);
                diagnostics.push(Diagnostic { source: source.clone(), skill: folder.clone(), problem });
                match folder {
                    Some(folder) if keeps_its_name => (folder, None),
                    Some(_) | None => continue,
                }
            }
        };
        let claim = Claim { name: name.clone(), source: source.clone(), skill };
        match taken.get(&folded(&name)) {
            Some(first) => diagnostics.push(Diagnostic {
                source,
                skill: Some(name),
                problem: Problem::Conflict { hidden_by: first.source.clone() },
            }),
            None => drop(taken.insert(folded(&name), claim)),
        }
    }
    (taken.into_values().collect(), diagnostics)
}

/// A folder without a `SKILL.md` is no skill. One with a broken `SKILL.md` is, and nothing weaker may
/// silently take its place (L-11).
fn keeps_its_name(problem: &Problem) -> bool {
    match problem {
        Problem::Malformed { .. }
        | Problem::Unreadable { .. }
        | Problem::TooLarge { .. }
        | Problem::LinkLoop {} => true,
        Problem::MissingFile {}
        | Problem::TooMany { .. }
        | Problem::Conflict { .. }
        | Problem::BadAlias { .. }
        | Problem::AliasCollision { .. }
        | Problem::WrongPlatform { .. }
        | Problem::MissingEnv { .. }
        | Problem::MissingTools { .. } => false,
    }
}
