//! C-1, C-9, C-10, C-11: the tables of tasks, cell by cell, and the page that is written from them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use segue_core::task::canonical::CommitKind;
use segue_core::task::intent::{MessageIntent, ROWS, TaskMove, Work, decide};
use segue_core::task::state::StateName;
use segue_core::task::timing::Timeouts;
use segue_core::task::transition::{self, TRANSITIONS};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// C-1, written out once more: a row for each state to leave, a column for each state to reach, in the order none,
/// running, awaiting_user, interrupted, pending_complete, complete, aborted.
const CELLS: [&str; 7] = [
    ".x.....", // none
    "..xxx.x", // running
    ".x....x", // awaiting_user
    ".x....x", // interrupted
    ".x...xx", // pending_complete
    ".......", // complete
    ".......", // aborted
];

#[test]
fn c1_every_cell_is_allowed_or_refused() {
    let mut seen = 0;
    for (row, from) in CELLS.iter().zip(StateName::ALL) {
        for (cell, to) in row.chars().zip(StateName::ALL) {
            seen += 1;
            let result = transition::check(*from, *to);
            assert_eq!(result.is_ok(), cell == 'x', "{from} -> {to}");
            let Err(refused) = result else { continue };
            assert_eq!((refused.from, refused.to), (*from, *to));
            let text = refused.to_string();
            assert!(text.starts_with(&format!("a task cannot go from {from} to {to}: ")), "{text}");
            let expected = row.chars().zip(StateName::ALL).filter(|(cell, _)| *cell == 'x');
            let expected: BTreeSet<_> = expected.map(|(_, state)| *state).collect();
            assert_eq!(refused.allowed.iter().copied().collect::<BTreeSet<_>>(), expected);
            let advice = text.rsplit(": ").next().unwrap();
            // Behind the states stands how to get there.
            let advice: BTreeSet<_> = advice.split(';').next().unwrap().split([' ', ',']).collect();
            for state in StateName::ALL.iter().filter(|state| *state != from) {
                assert_eq!(advice.contains(state.name()), expected.contains(state), "{text}");
            }
        }
    }
    assert_eq!(seen, 49);
    assert_eq!(TRANSITIONS.len(), CELLS.concat().matches('x').count(), "a transition stands there twice");
}

fn every_message() -> impl Iterator<Item = (StateName, MessageIntent, Work)> {
    StateName::ALL.iter().flat_map(|state| {
        let pairs =
            MessageIntent::ALL.iter().flat_map(|intent| Work::ALL.iter().map(|work| (*intent, *work)));
        pairs.map(|(intent, work)| (*state, intent, work))
    })
}

#[test]
fn c9_the_table_is_total_and_no_row_is_dead() {
    let mut used = BTreeSet::new();
    let mut count = 0;
    for (state, intent, work) in every_message() {
        count += 1;
        let row = ROWS.iter().position(|row| row.covers(state, intent, work));
        used.insert(row.unwrap_or_else(|| panic!("no row for {state}, {intent}, {work}")));
    }
    assert_eq!(count, 7 * 6 * 2);
    assert_eq!(used.len(), ROWS.len(), "rows that nothing reaches");
}

/// What the table does is what C-1 allows.
#[test]
fn c9_every_move_is_a_transition_that_is_allowed() {
    for (state, intent, work) in every_message() {
        let then = decide(state, intent, work);
        let told = format!("{state}, {intent}, {work}: {then}");
        let after = then.after(state);
        match then {
            TaskMove::Respond
            | TaskMove::Continue
            | TaskMove::CompleteAndCompact
            | TaskMove::AbandonAndCompact => {
                assert!(transition::check(state, after).is_ok(), "{told}");
            }
            TaskMove::Queue => {
                assert!(state == after || transition::check(state, after).is_ok(), "{told}");
            }
            TaskMove::CompactAndStart(_) | TaskMove::Start => {
                assert!(!state.is_open() || transition::check(state, StateName::Aborted).is_ok(), "{told}");
                assert_eq!(after, StateName::Running, "{told}");
            }
            TaskMove::Ask | TaskMove::Acknowledge | TaskMove::Pass => assert_eq!(after, state, "{told}"),
        }
        assert_eq!(then.commit().map(CommitKind::ends_as), then.commit().and(then.ends_as()), "{told}");
    }
}

/// The summary table of 001, row by row (its last two rows are about time).
#[test]
fn c9_the_scenarios_of_the_document_stand() {
    use MessageIntent::{Abandon, Confirmation, Modification, NewTask, Response, Unclear};
    use StateName::{AwaitingUser, Interrupted, PendingComplete, Running};
    let done = Work::Meaningful;
    assert_eq!(decide(AwaitingUser, Response, done), TaskMove::Respond);
    assert_eq!(decide(Running, Modification, done), TaskMove::Queue);
    assert_eq!(decide(Interrupted, Modification, done), TaskMove::Queue);
    assert_eq!(decide(PendingComplete, Modification, done), TaskMove::Continue);
    assert_eq!(decide(PendingComplete, Confirmation, done), TaskMove::CompleteAndCompact);
    let start = TaskMove::CompactAndStart(CommitKind::InterruptedByNewTask);
    for state in [Running, AwaitingUser, Interrupted, PendingComplete] {
        assert_eq!(decide(state, Abandon, done), TaskMove::AbandonAndCompact);
        assert_eq!(decide(state, NewTask, done), start);
        assert_eq!(decide(state, NewTask, Work::None), TaskMove::Start);
        assert_eq!(decide(state, Unclear, done), TaskMove::Ask);
    }
}

#[test]
fn c9_a_response_to_nothing_modifies_and_a_confirmation_of_nothing_is_acknowledged() {
    for (state, _, work) in every_message() {
        if state != StateName::AwaitingUser {
            let modified = decide(state, MessageIntent::Modification, work);
            assert_eq!(decide(state, MessageIntent::Response, work), modified, "{state}");
        }
    }
    for state in [StateName::Running, StateName::Interrupted, StateName::Complete, StateName::Aborted] {
        assert_eq!(decide(state, MessageIntent::Confirmation, Work::Meaningful), TaskMove::Acknowledge);
    }
}

/// A conversation that never opened a task is left alone, whatever is said.
#[test]
fn c9_without_a_task_only_a_new_one_does_anything() {
    for intent in MessageIntent::ALL {
        let expected = if *intent == MessageIntent::NewTask { TaskMove::Start } else { TaskMove::Pass };
        assert_eq!(decide(StateName::None, *intent, Work::None), expected, "{intent}");
    }
}

#[test]
fn c9_intents_are_read_by_letter_and_by_word() {
    for (letter, intent) in ["A", "B", "C", "D", "E", "F"].into_iter().zip(MessageIntent::ALL) {
        assert_eq!(MessageIntent::lettered(letter), *intent);
        assert_eq!(MessageIntent::named(intent.name()), Some(*intent));
    }
}

fn cell(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn diagram(page: &mut String) {
    page.push_str("```mermaid\nstateDiagram-v2\n");
    for row in TRANSITIONS {
        let end = |state: StateName| if state == StateName::None { "[*]" } else { state.name() };
        writeln!(page, "    {} --> {}: {}", end(row.from), end(row.to), row.trigger).unwrap();
    }
    for state in StateName::ALL.iter().filter(|state| transition::allowed(**state).count() == 0) {
        writeln!(page, "    {state} --> [*]").unwrap();
    }
    page.push_str("```\n");
}

fn page() -> String {
    let mut page = String::from(
        "# Tasks\n\n\
         Written from the tables in `crates/core/src/task/` by `UPDATE_DOCS=1 cargo test -p segue-core --test task`; a\n\
         test fails if it is not up to date. The rules are C-1 to C-15, the document is 001.\n\n\
         ## Where a task may go\n\n",
    );
    diagram(&mut page);
    page.push_str(
        "\nWhat is stored is stored in the same transaction as the transition.\n\n\
         | from | to | by | what is stored | why |\n|---|---|---|---|---|\n",
    );
    for row in TRANSITIONS {
        let (from, to, trigger, stores, why) = (row.from, row.to, row.trigger, row.stores, row.why);
        writeln!(page, "| `{from}` | `{to}` | {trigger} | {stores} | {why} |").unwrap();
    }
    page.push_str("\nAll else is refused. The refusal names from, to and what is allowed:\n\n| from \\ to |");
    StateName::ALL.iter().for_each(|to| write!(page, " `{to}` |").unwrap());
    page.push_str("\n|---|");
    StateName::ALL.iter().for_each(|_| page.push_str("---|"));
    for from in StateName::ALL {
        write!(page, "\n| `{from}` |").unwrap();
        for to in StateName::ALL {
            let trigger = transition::find(*from, *to).map_or("", |row| row.trigger.name());
            write!(page, " {trigger} |").unwrap();
        }
    }
    page.push_str(
        "\n\nA task that is `complete` or `aborted` is opened again only by an undo of the\n\
         boundary that ended it; the next task begins from `none`.\n\n\
         ## What a message does to it\n\n\
         The first row that covers the message decides. Meaningful work: a step was flushed, a file written, a command\n\
         run, a plan made, or the agent noted something.\n\n\
         | state | intent | work | what is done | commit | why |\n|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let intents = match row.intents {
            all if all.len() == MessageIntent::ALL.len() => "any".to_owned(),
            some => cell(some.iter().map(|intent| intent.name())),
        };
        let work = if row.work.is_empty() { "any".into() } else { cell(row.work.iter().map(|w| w.name())) };
        let states = cell(row.states.iter().map(|state| state.name()));
        let commit = row.then.commit().map_or("", CommitKind::name);
        let (then, why) = (row.then.name(), row.why);
        writeln!(page, "| {states} | {intents} | {work} | `{then}` | {commit} | {why} |").unwrap();
    }
    page.push_str("\n## What is kept of a task\n\n| kind of commit | the task ends | words, without a summary |\n|---|---|---|\n");
    for kind in CommitKind::ALL {
        let words = kind.reason().map_or(String::new(), |words| format!("\"{words}\""));
        writeln!(page, "| `{kind}` | `{}` | {words} |", kind.ends_as()).unwrap();
    }
    let Timeouts { idle, stale } = Timeouts::default();
    write!(
        page,
        "\n## Coming back\n\n\
         | time since the last activity | what happens |\n|---|---|\n\
         | up to {idle} h | it is resumed: the question, the summary, the progress or the interruption is shown again |\n\
         | more than {idle} h | the person is asked to continue or to start fresh |\n\
         | more than {stale} h | it is compacted as `stale`, and the person is asked for a task |\n",
        idle = idle.as_hours(),
        stale = stale.as_hours(),
    )
    .unwrap();
    page
}

#[test]
fn c1_the_page_is_written_from_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page, "run it with UPDATE_DOCS=1");
}
