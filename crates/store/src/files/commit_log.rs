//! The commits of a files store, for `watch` and for appends that are sent again: `commits.jsonl`.
//!
//! A line without a number is written before its append, one with its number behind it; neither is synced. After a crash
//! between the two, and after a power cut, the number is given when the scope is read: its head tells what was made.

use crate::commits::{Commit, Feed, Position};
use crate::private;
use crate::types::{Append, AppendId};
use segue_core::digest::Digest;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use segue_core::session;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

const FILE: &str = "commits.jsonl";

/// A file that has more lines than are kept by this factor is written anew.
const LINES_MAX: usize = 4 * crate::commits::KEPT_MIN;

#[derive(Serialize, Deserialize)]
struct CommitRecord {
    /// Nothing while the append is being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    scope: String,
    after: u64,
    head: u64,
    id: String,
    /// The beginning of the digest of the other fields: a line that was changed is left out.
    sum: String,
}

impl CommitRecord {
    fn sum(&self) -> String {
        let Self { n, scope, after, head, id, sum: _ } = self;
        let fields = format!("{n:?} {scope} {after} {head} {id}");
        Digest::of_body(fields.as_bytes()).to_string().chars().take(16).collect()
    }
}

/// The commits, in memory and in their file.
#[derive(Debug)]
pub(super) struct CommitLog {
    pub(super) feed: Feed,
    heads: HashMap<Key, Seq>,
    /// The append of each scope that was begun last.
    begun: HashMap<Key, (Seq, Seq, AppendId)>,
    path: PathBuf,
    file: Option<File>,
}

impl CommitLog {
    /// Reads the commits of earlier runs. What cannot be read is left out: it is made again from the logs.
    pub(super) fn open(dir: &Path) -> Self {
        let path = dir.join(FILE);
        let (heads, begun) = (HashMap::new(), HashMap::new());
        let mut log = Self { feed: Feed::default(), heads, begun, path, file: None };
        let text = fs::read(&log.path).unwrap_or_default();
        let mut lines = 0;
        for line in text.split(|byte| *byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<CommitRecord>(line) else { continue };
            if line.sum != line.sum() {
                continue;
            }
            let Ok(scope) = line.scope.parse::<Key>() else { continue };
            let (after, head) = (Seq(line.after), Seq(line.head));
            let Ok(id) = line.id.parse::<session::Id>() else { continue };
            let id = AppendId::from(id);
            lines += 1;
            let Some(n) = line.n else {
                log.begun.insert(scope, (after, head, id));
                continue;
            };
            log.heads.insert(scope.clone(), head);
            log.feed.restore(Commit { position: Position(n), scope, after, head }, id);
        }
        if lines > LINES_MAX
            && let Err(error) = log.shorten()
        {
            tracing::warn!(%error, "the list of commits could not be shortened");
        }
        log
    }

    fn shorten(&self) -> std::io::Result<()> {
        let staged = self.path.with_extension("new");
        let mut bytes = Vec::new();
        for (commit, id) in self.feed.iter() {
            let Commit { position, scope, after, head } = commit;
            bytes.extend_from_slice(line(Some(*position), scope, *after, *head, *id).as_bytes());
        }
        private::write(&staged, bytes)?;
        fs::rename(staged, &self.path)
    }

    /// Returns the last entry of a scope that is known to have been written.
    pub(super) fn head(&self, scope: &Key) -> Option<Seq> {
        self.heads.get(scope).copied()
    }

    /// Notes an append that is about to be written.
    pub(super) fn begin(&mut self, append: &Append) {
        let (after, head) = (append.prior.head, append.next.head);
        self.write(&line(None, append.scope(), after, head, append.id));
    }

    /// Tells of an append that was written.
    pub(super) fn push(&mut self, scope: &Key, after: Seq, head: Seq, id: AppendId) {
        self.write(&line(Some(self.feed.last().next()), scope, after, head, id));
        self.heads.insert(scope.clone(), head);
        // Last, so that who is woken by it finds the list free.
        self.feed.push(scope.clone(), after, head, id);
    }

    /// Gives the number that is missing for a scope that was just read, if one is.
    pub(super) fn catch_up(&mut self, scope: &Key, head: Seq) {
        let known = self.heads.get(scope).copied().unwrap_or(Seq::ZERO);
        if known < head {
            let id = match self.begun.get(scope) {
                Some((after, to, id)) if (*after, *to) == (known, head) => *id,
                _ => AppendId([0; 16]),
            };
            self.push(scope, known, head, id);
        }
    }

    fn write(&mut self, line: &str) {
        if self.file.is_none() {
            self.file = private::options().append(true).create(true).open(&self.path).ok();
        }
        let written = self.file.as_mut().map(|file| file.write_all(line.as_bytes()));
        if !matches!(written, Some(Ok(()))) {
            self.file = None;
            tracing::warn!(path = %self.path.display(), "a commit could not be noted for those who watch");
        }
    }
}

fn line(position: Option<Position>, scope: &Key, after: Seq, head: Seq, id: AppendId) -> String {
    let (n, id) = (position.map(|position| position.0), id.to_string());
    let (scope, sum) = (scope.to_string(), String::new());
    let mut line = CommitRecord { n, scope, after: after.0, head: head.0, id, sum };
    line.sum = line.sum();
    // A line begins on its own, whatever a crash has left of the one before.
    format!("\n{}", serde_json::to_string(&line).unwrap_or_default())
}
