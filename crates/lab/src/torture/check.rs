//! The checker: compares what clients were told with what the log says.

use super::history::{Operation, Told};
use segue_core::entry::{Body, Record, Seq};
use segue_core::scope;
use segue_store::{Page, Store};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How many entries or scopes are read at a time.
const PAGE: usize = 1_000;

/// A message in the log.
struct Found {
    seq: Seq,
    text: String,
}

/// Says what is wrong, one sentence each.
pub async fn check(store: &dyn Store, history: &[Operation]) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut by_scope: BTreeMap<String, Vec<&Operation>> = BTreeMap::new();
    for operation in history {
        by_scope.entry(operation.scope.clone()).or_default().push(operation);
    }
    for scope in every_scope(store).await? {
        by_scope.entry(scope).or_default();
    }
    let mut sessions = BTreeSet::new();
    for (name, operations) in &by_scope {
        let scope: scope::Key = name.parse()?;
        let log = whole_log(store, &scope).await?;
        wrong.extend(numbered(name, &log));
        let found = messages(&log);
        wrong.extend(once(name, operations, &found));
        wrong.extend(in_order(name, operations, &found));
        let Some(state) = store.load(&scope).await? else { continue };
        if state.open.is_none() {
            wrong.push(format!("{name}: there is no latest session"));
        }
        for (number, session) in state.sessions.iter() {
            if !sessions.insert(session.id) {
                wrong.push(format!("{name}: session {number} has the id of another one"));
            }
        }
        let report = segue_store::verify::verify(store, &scope).await?;
        wrong.extend(report.problems.into_iter().map(|problem| format!("{name}: {problem}")));
    }
    wrong.extend(store.audit(None).await?);
    Ok(wrong)
}

async fn every_scope(store: &dyn Store) -> anyhow::Result<Vec<String>> {
    let (mut all, mut page) = (Vec::new(), Page::first(PAGE));
    loop {
        let listed = store.scopes(&page).await?;
        all.extend(listed.rows.iter().map(|row| row.scope.to_string()));
        page.after = listed.next;
        if page.after.is_none() {
            return Ok(all);
        }
    }
}

async fn whole_log(store: &dyn Store, scope: &scope::Key) -> anyhow::Result<Vec<Record>> {
    let mut all: Vec<Record> = Vec::new();
    loop {
        let after = all.last().map_or(Seq::ZERO, |record| record.seq);
        let page = store.tail(scope, after, PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// Entries are numbered 1, 2, 3: nothing was deleted in a run.
fn numbered(scope: &str, log: &[Record]) -> Option<String> {
    let gap = (1..).map(Seq).zip(log).find(|(expected, record)| record.seq != *expected);
    gap.map(|(expected, record)| format!("{scope}: entry {expected} is missing before entry {}", record.seq))
}

fn messages(log: &[Record]) -> HashMap<String, Vec<Found>> {
    let mut found: HashMap<String, Vec<Found>> = HashMap::new();
    for record in log {
        let (id, text) = match record.body() {
            Ok(Body::Message(_, message)) => (message.message_id, message.text),
            Ok(Body::Command(spoken)) => (spoken.message_id, spoken.text),
            _ => continue,
        };
        if let Some(id) = id {
            found.entry(id.0).or_default().push(Found { seq: record.seq, text });
        }
    }
    found
}

/// Every acknowledged message is there once, none that failed, and none that nobody sent; each is whole.
fn once(scope: &str, operations: &[&Operation], found: &HashMap<String, Vec<Found>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for operation in operations {
        let there = found.get(&operation.id).map(Vec::as_slice).unwrap_or_default();
        // An undo that finds nothing to take back leaves nothing behind.
        let may_leave_nothing = operation.text == "/undo";
        let is_fine = match (operation.told, there.len()) {
            (Told::Acknowledged, 1) | (Told::Failed, 0) | (Told::Unknown, 0 | 1) => true,
            (Told::Acknowledged, 0) => may_leave_nothing,
            _ => false,
        };
        if !is_fine {
            let (id, told, count) = (&operation.id, operation.told, there.len());
            wrong.push(format!("{scope}: message {id} was told {told:?}, and is there {count} times"));
        }
        if there.iter().any(|one| one.text != operation.text) {
            wrong.push(format!("{scope}: message {} is there with another text", operation.id));
        }
    }
    let sent: BTreeSet<&str> = operations.iter().map(|operation| operation.id.as_str()).collect();
    for id in found.keys().filter(|id| !sent.contains(id.as_str())) {
        wrong.push(format!("{scope}: message {id} was sent by nobody, or to another scope"));
    }
    wrong
}

/// What was acknowledged before another message was sent stands before it.
fn in_order(scope: &str, operations: &[&Operation], found: &HashMap<String, Vec<Found>>) -> Vec<String> {
    let place =
        |operation: &Operation| found.get(&operation.id).and_then(|there| there.first()).map(|one| one.seq);
    let mut ended: Vec<(u64, Seq, &str)> = operations
        .iter()
        .filter(|operation| operation.told == Told::Acknowledged)
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
