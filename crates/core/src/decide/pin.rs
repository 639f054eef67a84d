//! A session is held to something else: another agent, another model, or what skills or persona say by now. Each
//! changes its own field and nothing else (L-5).

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::notice::{Notice, Repinned};
use crate::pins::{self, Change, Pins, Texts};
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn pin(
    mut builder: DecisionBuilder<'_>,
    session: Number,
    change: &Change,
    texts: Texts,
) -> Result<Decided, Refusal> {
    let before = builder.live(session)?.pins.clone();
    let about = builder.note_command()?;
    pins::write(&mut builder.draft, session, change, texts)?;
    let (command, pinned) = told(change, &before, &builder.live(session)?.pins);
    let notice = Notice::Pinned { session, pinned };
    builder.close(Verdict::commanded(Action::Command, command, session, notice).about(about))
}

/// Says what changed, without the words of any file.
fn told(change: &Change, before: &Pins, after: &Pins) -> (&'static str, Repinned) {
    match change {
        Change::All(_) => ("pin", Repinned::All),
        Change::Agent(_) => {
            let name = |pins: &Pins| pins.agent.as_ref().map(|agent| agent.name.clone());
            ("agent", Repinned::Agent { agent: name(after) })
        }
        Change::Skills(_) => {
            let version = |pins: &Pins| pins.skills.as_ref().map(|skills| skills.version);
            let (old, new) = (version(before), version(after));
            ("reload_skills", Repinned::Skills { version: new, changed: old != new })
        }
        Change::Persona(_) => {
            let version = |pins: &Pins| pins.persona.as_ref().map(|persona| persona.version);
            let (old, new) = (version(before), version(after));
            ("reload_persona", Repinned::Persona { version: new, changed: old != new })
        }
        Change::Model(model) => ("model", Repinned::Model { model: model.clone() }),
    }
}
