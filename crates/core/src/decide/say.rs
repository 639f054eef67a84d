//! A message for the latest session: it goes on there, unless the session has expired (M-B2, M-B3).

use super::{Decided, Desk, Verdict};
use crate::decision::{Action, Cause, Reason};
use crate::entry::Body;
use crate::freshness::{Freshness, freshness};
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::policy::{AutoRoute, Mode};
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn say(mut desk: Desk<'_>, role: Role, message: &Message) -> Result<Decided, Refusal> {
    let Some(previous) = desk.state().latest() else {
        let session = desk.open(None)?;
        return go_on(desk, role, message, session, vec![Reason::FirstMessage]);
    };
    // Only the person's own words are decided on: an answer belongs where the question was, and a
    // heartbeat neither expires a session nor keeps it fresh.
    if role != Role::User {
        return go_on(desk, role, message, previous, Vec::new());
    }
    if desk.policy.mode == Mode::Legacy {
        return go_on(desk, role, message, previous, vec![Reason::LegacyMode]);
    }
    if desk.policy.auto_route == AutoRoute::Never {
        return go_on(desk, role, message, previous, vec![Reason::AutoRouteOff]);
    }
    let Some(open) = &desk.state().open else { return Err(Refusal::NothingSaid) };
    let freshness = freshness(&desk.policy.segmented, open, desk.draft.effective_now());
    let reasons = vec![freshness.reason(&desk.policy.segmented)];
    match freshness {
        Freshness::Fresh { .. } => go_on(desk, role, message, previous, reasons),
        Freshness::Expired { gap_ms, since, limit } => {
            desk.draft.seal()?;
            let session = desk.open(Some(previous))?;
            let about = desk.draft.push(Body::Message(role, message.clone()))?;
            let (pruned, way_back) = desk.keep_backlog()?;
            desk.close(Verdict {
                action: Action::New,
                cause: Cause::Temporal,
                reasons,
                notice: Some(Notice::Expired { session, previous, gap_ms, since, limit, pruned, way_back }),
                session,
                about: Some(about),
            })
        }
    }
}

/// Takes a message over from elsewhere: where it belongs was decided there.
pub(super) fn keep(mut desk: Desk<'_>, role: Role, message: &Message) -> Result<Decided, Refusal> {
    let session = match desk.state().latest() {
        Some(session) => session,
        None => desk.open(None)?,
    };
    let about = desk.draft.push(Body::Message(role, message.clone()))?;
    Ok(desk.close_quietly(session, about))
}

fn go_on(
    mut desk: Desk<'_>,
    role: Role,
    message: &Message,
    session: Number,
    reasons: Vec<Reason>,
) -> Result<Decided, Refusal> {
    let about = desk.draft.push(Body::Message(role, message.clone()))?;
    if role != Role::User {
        return Ok(desk.close_quietly(session, about));
    }
    desk.close(Verdict {
        action: Action::Continue,
        cause: Cause::None,
        reasons,
        notice: None,
        session,
        about: Some(about),
    })
}
