//! The agent observes something: it is written, and staged (C-6).

use super::super::DecisionBuilder;
use super::Done;
use super::observe::check;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::observation::Observation;
use crate::task::refusal::TaskRefusal;

pub(super) fn note(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    observations: &[Observation],
) -> Result<Done, Refusal> {
    if !builder.task(session)?.is_open() {
        return Err(Refusal::Task(TaskRefusal::Over(session)));
    }
    for observation in observations {
        check(builder, observation)?;
    }
    let mut last = builder.state().head;
    for observation in observations {
        last = builder.observe(session, observation.clone())?;
    }
    Ok(Done::quiet(last))
}
