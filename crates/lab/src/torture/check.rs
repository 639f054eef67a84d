//! The checker: compares what clients were told with what the log says.

use super::evidence::{Evidence, Log};
use super::history::{Action, ClientOutcome, Operation};
use segue_core::entry::{Kind, Record, Seq};
use segue_core::segment;
use segue_core::session::{Id, Number};
use segue_store::{Page, Store};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How many scopes are read at a time.
const PAGE: usize = 1_000;

/// Says what is wrong, one sentence each.
pub async fn check(store: &dyn Store, history: &[Operation]) -> anyhow::Result<Vec<String>> {
    let mut evidence = Vec::new();
    for (scope, operations) in &by_scope(history, every_scope(store).await?) {
        evidence.push(Evidence::of(store, scope, operations).await?);
    }
    let mut wrong = judge(history, &evidence);
    wrong.extend(store.audit(None).await?);
    Ok(wrong)
}

/// Compares what clients were told with what a store says of every scope.
pub fn judge(history: &[Operation], evidence: &[Evidence]) -> Vec<String> {
    let (mut wrong, mut ids) = (Vec::new(), HashMap::new());
    let operations = by_scope(history, Vec::new());
    for found in evidence {
        let (scope, log) = (&found.scope, Log::of(&found.records));
        let operations = operations.get(scope).map(Vec::as_slice).unwrap_or_default();
        wrong.extend(numbered(scope, &found.records));
        wrong.extend(one_open(scope, &found.records));
        wrong.extend(numbers(scope, &log.sessions));
        wrong.extend(whole(scope, found, &log));
        wrong.extend(once(scope, operations, &log, &found.remains));
        wrong.extend(tasks(scope, operations, &log));
        wrong.extend(in_order(scope, operations, &log, &found.remains));
        for (number, id) in log.sessions {
            wrong.extend(in_one_scope(&mut ids, scope, number, id));
        }
        wrong.extend(found.problems.iter().map(|problem| format!("{scope}: {problem}")));
    }
    wrong
}

fn by_scope(history: &[Operation], others: Vec<String>) -> BTreeMap<String, Vec<&Operation>> {
    let mut by_scope: BTreeMap<String, Vec<&Operation>> = BTreeMap::new();
    for operation in history {
        by_scope.entry(operation.scope.clone()).or_default().push(operation);
    }
    for scope in others {
        by_scope.entry(scope).or_default();
    }
    by_scope
}

async fn every_scope(store: &dyn Store) -> anyhow::Result<Vec<String>> {
    let (mut all, mut page) = (Vec::new(), Page::by_key(PAGE));
    loop {
        let listed = store.scopes(&page).await?;
        all.extend(listed.rows.iter().map(|row| row.scope.to_string()));
        page.after = listed.next;
        if page.after.is_none() {
            return Ok(all);
        }
    }
}

/// Entries are numbered 1, 2, 3: nothing was deleted in a run.
fn numbered(scope: &str, log: &[Record]) -> Option<String> {
    let gap = (1..).map(Seq).zip(log).find(|(expected, record)| record.seq != *expected);
    gap.map(|(expected, record)| format!("{scope}: entry {expected} is missing before entry {}", record.seq))
}

/// One segment is open at any time, and so one session is the latest. Nothing is written to one that is sealed. A late reply has a
/// segment of its own beside it, which is sealed at once.
fn one_open(scope: &str, log: &[Record]) -> Vec<String> {
    let (mut wrong, mut sealed) = (Vec::new(), BTreeSet::new());
    let mut open: BTreeMap<segment::Number, Kind> = BTreeMap::new();
    for record in log {
        if sealed.contains(&record.segment) {
            wrong
                .push(format!("{scope}: entry {} stands in a segment that was sealed before it", record.seq));
        }
        match record.kind {
            Kind::Sealed => {
                open.remove(&record.segment);
                sealed.insert(record.segment);
            }
            kind => _ = open.entry(record.segment).or_insert(kind),
        }
        if open.values().filter(|began_by| **began_by != Kind::Attached).count() > 1 {
            wrong.push(format!("{scope}: two segments are open at entry {}", record.seq));
        }
    }
    if !log.is_empty() && open.len() != 1 {
        wrong.push(format!("{scope}: {} sessions are the latest one", open.len()));
    }
    wrong
}

/// Sessions are numbered upwards, and no number is used twice.
fn numbers(scope: &str, sessions: &[(Number, Id)]) -> Vec<String> {
    let pairs = sessions.iter().zip(sessions.iter().skip(1));
    let used = pairs.filter(|((before, _), (number, _))| number <= before);
    used.map(|(_, (number, _))| {
        format!("{scope}: session {number} begins after one with that number or a later one")
    })
    .collect()
}

/// A conversation is in one scope.
fn in_one_scope(ids: &mut HashMap<Id, String>, scope: &str, number: Number, id: Id) -> Option<String> {
    let other = ids.insert(id, scope.to_owned())?;
    Some(format!("{scope}: session {number} has the id of another one, in {other}"))
}

/// What is there is there as a whole: a message or a command with its decision, which is written with it.
fn whole(scope: &str, found: &Evidence, log: &Log) -> Vec<String> {
    let is_decided = |record: &&Record| {
        [Kind::User, Kind::Command].contains(&record.kind) && !log.erased.contains(&record.seq)
    };
    let halves = found.records.iter().filter(is_decided).filter(|record| !log.decided.contains(&record.seq));
    halves.map(|record| format!("{scope}: entry {} is there without its decision", record.seq)).collect()
}

/// Every acknowledged message is there once, at the place that was told, none that failed (but for commands, which stay as they were
/// typed), and none that nobody sent; each has its text. What was erased is gone, and nothing else is.
fn once(scope: &str, operations: &[&Operation], log: &Log, remains: &HashMap<String, Seq>) -> Vec<String> {
    let mut wrong = Vec::new();
    // The strongest answer of those who asked for the erasure of a message.
    let mut erasures: HashMap<&str, ClientOutcome> = HashMap::new();
    let mut erasable: BTreeSet<Seq> = BTreeSet::new();
    for operation in operations {
        if let Action::Erase { id, seq } = &operation.action {
            let told = erasures.entry(id).or_insert(ClientOutcome::Failed);
            if *told != ClientOutcome::Acknowledged && operation.told != ClientOutcome::Failed {
                *told = operation.told;
            }
            if operation.told != ClientOutcome::Failed {
                erasable.insert(Seq(*seq));
            }
        }
    }
    for operation in operations {
        if !matches!(operation.action, Action::Message | Action::Reply { .. }) {
            continue;
        }
        let (id, told, count) = (&operation.id, operation.told, log.count(&operation.id));
        let erasure = erasures.get(id.as_str()).copied();
        let is_fine = match (told, count, remains.contains_key(id)) {
            (ClientOutcome::Acknowledged | ClientOutcome::Unknown, 1, false) => {
                erasure != Some(ClientOutcome::Acknowledged)
            }
            (ClientOutcome::Acknowledged | ClientOutcome::Unknown, 0, true) => {
                erasure.is_some_and(|told| told != ClientOutcome::Failed)
            }
            (ClientOutcome::Failed | ClientOutcome::Unknown, 0, false) => true,
            (ClientOutcome::Acknowledged, 0, false) => may_leave_nothing(&operation.text),
            // What a person typed stays in the log, also where it was refused.
            (ClientOutcome::Failed, 1, false) => operation.text.starts_with('/'),
            _ => false,
        };
        if !is_fine {
            let erasure = erasure.map(|told| format!(", its erasure {told:?}")).unwrap_or_default();
            wrong.push(format!(
                "{scope}: message {id} was told {told:?}{erasure}, and is there {count} times"
            ));
        }
        if log.messages.get(id).is_some_and(|there| there.iter().any(|one| one.text != operation.text)) {
            wrong.push(format!("{scope}: message {id} is there with another text"));
        }
        let (place, seq) = (place(id, log, remains), operation.seq.map(Seq));
        if let (Some(place), Some(seq)) = (place, seq)
            && told == ClientOutcome::Acknowledged
            && !operation.text.starts_with('/')
            && place != seq
        {
            wrong.push(format!("{scope}: message {id} was told to be entry {seq}, and is entry {place}"));
        }
    }
    let sent: BTreeSet<&str> = operations.iter().map(|operation| operation.id.as_str()).collect();
    for id in log.messages.keys().filter(|id| !sent.contains(id.as_str())) {
        wrong.push(format!("{scope}: message {id} was sent by nobody, or to another scope"));
    }
    for seq in log.erased.difference(&erasable) {
        wrong.push(format!("{scope}: message {seq} is erased, and nobody asked for that"));
    }
    wrong
}

/// A command that finds nothing to do leaves nothing behind.
fn may_leave_nothing(text: &str) -> bool {
    text.starts_with('/') && text != "/new"
}

/// What was acknowledged about a task is there once: its description, its notes, its summary. What failed is not, and nothing is that
/// nobody asked for. (A flush leaves nothing behind where nothing was staged.)
fn tasks(scope: &str, operations: &[&Operation], log: &Log) -> Vec<String> {
    let mut wrong = Vec::new();
    for (op, there) in [("start", &log.descriptions), ("note", &log.notes), ("finish", &log.summaries)] {
        let mut sent = BTreeSet::new();
        for operation in operations.iter().filter(|operation| operation.action == (Action::Task { op })) {
            let (text, told) = (operation.text.trim(), operation.told);
            sent.insert(text);
            let count = there.get(text).copied().unwrap_or(0);
            let is_fine = match told {
                ClientOutcome::Acknowledged => count == 1,
                ClientOutcome::Failed => count == 0,
                ClientOutcome::Unknown => count <= 1,
            };
            if !is_fine {
                let id = &operation.id;
                wrong.push(format!("{scope}: {op} {id} was told {told:?}, and is there {count} times"));
            }
        }
        // Other notes are made by the rules.
        if op != "note"
            && let Some(text) = there.keys().find(|text| !sent.contains(text.as_str()))
        {
            wrong.push(format!("{scope}: {op} {text:?} was asked for by nobody"));
        }
    }
    wrong
}

/// Where the message with an id stands, or stood.
fn place(id: &str, log: &Log, remains: &HashMap<String, Seq>) -> Option<Seq> {
    let there = log.messages.get(id).and_then(|there| there.first()).map(|one| one.seq);
    there.or_else(|| remains.get(id).copied())
}

/// What was acknowledged before another message was sent stands before it.
fn in_order(
    scope: &str,
    operations: &[&Operation],
    log: &Log,
    remains: &HashMap<String, Seq>,
) -> Vec<String> {
    let place = |operation: &Operation| place(&operation.id, log, remains);
    let mut ended: Vec<(u64, Seq, &str)> = operations
        .iter()
        .filter(|operation| operation.told == ClientOutcome::Acknowledged)
        .filter_map(|operation| Some((operation.ended_us, place(operation)?, operation.id.as_str())))
        .collect();
    ended.sort();
    let mut begun: Vec<(u64, Seq, &str)> = operations
        .iter()
        .filter_map(|operation| Some((operation.invoked_us, place(operation)?, operation.id.as_str())))
        .collect();
    begun.sort();
    let (mut wrong, mut before, mut ended) = (Vec::new(), (Seq::ZERO, ""), ended.into_iter().peekable());
    for (invoked, seq, id) in begun {
        while let Some((_, at, of)) = ended.next_if(|(at, ..)| *at < invoked) {
            before = before.max((at, of));
        }
        if before.0 > seq {
            wrong.push(format!(
                "{scope}: message {id} was sent after {} was acknowledged, and stands before it",
                before.1
            ));
        }
    }
    wrong
}
