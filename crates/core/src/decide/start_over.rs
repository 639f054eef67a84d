//! A message that asks, in words, for a new session: explicit intent overrides all other signals.

use super::{Decided, Desk, Verdict, say};
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Body, Of};
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::policy::Mode;
use crate::refusal::Refusal;

pub(super) fn start_over(mut desk: Desk<'_>, message: &Message, phrase: &str) -> Result<Decided, Refusal> {
    let Some(previous) = desk.state().latest() else { return say::say(desk, Role::User, message) };
    // Who starts over where nothing was said yet is there already.
    if desk.state().messages_of(previous) == 0 {
        return say::say(desk, Role::User, message);
    }
    let reasons = vec![Reason::AskedInWords { phrase: phrase.to_owned() }];
    if desk.policy.mode == Mode::Legacy {
        desk.draft.push(Body::Cleared(Of { session: previous }))?;
        let about = desk.draft.push(Body::Message(Role::User, message.clone()))?;
        return desk.close(Verdict {
            action: Action::Clear,
            cause: Cause::Intent,
            reasons,
            notice: Some(Notice::Cleared { session: previous }),
            session: previous,
            about: Some(about),
        });
    }
    desk.draft.seal()?;
    let session = desk.open(Some(previous))?;
    let about = desk.draft.push(Body::Message(Role::User, message.clone()))?;
    let (pruned, way_back) = desk.keep_backlog()?;
    desk.close(Verdict {
        action: Action::New,
        cause: Cause::Intent,
        reasons,
        notice: Some(Notice::StartedOver { session, previous, pruned, way_back }),
        session,
        about: Some(about),
    })
}
