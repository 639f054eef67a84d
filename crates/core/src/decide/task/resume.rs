//! The person has come back (C-11): past a week the task is compacted, past a day they are asked, else it is shown
//! as it stands (C-12).

use super::super::DecisionBuilder;
use super::{Done, Ending, compact};
use crate::decision::{Action, Cause};
use crate::entry::{Asked, Body, Seq};
use crate::freshness::Silence;
use crate::notice::{Notice, QuestionTopic};
use crate::policy::{Policy, QuestionMode};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::canonical::CommitKind;
use crate::task::notice::TaskNotice;
use crate::task::refusal::TaskRefusal;
use crate::task::timing::{Return, Timeouts, coming_back};

/// Returns after how long a silence the person is asked, and the task is over.
pub(super) fn timeouts(policy: &Policy) -> Timeouts {
    Timeouts { idle: policy.tasks.idle_timeout, stale: policy.tasks.stale_timeout }
}

pub(super) fn resume(builder: &mut DecisionBuilder<'_>, session: Number) -> Result<Done, Refusal> {
    let task = builder.task(session)?;
    if !task.is_open() {
        return Err(Refusal::Task(TaskRefusal::Over(session)));
    }
    let (id, started_at) = (task.id, task.started_at);
    let now = builder.draft.effective_now();
    let Some(open) = builder.state().open.as_ref() else { return Err(Refusal::NothingSaid) };
    let silence = Silence::of(open, now);
    let timeouts = timeouts(builder.policy);
    let head = builder.state().head;
    // A session that is not the latest is only looked at: nobody was asked in it.
    let road = match builder.state().latest() == Some(session) {
        true => coming_back(silence.gap, timeouts),
        false => Return::Resume,
    };
    match road {
        Return::Resume => {
            let notice = TaskNotice::Back { session, started_at };
            Ok(Done { action: Action::Resume, ..Done::told(head, notice) })
        }
        Return::AskContinueOrFresh => {
            // No message is held: the person has said nothing yet.
            let asked = Asked {
                held: Seq::ZERO,
                cause: Cause::Task,
                older: None,
                intent: None,
                manner: QuestionMode::Hold,
                messages_left: 0,
            };
            let about = builder.draft.push(Body::Asked(asked))?;
            let stake = QuestionTopic::Unfinished { task: id, started_at };
            let notice = Some(Notice::Question { session, stake, older: None });
            Ok(Done { action: Action::Ask, about, notice })
        }
        Return::Stale => {
            let done = compact::end(builder, session, CommitKind::Stale, "", Ending::ForGood)?;
            let notice = TaskNotice::Lapsed { session, gap_ms: silence.gap_ms };
            Ok(Done::told(done.about, notice))
        }
    }
}
