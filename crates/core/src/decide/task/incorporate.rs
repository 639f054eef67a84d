//! The agent has taken in what was said: each message is given once, and the work goes on (C-4).

use super::super::DecisionBuilder;
use super::Done;
use crate::entry::Seq;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::assignment::Stage;
use crate::task::refusal::TaskRefusal;
use crate::task::state::StateName;
use crate::task::transition::Forbidden;

pub(super) fn incorporate(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    taken: Option<&[Seq]>,
) -> Result<Done, Refusal> {
    let task = builder.task(session)?;
    let Stage::Interrupted { messages } = &task.stage else {
        let forbidden = Forbidden::new(task.state(), StateName::Running);
        return Err(Refusal::Task(forbidden.into()));
    };
    // Who read three messages must not empty a queue of four.
    if taken.is_some_and(|taken| taken != messages.as_slice()) {
        return Err(Refusal::Task(TaskRefusal::QueueChanged));
    }
    builder.go(session, Stage::Running, None).map(Done::quiet)
}
