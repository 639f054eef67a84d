//! The agent observes something: it is written, and staged (C-6).

use super::super::Desk;
use super::Done;
use super::observe::check;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::observation::Observation;
use crate::task::refusal::TaskRefusal;

pub(super) fn note(
    desk: &mut Desk<'_>,
    session: Number,
    observations: &[Observation],
) -> Result<Done, Refusal> {
    if !desk.task(session)?.is_open() {
        return Err(Refusal::Task(TaskRefusal::Over(session)));
    }
    for observation in observations {
        check(desk, observation)?;
    }
    let mut last = desk.state().head;
    for observation in observations {
        last = desk.observe(session, observation.clone())?;
    }
    Ok(Done::quiet(last))
}
