//! Erase: the bodies of messages go on request; their hashes stay, so that the proof still holds.

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::effect::Effect;
use crate::entry::{Body, Erased, Seq};
use crate::memory::{self, MemoryEntry};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Session;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn erase(
    mut builder: DecisionBuilder<'_>,
    entries: &[Seq],
    along: &[Seq],
) -> Result<Decided, Refusal> {
    let session = builder.latest()?;
    if entries.is_empty() && along.is_empty() {
        return Err(Refusal::NothingToErase);
    }
    let about = builder.note_command()?;
    // Who erases one of a session's titles means all of them: an older one must not come back.
    let state = builder.state();
    let mut goes: BTreeSet<Seq> = entries.iter().chain(along).chain(builder.derived).copied().collect();
    // So does who erases what the present one was made of; one before that goes by itself.
    let named: BTreeSet<Seq> = entries.iter().chain(along).copied().collect();
    let is_titled = |session: &&Arc<Session>| {
        let present = session.title_entries.last();
        present.is_some_and(|seq| goes.contains(seq))
            || session.title_entries.iter().any(|seq| named.contains(seq))
    };
    let titled = state.sessions.values().filter(is_titled);
    let titles: BTreeSet<Seq> = titled.flat_map(|session| session.title_entries.iter().copied()).collect();
    let names = state.sessions.values().filter_map(|session| session.upkeep.name);
    let names: BTreeSet<Seq> = names.map(|name| name.entry).collect();
    let said = entries.iter().filter(|seq| !titles.contains(seq) && !names.contains(seq)).count();
    let notice = Notice::Erased { entries: u32::try_from(said).unwrap_or(u32::MAX) };
    // What a message said must not live on as the description of a task or in memory.
    let copies = &builder.state().extras.copies;
    let copies: Vec<Seq> = entries.iter().filter_map(|seq| copies.get(seq)).copied().collect();
    let told = |memory: &&MemoryEntry| goes.contains(&memory.source);
    let memories: Vec<Seq> = memory::kept(builder.state()).filter(told).map(|memory| memory.entry).collect();
    goes.extend(copies.into_iter().chain(memories).chain(titles));
    let entries: Vec<Seq> = goes.into_iter().collect();
    builder.draft.push(Body::Erased(Erased { entries: entries.clone() }))?;
    builder.erase(entries);
    builder.effects.push(Effect::Purge);
    builder.close(Verdict::commanded(Action::Command, "erase", session, notice).about(about))
}
