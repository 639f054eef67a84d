//! A command that was refused is written down where it was said, if a channel may deliver it again.

use super::{Decided, DecisionBuilder};
use crate::decision::{Action, Cause, Confidence, Decision};
use crate::entry::Body;
use crate::refusal::Refusal;
use crate::task::assignment::Assignment;

pub(super) fn refuse(mut builder: DecisionBuilder<'_>, refusal: &str) -> Result<Decided, Refusal> {
    let session = builder.latest()?;
    let Some(about) = builder.note_command()? else { return Err(Refusal::NothingSaid) };
    builder.draft.push(Body::Decision(Box::new(Decision {
        about,
        session,
        action: Action::Refused,
        cause: Cause::Command,
        confidence: Confidence::CERTAIN,
        policy: builder.policy.name().to_owned(),
        version: None,
        rule: String::new(),
        reasons: Vec::new(),
        signals: None,
        thresholds: None,
        alternatives: Vec::new(),
        notice: None,
        also: None,
        refusal: Some(refusal.to_owned()),
        task: builder.state().extras.tasks.get(&session).map(Assignment::state),
    })))?;
    let decided = builder.close_quietly(session, about);
    Ok(Decided { action: Action::Refused, cause: Cause::Command, ..decided })
}
