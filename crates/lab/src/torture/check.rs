//! The checker: compares what clients were told with what the log says.

use super::history::{Action, ClientOutcome, Operation};
use segue_core::entry::{Body, Bytes, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope;
use segue_core::task::observation::Observation;
use segue_store::{Page, Store};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How many entries or scopes are read at a time.
const PAGE: usize = 1_000;

/// A message in the log.
struct Found {
    seq: Seq,
    text: String,
}

/// What the log of a scope has, by what clients know.
#[derive(Default)]
struct Log {
    /// Messages and commands by their ids.
    messages: HashMap<String, Vec<Found>>,
    /// How often each note of a task is there.
    notes: HashMap<String, usize>,
    /// Messages whose bodies are erased.
    erased: BTreeSet<Seq>,
    /// Where messages stand that were erased, by their ids.
    remains: HashMap<String, Seq>,
}

impl Log {
    fn of(records: &[Record]) -> Self {
        let mut log = Self::default();
        for record in records {
            if matches!(record.bytes, Bytes::Erased(_)) && record.kind.role().is_some() {
                log.erased.insert(record.seq);
            }
            let (id, text) = match record.body() {
                Ok(Body::Message(_, message)) => (message.message_id, message.text),
                Ok(Body::Command(spoken)) => (spoken.message_id, spoken.text),
                Ok(Body::Observation(observing)) => {
                    if let Observation::Note(note) = observing.observation {
                        *log.notes.entry(note.text).or_default() += 1;
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(id) = id {
                log.messages.entry(id.0).or_default().push(Found { seq: record.seq, text });
            }
        }
        log
    }

    fn count(&self, id: &str) -> usize {
        self.messages.get(id).map_or(0, Vec::len)
    }

    /// Where the message with an id stands, or stood.
    fn place(&self, id: &str) -> Option<Seq> {
        let there = self.messages.get(id).and_then(|there| there.first()).map(|one| one.seq);
        there.or_else(|| self.remains.get(id).copied())
    }
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
        let records = whole_log(store, &scope).await?;
        wrong.extend(numbered(name, &records));
        let mut log = Log::of(&records);
        for operation in operations {
            if let Action::Erase { id, .. } = &operation.action
                && log.count(id) == 0
                && let Some(seq) = store.seen(&scope, &MessageId(id.clone())).await?
            {
                log.remains.insert(id.clone(), seq);
            }
        }
        wrong.extend(once(name, operations, &log));
        wrong.extend(in_order(name, operations, &log));
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

/// Every acknowledged message is there once, none that failed (but for commands, which stay as they were typed), and none that
/// nobody sent; each is whole. What was erased is gone, and nothing else is. Every acknowledged note is there once.
fn once(scope: &str, operations: &[&Operation], log: &Log) -> Vec<String> {
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
        let (id, told) = (&operation.id, operation.told);
        let count = match &operation.action {
            Action::Message | Action::Reply { .. } => log.count(id),
            Action::Task { op: "note" } => log.notes.get(&operation.text).copied().unwrap_or(0),
            Action::Task { .. } | Action::Erase { .. } => continue,
        };
        let erasure = erasures.get(id.as_str()).copied();
        let is_fine = match (told, count, log.remains.contains_key(id)) {
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

/// What was acknowledged before another message was sent stands before it.
fn in_order(scope: &str, operations: &[&Operation], log: &Log) -> Vec<String> {
    let place = |operation: &Operation| log.place(&operation.id);
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
