//! What was observed becomes a work commit (C-7).

use super::super::DecisionBuilder;
use super::Done;
use crate::entry::{Body, Change, Seq, TaskStep};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::commit::CommitId;
use crate::task::observation::Observation;
use crate::task::refusal::TaskRefusal;

pub(super) fn flush(builder: &mut DecisionBuilder<'_>, session: Number) -> Result<Done, Refusal> {
    if !builder.task(session)?.is_open() {
        return Err(Refusal::Task(TaskRefusal::Over(session)));
    }
    // Without anything staged there is nothing to do, and that is no mistake.
    let flushed = builder.work_commit(session)?;
    match flushed {
        Some(_) => builder.step(session, flushed).map(Done::quiet),
        None => Ok(Done::quiet(builder.state().head)),
    }
}

impl DecisionBuilder<'_> {
    pub(super) fn step(&mut self, session: Number, flushed: Option<CommitId>) -> Result<Seq, Refusal> {
        self.draft.push(Body::Task(TaskStep { flushed, ..TaskStep::new(session, Change::Flushed) }))
    }

    /// Writes an observation behind a work commit, which is noted first: the observation is not in it.
    pub(super) fn observe_after(
        &mut self,
        session: Number,
        observation: Observation,
        flushed: Option<CommitId>,
    ) -> Result<Seq, Refusal> {
        if flushed.is_some() {
            self.step(session, flushed)?;
        }
        self.observe(session, observation)
    }
}
