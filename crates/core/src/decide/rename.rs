//! Rename: a session gets a title.

use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Renamed};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::{Number, Title};

pub(super) fn rename(mut desk: Desk<'_>, session: Number, title: &Title) -> Result<Decided, Refusal> {
    desk.live(session)?;
    let about = desk.note_command()?;
    desk.draft.push(Body::Renamed(Renamed { session, title: title.clone() }))?;
    let notice = Notice::Renamed { session };
    desk.close(Verdict::commanded(Action::Command, "rename", session, notice).about(about))
}
