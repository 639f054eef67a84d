//! Workers: what is done beside the road of messages: memory, titles, retention, embeddings. One process of many does it, by a
//! lease, page by page.
//!
//! A round looks at every scope that was written since the round before, and goes on with the older ones for a part of its time. How
//! far the last round got is kept in the store, so that another process goes on there.

use crate::app::App;
use segue_core::{Timestamp, scope};
use segue_engine::Error;
use segue_store::{Cursor, Error as StoreError, Page, ScopeRow, Store, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep};

/// The name of the lease.
const LEASE: &str = "serve.workers";

/// How many scopes are on a page, and how many are looked at at the same time.
const PAGE_MAX: usize = 500;
const TOGETHER_MAX: usize = 4;

/// Which part of the time between two rounds is for older scopes.
const OLDER_PART: u32 = 4;

/// Where it is kept up to when everything that was written was looked at.
const NAMESPACE: &str = "serve.workers";
const WRITTEN_UNTIL: &str = "written_until";

/// The workers of a running server.
pub(crate) struct Workers(JoinHandle<()>);

/// Starts the workers.
pub(crate) fn start(app: &Arc<App>) -> Workers {
    Workers(tokio::spawn(work(Arc::clone(app))))
}

impl Workers {
    /// Waits until the workers have ended: they are told by the server's own signal.
    pub(crate) async fn stop(self) {
        let _ = self.0.await;
    }
}

async fn work(app: Arc<App>) {
    let mut rounds = Rounds::new(crate::ids::fresh().to_string());
    let mut stopping = app.stopping.clone();
    loop {
        let every = app.serve().work_every.unsigned_abs();
        tokio::select! {
            () = sleep(every) => {}
            _ = stopping.wait_for(|stop| *stop) => break,
        }
        tokio::select! {
            () = round(&app, &mut rounds, every) => {}
            _ = stopping.wait_for(|stop| *stop) => break,
        }
    }
    if let Err(error) = app.engine.store().release(LEASE, &rounds.holder).await {
        tracing::debug!(%error, "the workers' lease runs out by itself");
    }
}

/// What this process knows from one round to the next.
#[derive(Debug)]
struct Rounds {
    holder: String,
    /// When the lease was acquired or renewed.
    leased_at: Option<Timestamp>,
    /// Where the next page of older scopes begins; nothing once all were looked at.
    older: Option<Cursor>,
}

/// One round.
#[derive(Debug)]
struct Round {
    /// What was written before this was looked at by the round before.
    since: Option<Timestamp>,
    /// When the newest scope was written.
    newest: Option<Timestamp>,
    next: Next,
}

/// What a round looks at next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// A page of what was written since.
    Written(Option<Cursor>),
    /// A page of older scopes, which begin here unless the round before got further.
    Older(Option<Cursor>),
    /// Nothing more.
    End,
}

impl Round {
    /// Begins where the last round has ended, whichever process that was.
    async fn begin(store: &dyn Store, now: Timestamp) -> Result<Self, StoreError> {
        let kept = store.value(NAMESPACE, WRITTEN_UNTIL, now).await?;
        let since = kept.and_then(|value| String::from_utf8(value.bytes).ok()?.parse().ok());
        Ok(Self { since, newest: None, next: Next::Written(None) })
    }

    /// Lists the next scopes; nothing once the round is over. A scope that is written while somebody pages is one of the next
    /// round.
    async fn page(
        &mut self,
        rounds: &mut Rounds,
        store: &dyn Store,
        page_max: usize,
    ) -> Result<Option<Vec<scope::Key>>, StoreError> {
        match std::mem::replace(&mut self.next, Next::End) {
            Next::Written(after) => {
                let page = store.scopes(&Page { after, ..Page::first(page_max) }).await?;
                self.newest = self.newest.or(page.rows.first().map(|row| row.updated_at));
                let is_new = |row: &ScopeRow| self.since.is_none_or(|since| row.updated_at >= since);
                let count = page.rows.iter().take_while(|row| is_new(row)).count();
                self.next = match count == page.rows.len() && page.next.is_some() {
                    true => Next::Written(page.next),
                    false => {
                        self.finish_written(store).await?;
                        Next::Older(page.next)
                    }
                };
                // The rest of the last page is where the older ones begin.
                let count = if rounds.older.is_none() { page.rows.len() } else { count };
                Ok(Some(page.rows.into_iter().take(count).map(|row| row.scope).collect()))
            }
            Next::Older(begin) => {
                let Some(after) = rounds.older.take().or(begin) else { return Ok(None) };
                let page = store.scopes(&Page { after: Some(after), ..Page::first(page_max) }).await?;
                rounds.older = page.next;
                // All of them were looked at; the next round begins anew.
                self.next = if rounds.older.is_some() { Next::Older(None) } else { Next::End };
                Ok(Some(page.rows.into_iter().map(|row| row.scope).collect()))
            }
            Next::End => Ok(None),
        }
    }

    /// Keeps up to when everything was looked at.
    async fn finish_written(&self, store: &dyn Store) -> Result<(), StoreError> {
        match self.newest.filter(|newest| Some(*newest) != self.since) {
            Some(newest) => store.put_value(NAMESPACE, Value::new(WRITTEN_UNTIL, newest.to_string())).await,
            None => Ok(()),
        }
    }
}

impl Rounds {
    fn new(holder: String) -> Self {
        Self { holder, leased_at: None, older: None }
    }

    /// Acquires the lease, or renews it once a third of its time is over: a round may take longer than the lease lasts.
    /// Tells whether this process has it.
    async fn hold(&mut self, store: &dyn Store, every: Duration, now: Timestamp) -> Result<bool, StoreError> {
        let is_fresh = |at: Timestamp| now.duration_since(at).unsigned_abs() < every;
        if self.leased_at.is_some_and(is_fresh) {
            return Ok(true);
        }
        let held = store.lease(LEASE, &self.holder, every * 3, now).await?.is_held();
        self.leased_at = held.then_some(now);
        Ok(held)
    }
}

/// Looks at a part of the scopes, as long as this process has the lease.
async fn round(app: &Arc<App>, rounds: &mut Rounds, every: Duration) {
    rounds.leased_at = None;
    if !holds(app, rounds, every).await {
        return;
    }
    if let Err(error) = look(app, rounds, every).await {
        app.metrics.workers.add(&[("worker", "list"), ("result", "failed")], 1);
        return tracing::warn!(%error, "the workers cannot list the scopes");
    }
    // What was erased or dropped, and could not be taken out of the store's files then.
    if !app.engine.purge().await {
        tracing::debug!("an erasure is not finished yet");
    }
}

async fn look(app: &Arc<App>, rounds: &mut Rounds, every: Duration) -> Result<(), StoreError> {
    let store = Arc::clone(app.engine.store());
    let mut round = Round::begin(store.as_ref(), app.engine.now()).await?;
    let mut older_began: Option<Instant> = None;
    while let Some(scopes) = round.page(rounds, store.as_ref(), PAGE_MAX).await? {
        let mut running = JoinSet::new();
        for scope in scopes {
            if !holds(app, rounds, every).await {
                return Ok(());
            }
            if running.len() >= TOGETHER_MAX {
                // A worker that fails says so itself.
                drop(running.join_next().await);
            }
            let app = Arc::clone(app);
            running.spawn(async move { one(&app, &scope).await });
        }
        running.join_all().await;
        if !matches!(round.next, Next::Written(_)) {
            let began = *older_began.get_or_insert_with(Instant::now);
            if began.elapsed() >= every / OLDER_PART {
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn holds(app: &Arc<App>, rounds: &mut Rounds, every: Duration) -> bool {
    let result = match rounds.hold(app.engine.store().as_ref(), every, app.engine.now()).await {
        Ok(true) => return true,
        Ok(false) => "taken",
        Err(error) => {
            tracing::warn!(%error, "the workers' lease was not given");
            "failed"
        }
    };
    app.metrics.workers.add(&[("worker", "lease"), ("result", result)], 1);
    false
}

async fn one(app: &App, scope: &scope::Key) {
    let engine = &app.engine;
    record_result(app, "memory", Box::pin(engine.archive(scope)).await.map(|_| ()));
    record_result(app, "titles", Box::pin(engine.name_sessions(scope)).await.map(|_| ()));
    record_result(app, "retention", Box::pin(engine.retain(scope, engine.now())).await.map(|_| ()));
    record_result(app, "embeddings", Box::pin(engine.prepare_recall(scope)).await);
}

fn record_result(app: &App, worker: &str, result: Result<(), Error>) {
    let word = match &result {
        Ok(()) => "done",
        Err(error) => {
            tracing::warn!(worker, %error, "a worker failed; it is tried again");
            "failed"
        }
    };
    app.metrics.workers.add(&[("worker", worker), ("result", word)], 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_store::conformance::World;
    use segue_store::memory::Memory;
    use std::collections::BTreeSet;

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    async fn written(store: &Arc<dyn Store>, scope: usize, minute: i64) {
        let mut world = World::at(Arc::clone(store), &format!("agent:main:cli:direct:p{scope:02}"));
        world.now = at(minute * 60);
        world.say("hello").await;
    }

    /// What a round looks at, page by page: what was written since, then one page of older ones.
    async fn looked_at(store: &Arc<dyn Store>, rounds: &mut Rounds) -> Vec<Vec<String>> {
        let mut round = Round::begin(store.as_ref(), at(0)).await.unwrap();
        let mut pages = Vec::new();
        while let Some(page) = round.page(rounds, store.as_ref(), 4).await.unwrap() {
            pages.push(page.iter().map(|key| key.to_string().split_off(22)).collect());
            if pages.len() > 1 && !matches!(round.next, Next::Written(_)) {
                break;
            }
        }
        pages
    }

    /// Everything that was written is looked at in the next round, however much it is; a scope that nobody writes to any more has
    /// its turn as well; another process goes on where the first one was.
    #[tokio::test]
    async fn every_scope_is_looked_at() {
        let store: Arc<dyn Store> = Arc::new(Memory::default());
        for n in 0..23 {
            written(&store, n, n as i64).await;
        }
        let mut rounds = Rounds::new("a".into());
        let first = looked_at(&store, &mut rounds).await.concat();
        assert_eq!(first.len(), 23, "{first:?}");
        // Ten of them are written: these are three pages, and the newest of the round before comes again.
        for n in 5..15 {
            written(&store, n, 100 + n as i64).await;
        }
        let mut other = Rounds::new("b".into());
        let second = looked_at(&store, &mut other).await;
        let expected = (5..15).rev().chain([22]).map(|n| format!("p{n:02}"));
        assert_eq!(second[..3].concat()[..11], expected.collect::<Vec<_>>(), "{second:?}");
        // Nothing was written since: the older ones follow, until all were looked at.
        let mut seen = BTreeSet::new();
        for _ in 0..7 {
            seen.extend(looked_at(&store, &mut other).await.concat());
        }
        assert_eq!(seen.len(), 23, "{seen:?}");
    }

    /// A round that takes longer than the lease keeps the others out, and ends where it could not.
    #[tokio::test]
    async fn the_lease_is_renewed_while_a_round_lasts() {
        let store = Memory::default();
        let (mut a, mut b) = (Rounds::new("a".into()), Rounds::new("b".into()));
        for second in (0..600).step_by(20) {
            assert!(a.hold(&store, MINUTE, at(second)).await.unwrap());
            assert!(!b.hold(&store, MINUTE, at(second)).await.unwrap(), "{second}");
        }
        // The machine slept, and the other one has it now.
        assert!(b.hold(&store, MINUTE, at(2_000)).await.unwrap());
        assert!(!a.hold(&store, MINUTE, at(2_001)).await.unwrap());
        assert_eq!(a.leased_at, None);
    }
}
