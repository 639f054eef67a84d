//! Tells those who watch that there are new commits: of this process by the writer, of others by a thread that polls.

use super::db::Db;
use super::{commits, open};
use crate::commits::Position;
use crate::encryption::Vault;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How often other processes are looked for, while anybody watches.
const POLL: Duration = Duration::from_millis(200);

/// The newest position, and the thread that polls for it.
#[derive(Debug)]
pub(super) struct Watcher {
    news: Arc<watch::Sender<Position>>,
    path: PathBuf,
    /// The thread ends when this is dropped.
    poller: Mutex<Option<mpsc::Sender<()>>>,
}

/// Moves the newest position forward.
pub(super) fn publish(news: &watch::Sender<Position>, position: Position) {
    news.send_if_modified(|newest| {
        let is_newer = *newest < position;
        *newest = position.max(*newest);
        is_newer
    });
}

impl Watcher {
    pub(super) fn new(path: PathBuf, newest: Position) -> Self {
        Self { news: Arc::new(watch::Sender::new(newest)), path, poller: Mutex::default() }
    }

    /// Returns what the writer publishes its commits by.
    pub(super) fn news(&self) -> Arc<watch::Sender<Position>> {
        Arc::clone(&self.news)
    }

    /// Subscribes; the first one starts the thread.
    pub(super) fn subscribe(&self) -> watch::Receiver<Position> {
        let mut poller = self.poller.lock().unwrap_or_else(PoisonError::into_inner);
        if poller.is_none() {
            let (stop, stopped) = mpsc::channel();
            let (news, path) = (self.news(), self.path.clone());
            let thread = std::thread::Builder::new().name("segue-sqlite-watcher".to_owned());
            match thread.spawn(move || poll(&news, &path, &stopped)) {
                Ok(_) => *poller = Some(stop),
                Err(error) => tracing::warn!(%error, "commits of other processes are not seen"),
            }
        }
        self.news.subscribe()
    }
}

/// Looks at the number that SQLite changes with every commit of another connection; it is in shared memory.
fn poll(news: &watch::Sender<Position>, path: &std::path::Path, stopped: &mpsc::Receiver<()>) {
    let mut reader: Option<(Db, i64)> = None;
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(POLL) {
        if news.receiver_count() == 0 {
            // Nobody waits. The open connection would keep the write-ahead log from being reset.
            reader = None;
            continue;
        }
        let (db, seen) = match reader.take() {
            Some(reader) => reader,
            None => match open::for_reading(path, &Vault::off()) {
                Ok(db) => (db, -1),
                Err(_) => continue,
            },
        };
        let version = db.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0));
        let Ok(version) = version else { continue };
        if version != seen
            && let Ok(position) = commits::last(&db)
        {
            publish(news, position);
        }
        reader = Some((db, version));
    }
}
