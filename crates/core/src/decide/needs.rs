//! What has to be read before a command is decided.

use super::on_user_message::{Route, Situation};
use super::prune::Opening;
use super::task::on_user_message::{reach, settles};
use super::task::{self, TaskVerb};
use super::{Circumstances, Command, prune};
use crate::erasure::Sources;
use crate::facts::Need;
use crate::message::Role;
use crate::observed::{Answer, Observed};
use crate::policy::{Excess, Mode, Policy};
use crate::session::Number;
use crate::state::State;
use crate::task::history::Reach;
use crate::undo::Boundary;

/// Tells what a command needs to know of the log on a state. What is read for it goes to
/// [`decide`](super::decide) as [`Facts`](crate::facts::Facts).
pub fn needs(state: &State, policy: &Policy, command: &Command, at: &Circumstances) -> Vec<Need> {
    match command {
        Command::Erase { entries, along } => {
            let sources = Sources::entries(entries.iter().chain(along).copied());
            return vec![Need::Derived { sources }];
        }
        Command::Delete { session } => {
            let sources = Sources::segments(prune::what_goes(state, vec![*session]).segments);
            return vec![Need::Derived { sources }];
        }
        _ => {}
    }
    let pruned = match (command, state.boundaries.last()) {
        (Command::Undo, Some(Boundary::Created { at, .. })) if state.extras.walk.is_none() => {
            Some(Need::Pruned { boundary: *at })
        }
        _ => None,
    };
    // An ordinary message needs nothing, unless there are tasks, or it may drop a session.
    let deletes = policy.excess == Excess::Delete;
    let drops = matches!(command, Command::Prune { .. } | Command::Retire { .. });
    if state.extras.tasks.is_empty() && !deletes && !drops {
        return pruned.into_iter().collect();
    }
    let observed = Observed::default();
    let message = match command {
        Command::UserMessage { observed, .. } => Some(observed.as_ref()),
        Command::Say { role: Role::User, .. } => Some(&observed),
        Command::Reply { role: Role::User, session, .. } if state.latest() == Some(*session) => {
            Some(&observed)
        }
        _ => None,
    };
    let now = state.effective(at.now);
    let route = message.and_then(|observed| Route::of(Situation { state, policy, observed, now }).ok());
    let history = history(state, policy, command, route.as_ref(), at);
    let history = history.map(|(session, reach)| Need::TaskHistory { session, reach });
    let opens = match command {
        Command::New { .. } => policy.mode == Mode::Segmented,
        Command::Answer { answer, .. } => *answer == Answer::Fresh,
        Command::Fork { .. } | Command::Split { .. } => true,
        Command::Task(command) => matches!(command.verb, TaskVerb::Start { .. }),
        _ => route.as_ref().is_some_and(Route::opens_session),
    };
    let sessions = match command {
        Command::Prune { keep } => prune::prunable(state, keep.get()),
        Command::Retire { sessions, notice } => prune::retirable(state, sessions, *notice, now),
        _ if opens && deletes => prune::excess(state, policy, Opening::Ahead),
        _ => Vec::new(),
    };
    let memories = (!sessions.is_empty()).then_some(Need::Memories { sessions });
    history.into_iter().chain(memories).chain(pruned).collect()
}

/// Finds the task whose history a command needs.
fn history(
    state: &State,
    policy: &Policy,
    command: &Command,
    route: Option<&Route>,
    at: &Circumstances,
) -> Option<(Number, Reach)> {
    let latest = state.latest()?;
    let open = state.extras.open_task(latest);
    match (command, route) {
        (_, Some(Route::Answer(answer))) | (Command::Answer { answer, .. }, _) => {
            let task = open?;
            match answer {
                Answer::Fresh => Some((latest, Reach::Whole)),
                Answer::Older => None,
                Answer::Continue => {
                    let question = state.extras.question.as_ref()?;
                    Some((latest, reach(settles(state, question, latest)?, task)?))
                }
            }
        }
        (Command::Undo, _) | (_, Some(Route::TakeBack(_))) => {
            let Some(Boundary::Created { from, to, at, .. }) = state.boundaries.last() else { return None };
            state.extras.tasks.get(from)?.ended_by(*at)?;
            state.extras.open_task(*to).filter(|task| task.has_meaningful_work())?;
            Some((*to, Reach::Whole))
        }
        (_, Some(Route::Task(route))) => Some((latest, route.reach(open?)?)),
        (Command::Task(command), _) => task::reach(state, policy, command, at),
        _ => None,
    }
}
