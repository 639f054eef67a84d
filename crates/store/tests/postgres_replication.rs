//! N-3: what a standby may not have is not acknowledged. The server waits for a standby that is not there, so that every commit is
//! one that a failover would lose.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use segue_core::Timestamp;
use segue_core::decide::Command;
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId, Role};
use segue_core::session::Number;
use segue_store::conformance::{World, said};
use segue_store::postgres::Postgres;
use segue_store::{Append, Error, Store, Value, settle};
use segue_testing::pooler::{Pooler, StartupOptions};
use segue_testing::postgres::{Cluster, Durability, or_skipped};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A server whose commits wait for a standby for ever, and a scope in it.
struct Alone {
    cluster: Cluster,
    name: String,
    world: World,
}

impl Alone {
    async fn new() -> Option<Self> {
        let cluster = or_skipped(Cluster::start(Durability::Synced))?;
        let name = cluster.create().unwrap();
        let store: Arc<dyn Store> = Arc::new(Postgres::open(&cluster.url(&name)).unwrap());
        let mut world = World::new(store);
        world.say("before").await;
        let alone = Self { cluster, name, world };
        alone.wait_for_standby().await;
        Some(alone)
    }

    /// Opens the store once more.
    fn open(&self, settings: &str) -> Arc<dyn Store> {
        Arc::new(Postgres::open(&format!("{}{settings}", self.cluster.url(&self.name))).unwrap())
    }

    /// Terminates whoever waits for a standby.
    fn terminate(&self) {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        self.cluster.psql("postgres", sql).unwrap();
    }

    /// Lets commits wait for a standby that is not there.
    async fn wait_for_standby(&self) {
        self.set("nobody").await;
    }

    /// Lets nobody wait any more, as if the standby had come back.
    async fn release(&self) {
        self.set("").await;
    }

    async fn set(&self, standby: &str) {
        let sql = format!("ALTER SYSTEM SET synchronous_standby_names = '{standby}'");
        self.cluster.psql("postgres", &sql).unwrap();
        self.cluster.psql("postgres", "SELECT pg_reload_conf()").unwrap();
        self.until("SELECT current_setting('synchronous_standby_names')", standby).await;
    }

    /// Asks until the answer is the wanted one.
    async fn until(&self, sql: &str, wanted: &str) {
        while self.cluster.psql(&self.name, sql).unwrap() != wanted {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until so many wait for a standby, or for somebody who does.
    async fn waiting(&self, count: usize) {
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' OR wait_event_type = 'Lock'";
        self.until(waiting, &count.to_string()).await;
    }

    async fn append(&mut self, text: &str) -> Append {
        let message = Message { message_id: Some(MessageId(text.to_owned())), ..Message::text(text) };
        let command = Command::Say { role: Role::User, message };
        self.world.append_of(self.world.state().await, &command).unwrap().0
    }
}

/// Something to do with a store, more than once.
type Work = fn(Arc<dyn Store>) -> Pin<Box<dyn Future<Output = Result<bool, Error>>>>;

/// Runs something with a store in a task of its own.
fn spawned<T: 'static>(
    store: &Arc<dyn Store>,
    work: impl AsyncFnOnce(Arc<dyn Store>) -> T + 'static,
) -> tokio::task::JoinHandle<T> {
    let store = Arc::clone(store);
    tokio::task::spawn_local(async move { work(store).await })
}

/// The backend of an append is terminated while it waits for its standby: the append is there, and is not acknowledged by anybody
/// before the standby has it.
#[tokio::test]
async fn n3_a_commit_that_no_standby_has_is_not_acknowledged() {
    let Some(mut alone) = Alone::new().await else { return };
    let append = alone.append("hello").await;
    let (scope, after, id) = (alone.world.scope.clone(), append.prior.head, append.id);
    let store = Arc::clone(&alone.world.store);
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let (sent, again) = (append.clone(), append.clone());
            let lost = spawned(&store, async move |store| store.append(sent).await);
            alone.waiting(1).await;
            alone.terminate();
            let lost = lost.await.unwrap();
            assert!(matches!(lost, Err(Error::Unknown { .. })), "{lost:?}");
            // It is there, for everybody to see.
            assert_eq!(store.head(&scope).await.unwrap(), Some(append.next.head));
            let of = scope.clone();
            let asked = spawned(&store, async move |store| store.appended(&of, after, id).await);
            alone.waiting(1).await;
            let sent = spawned(&store, async move |store| settle::append(store.as_ref(), again).await);
            alone.waiting(2).await;
            // A second delivery, by another append.
            let mut other = append.clone();
            other.id = alone.world.append_id();
            let other = spawned(&store, async move |store| store.append(other).await);
            alone.waiting(3).await;
            let of = scope.clone();
            let seen = spawned(&store, async move |store| store.seen(&of, &MessageId("hello".into())).await);
            alone.waiting(4).await;
            for is_told in [asked.is_finished(), sent.is_finished(), other.is_finished(), seen.is_finished()]
            {
                assert!(!is_told);
            }
            alone.release().await;
            assert_eq!(asked.await.unwrap().unwrap(), Some(append.next.head));
            sent.await.unwrap().unwrap();
            assert!(matches!(other.await.unwrap(), Err(Error::Duplicate { .. })));
            assert!(seen.await.unwrap().unwrap().is_some());
        })
        .await;
    assert_eq!(alone.world.texts(Number(1)).await, ["before", "hello"]);
    alone.world.verify().await;
}

/// Somebody cancels an append while it waits for its standby: the server acknowledges with a warning, and that is no acknowledgement.
/// A database that is set to hide warnings changes nothing about that.
#[tokio::test]
async fn n3_a_wait_for_a_standby_that_is_cancelled_is_no_acknowledgement() {
    let Some(mut alone) = Alone::new().await else { return };
    alone.release().await;
    let hide = format!("ALTER DATABASE {} SET client_min_messages = 'error'", alone.name);
    alone.cluster.psql("postgres", &hide).unwrap();
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            // With statements that are prepared, and as behind a pooler.
            for settings in ["", "?statements=unnamed"] {
                let store = alone.open(settings);
                // A turn, and a transaction.
                for command in [said("hello"), Command::New { first: None }] {
                    alone.wait_for_standby().await;
                    let state = alone.world.state().await;
                    let (append, _) = alone.world.append_of(state, &command).unwrap();
                    let again = append.clone();
                    let lost = spawned(&store, async move |store| store.append(append).await);
                    alone.waiting(1).await;
                    alone.cluster.psql("postgres", cancel).unwrap();
                    let lost = lost.await.unwrap();
                    assert!(matches!(lost, Err(Error::Unknown { .. })), "{settings}: {lost:?}");
                    let sent =
                        spawned(&store, async move |store| settle::append(store.as_ref(), again).await);
                    alone.waiting(1).await;
                    assert!(!sent.is_finished());
                    alone.release().await;
                    sent.await.unwrap().unwrap();
                }
            }
        })
        .await;
    assert_eq!(alone.world.texts(Number(1)).await, ["before", "hello"]);
    alone.world.verify().await;
}

/// Values, and ids that are kept: what was written before, and what a standby may not have, is not told as done either.
#[tokio::test]
async fn n3_a_value_that_no_standby_has_is_not_acknowledged() {
    let Some(alone) = Alone::new().await else { return };
    alone.release().await;
    let store = Arc::clone(&alone.world.store);
    store.put_value("tokens", Value::new("old", "x")).await.unwrap();
    let works: [(&str, Work, bool); 3] = [
        (
            "insert",
            |store| {
                Box::pin(async move {
                    let new = Value::new("new", "x");
                    store
                        .insert_value("tokens", new, Timestamp::UNIX_EPOCH)
                        .await
                        .map(|there| there.is_some())
                })
            },
            true,
        ),
        ("delete", |store| Box::pin(async move { store.delete_value("tokens", "old").await }), false),
        (
            "keep",
            |store| {
                Box::pin(async move {
                    let scope = "agent:main:cli:direct:me".parse().unwrap();
                    let ids = vec![(MessageId("kept".into()), Seq(1))];
                    store.keep_ids(&scope, ids).await.map(|()| true)
                })
            },
            true,
        ),
    ];
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            for (name, work, found) in works {
                alone.wait_for_standby().await;
                let lost = tokio::task::spawn_local(work(Arc::clone(&store)));
                alone.waiting(1).await;
                alone.terminate();
                assert!(lost.await.unwrap().is_err(), "{name}");
                let again = tokio::task::spawn_local(work(Arc::clone(&store)));
                alone.waiting(1).await;
                assert!(!again.is_finished(), "{name}");
                alone.release().await;
                assert_eq!(again.await.unwrap().unwrap(), found, "{name}");
            }
        })
        .await;
}

/// What else is written by one statement.
async fn written(store: Arc<dyn Store>, what: &str, key: &str) -> Result<(), Error> {
    let value = Value::new(key, "x");
    match what {
        "put" => store.put_value("tokens", value).await,
        "insert" => store.insert_value("tokens", value, Timestamp::UNIX_EPOCH).await.map(drop),
        "delete" => store.delete_value("tokens", key).await.map(drop),
        "keep" => {
            let scope = "agent:main:cli:direct:me".parse().unwrap();
            store.keep_ids(&scope, vec![(MessageId(key.to_owned()), Seq(1))]).await
        }
        "lease" => store.lease(key, "me", Duration::from_secs(60), Timestamp::UNIX_EPOCH).await.map(drop),
        _ => unreachable!("{what}"),
    }
}

/// A wait for a standby that is cancelled acknowledges no value either, in a database that is set to hide warnings.
#[tokio::test]
async fn n3_a_value_whose_wait_is_cancelled_is_not_acknowledged() {
    let Some(alone) = Alone::new().await else { return };
    alone.release().await;
    let hide = format!("ALTER DATABASE {} SET client_min_messages = 'error'", alone.name);
    alone.cluster.psql("postgres", &hide).unwrap();
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            for (settings, key) in [("", "prepared"), ("?statements=unnamed", "unnamed")] {
                let store = alone.open(settings);
                written(Arc::clone(&store), "put", &format!("delete {key}")).await.unwrap();
                for what in ["put", "insert", "delete", "keep", "lease"] {
                    let key = format!("{what} {key}");
                    alone.wait_for_standby().await;
                    let of = key.clone();
                    let lost = spawned(&store, async move |store| written(store, what, &of).await);
                    alone.waiting(1).await;
                    alone.cluster.psql("postgres", cancel).unwrap();
                    let lost = lost.await.unwrap();
                    assert!(lost.is_err(), "{key}: it is told as done");
                    alone.release().await;
                    written(Arc::clone(&store), what, &key).await.unwrap();
                }
            }
        })
        .await;
}

/// The server crashes and starts again while an append waits for its standby: the same.
#[tokio::test]
async fn n3_a_restart_in_place_acknowledges_nothing_by_itself() {
    let Some(alone) = Alone::new().await else { return };
    let store = Arc::clone(&alone.world.store);
    restarted(alone, store).await;
}

/// The same behind a pooler, which tells of it in words of its own.
#[tokio::test]
async fn n3_a_restart_behind_a_pooler_is_an_unknown_outcome() {
    let Some(alone) = Alone::new().await else { return };
    let Some(pooler) = or_skipped(Pooler::start(&alone.cluster, 3, StartupOptions::Refused)) else { return };
    let url = format!("postgres://segue@127.0.0.1:{}/{}?statements=unnamed", pooler.port(), alone.name);
    restarted(alone, Arc::new(Postgres::open(&url).unwrap())).await;
}

async fn restarted(mut alone: Alone, store: Arc<dyn Store>) {
    let append = alone.append("hello").await;
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let (sent, again) = (append.clone(), append.clone());
            let lost = spawned(&store, async move |store| store.append(sent).await);
            alone.waiting(1).await;
            alone.cluster.crash_and_restart(Durability::Synced).unwrap();
            let lost = lost.await.unwrap();
            assert!(matches!(lost, Err(Error::Unknown { .. })), "{lost:?}");
            // What was written, and not acknowledged, is there again.
            alone.until("SELECT count(*) FROM segue_commits", "2").await;
            let sent = spawned(&store, async move |store| {
                loop {
                    match settle::append(store.as_ref(), again.clone()).await {
                        Err(Error::Unavailable { .. } | Error::Unknown { .. }) => {
                            tokio::task::yield_now().await
                        }
                        done => return done,
                    }
                }
            });
            alone.waiting(1).await;
            assert!(!sent.is_finished());
            alone.release().await;
            sent.await.unwrap().unwrap();
        })
        .await;
    assert_eq!(alone.world.texts(Number(1)).await, ["before", "hello"]);
    alone.world.verify().await;
}
