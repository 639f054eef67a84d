//! A message that asks, in words, for a new session: explicit intent overrides all other signals.

use super::{Decided, Desk, Hearing, Verdict, hear};
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Body, Of};
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::policy::Mode;
use crate::refusal::Refusal;

pub(super) fn start_over(
    mut desk: Desk<'_>,
    message: &Message,
    phrase: &str,
    hearing: Hearing<'_>,
) -> Result<Decided, Refusal> {
    let previous = desk.latest()?;
    let reason = Reason::AskedInWords { phrase: phrase.to_owned() };
    // Who starts over where nothing was said yet is there already.
    if desk.state().messages_of(previous) == 0 {
        let verdict = Verdict::new(Action::Continue, Cause::None, previous).because(reason);
        return hear::go_on(desk, message, hearing, verdict);
    }
    let observed = hearing.observed;
    if desk.policy.mode == Mode::Legacy {
        desk.draft.push(Body::Cleared(Of { session: previous }))?;
        let about = desk.draft.push(Body::Message(Role::User, message.clone()))?;
        let verdict = Verdict::new(Action::Clear, Cause::Intent, previous).because(reason);
        let verdict = verdict.notice(Notice::Cleared { session: previous });
        return desk.close(verdict.hearing(observed).about(Some(about)));
    }
    desk.draft.seal()?;
    let session = desk.open_because(Some(previous), Some(Cause::Intent))?;
    let about = desk.draft.push(Body::Message(Role::User, message.clone()))?;
    let (pruned, way_back) = desk.keep_backlog()?;
    let verdict = Verdict::new(Action::New, Cause::Intent, session).because(reason);
    let verdict = verdict.notice(Notice::StartedOver { session, previous, pruned, way_back });
    desk.close(verdict.hearing(observed).about(Some(about)))
}
