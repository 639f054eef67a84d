//! What a store says about a scope, for the checker.

use super::history::{Action, Operation};
use segue_core::entry::{Body, Bytes, Record, Seq, Wording};
use segue_core::message::MessageId;
use segue_core::scope;
use segue_core::session::{Id, Number};
use segue_core::task::observation::Observation;
use segue_store::Store;
use std::collections::{BTreeSet, HashMap, HashSet};

/// How many entries are read at a time.
const PAGE: usize = 1_000;

/// A message in the log.
#[derive(Debug, Clone)]
pub struct Found {
    pub seq: Seq,
    pub text: String,
}

/// A scope, as a store has it.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The scope.
    pub scope: String,
    /// Its whole log.
    pub records: Vec<Record>,
    /// Where messages stand that were erased, by their ids.
    pub remains: HashMap<String, Seq>,
    /// What `segue verify` says: digests, the fold, the rows beside the log.
    pub problems: Vec<String>,
}

impl Evidence {
    /// Reads a scope.
    pub async fn of(store: &dyn Store, scope: &str, operations: &[&Operation]) -> anyhow::Result<Self> {
        let key: scope::Key = scope.parse()?;
        let mut records: Vec<Record> = Vec::new();
        loop {
            let after = records.last().map_or(Seq::ZERO, |record| record.seq);
            let page = store.tail(&key, after, PAGE).await?;
            if page.is_empty() {
                break;
            }
            records.extend(page);
        }
        let log = Log::of(&records);
        let mut remains = HashMap::new();
        for operation in operations {
            if let Action::Erase { id, .. } = &operation.action
                && log.count(id) == 0
                && let Some(seq) = store.seen(&key, &MessageId(id.clone())).await?
            {
                remains.insert(id.clone(), seq);
            }
        }
        let problems = segue_store::verify::verify(store, &key).await?.problems;
        Ok(Self { scope: scope.to_owned(), records, remains, problems })
    }
}

/// What the log of a scope has, by what clients know.
#[derive(Debug, Default)]
pub struct Log {
    /// Messages and commands by their ids.
    pub messages: HashMap<String, Vec<Found>>,
    /// How often each note of a task is there.
    pub notes: HashMap<String, usize>,
    /// How often each description of a task is there.
    pub descriptions: HashMap<String, usize>,
    /// How often each summary of a task is there.
    pub summaries: HashMap<String, usize>,
    /// Messages whose bodies are erased.
    pub erased: BTreeSet<Seq>,
    /// The messages and commands that were decided on.
    pub decided: HashSet<Seq>,
    /// The sessions that begin, in the order of the log.
    pub sessions: Vec<(Number, Id)>,
}

impl Log {
    /// Reads a log.
    pub fn of(records: &[Record]) -> Self {
        let mut log = Self::default();
        for record in records {
            if matches!(record.bytes, Bytes::Erased(_)) && record.kind.role().is_some() {
                log.erased.insert(record.seq);
            }
            let (id, text) = match record.body() {
                Ok(Body::Message(_, message)) => (message.message_id, message.text),
                Ok(Body::Command(spoken)) => (spoken.message_id, spoken.text),
                Ok(other) => {
                    log.note(other);
                    continue;
                }
                Err(_) => continue,
            };
            if let Some(id) = id {
                log.messages.entry(id.0).or_default().push(Found { seq: record.seq, text });
            }
        }
        log
    }

    fn note(&mut self, body: Body) {
        let mut count = |text: String, notes: fn(&mut Self) -> &mut HashMap<String, usize>| {
            *notes(self).entry(text.trim().to_owned()).or_default() += 1;
        };
        match body {
            Body::Observation(observing) => {
                if let Observation::Note(note) = observing.observation {
                    count(note.text, |log| &mut log.notes);
                }
            }
            Body::Worded(words) => match words.wording {
                Wording::Description => count(words.text, |log| &mut log.descriptions),
                Wording::Summary => count(words.text, |log| &mut log.summaries),
                Wording::Reason => {}
            },
            Body::Decision(decision) => _ = self.decided.insert(decision.about),
            Body::Opened(opened) => self.sessions.push((opened.session, opened.id)),
            Body::Forked(branch) | Body::Split(branch) => self.sessions.push((branch.session, branch.id)),
            _ => {}
        }
    }

    /// Counts the messages with an id.
    pub fn count(&self, id: &str) -> usize {
        self.messages.get(id).map_or(0, Vec::len)
    }
}
