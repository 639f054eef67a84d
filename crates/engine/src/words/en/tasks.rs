//! Tasks, in English.

use super::{Keys, count, duration, pruned_too};
use segue_core::notice::WayBack;
use segue_core::observed::IntentSource;
use segue_core::task::compaction::Progress;
use segue_core::task::intent::MessageIntent;
use segue_core::task::notice::TaskNotice;
use segue_core::task::refusal::TaskRefusal;
use segue_core::task::state::StateName;

/// 001's own sentence.
pub(super) const UNCLEAR: &str = "Are you continuing the current task or starting something new?";

pub(in crate::words) fn unfinished(at: &str, name: &str) -> String {
    format!(
        "You have an unfinished task from {at}: '{name}'\nWould you like to continue or start fresh? \
         (continue / fresh)"
    )
}

pub(super) fn notice(keys: &Keys<'_>, notice: &TaskNotice) -> String {
    let key = |session: &_| keys.of(*session);
    let back = |way_back: &WayBack, previous: &_| match way_back {
        WayBack::Open => format!(" /undo goes back to {}.", key(previous)),
        WayBack::Gone => String::new(),
    };
    match notice {
        TaskNotice::Started { session, previous, kept, pruned, way_back } => {
            let kept = match kept {
                Some(_) => format!(" What was done in {} is kept.", key(previous)),
                None => String::new(),
            };
            let pruned = pruned_too("; ", *pruned);
            format!("New session {} for a new task{pruned}.{kept}{}", key(session), back(way_back, previous))
        }
        TaskNotice::Begun { session } => format!("A task was started in {}.", key(session)),
        TaskNotice::Completed { session, commit } => {
            format!("The task in {} is complete; it is kept as {}.", key(session), commit.short())
        }
        TaskNotice::GivenUp { session, commit } => {
            format!("The task in {} is over; what was done is kept as {}.", key(session), commit.short())
        }
        TaskNotice::Expired { session, previous, gap_ms, pruned, way_back } => format!(
            "New session {}: the task in {} had been left for {}{}. Session expired; what was done is kept. \
             What should I do?{}",
            key(session),
            key(previous),
            duration(*gap_ms),
            pruned_too("; ", *pruned),
            back(way_back, previous)
        ),
        TaskNotice::Lapsed { session, gap_ms } => format!(
            "Session expired: the task in {} had been left for {}. What was done is kept. What should I do?",
            key(session),
            duration(*gap_ms)
        ),
        TaskNotice::Back { session, .. } => format!("Back to the task in {}.", key(session)),
        TaskNotice::Kept { session, commit } => {
            format!("The task in {} is kept as {}.", key(session), commit.short())
        }
        TaskNotice::Queued { message } => format!("Message {message} waits for the agent's next check."),
    }
}

pub(super) fn refusal(keys: &Keys<'_>, refusal: &TaskRefusal) -> String {
    match refusal {
        TaskRefusal::NoTask(session) => {
            format!("There is no task in {}. Start one first.", keys.of(*session))
        }
        TaskRefusal::Over(session) => {
            format!("The task in {} is over. Start another one.", keys.of(*session))
        }
        TaskRefusal::TwoTasks(a, b) => format!(
            "{} and {} both have an open task. Finish, abort or compact one of them first.",
            keys.of(*a),
            keys.of(*b)
        ),
        TaskRefusal::Forbidden(_)
        | TaskRefusal::Unfit(_)
        | TaskRefusal::NotADescription(_)
        | TaskRefusal::BadPath(_)
        | TaskRefusal::NoNode(_)
        | TaskRefusal::QueueChanged => sentence(&refusal.to_string()),
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

pub(super) fn reason(state: StateName, intent: MessageIntent, source: IntentSource, does: &str) -> String {
    let what = match intent {
        MessageIntent::Response => "answers the question",
        MessageIntent::Modification => "changes the task",
        MessageIntent::Confirmation => "says that it is good",
        MessageIntent::NewTask => "is another task",
        MessageIntent::Abandon => "gives the task up",
        MessageIntent::Unclear => "may be for the task or for another one",
    };
    let who = match source {
        IntentSource::Words => "",
        IntentSource::Host => ", the host says",
        IntentSource::Unread => ", as nothing says otherwise",
    };
    let (state, does) = (state.name().replace('_', " "), does.replace('_', " "));
    format!("The task was {state}, and the message {what}{who}: {does}.")
}

pub(in crate::words) fn progress(progress: &Progress) -> String {
    let totals = &progress.totals;
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let mut lines = vec![format!(
        "{} flushed, {} in all: {}, {}",
        count(number(progress.steps), "step"),
        count(number(totals.observations), "observation"),
        count(number(totals.file_writes), "file write"),
        count(number(totals.commands), "command")
    )];
    if !progress.files_written.is_empty() {
        let files: Vec<&str> = progress.files_written.iter().map(|path| path.as_str()).collect();
        lines.push(format!("Files written: {}", files.join(", ")));
    }
    if let Some(plan) = &progress.plan {
        lines.push(format!("Plan: {plan}"));
    }
    if let Some((command, code)) = &progress.command {
        let end = code.map_or_else(|| "killed".to_owned(), |code| format!("exit {code}"));
        lines.push(format!("Last command: {command} ({end})"));
    }
    if let Some(note) = progress.note.as_ref().filter(|note| !note.is_empty()) {
        lines.push(format!("Last note: {note}"));
    }
    lines.join("\n")
}
