//! What a test can only see from inside: who wakes a store, and which commits are kept.

use super::{Postgres, watch};
use crate::commits::{KEPT_MIN, Position};
use crate::conformance::World;
use crate::error::Error;
use crate::store::{Log as _, Watch as _};
use segue_core::scope::Key;
use segue_testing::postgres::{Database, database};
use std::sync::Arc;
use std::time::Duration;

const SCOPE: &str = "agent:main:cli:direct:me";

/// Longer than any test runs.
const NEVER: Duration = Duration::from_secs(100_000);

/// How long a store may take to hear of a commit, on a busy machine.
const HEARD_MAX: Duration = Duration::from_secs(60);

fn open(database: &Database, settings: &str, poll: Duration) -> Arc<Postgres> {
    Arc::new(Postgres::polling(&format!("{}?{settings}", database.url()), poll).unwrap())
}

/// Counts the connections of a store that listen.
fn listening(database: &Database, name: &str) -> String {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = '{name}'
         AND query = 'LISTEN segue_commits' AND state = 'idle'"
    );
    database.psql(&sql).unwrap()
}

/// Lets one store write until the other one hears of it: a commit may be hidden behind a transaction of another test.
async fn write_until_heard(writer: Arc<Postgres>, reader: &Postgres) {
    let mut news = reader.subscribe();
    let mut world = World::new(writer);
    let heard = async {
        loop {
            world.say("hello").await;
            let once = tokio::time::timeout(Duration::from_secs(1), news.changed());
            if once.await.is_ok() {
                return;
            }
        }
    };
    tokio::time::timeout(HEARD_MAX, heard).await.expect("the other store hears of it");
    assert!(*news.borrow() > Position::START);
}

/// N-4: only the other node writes, and this one never asks by itself: it is woken by NOTIFY.
#[tokio::test]
async fn n4_a_commit_of_another_node_is_announced() {
    let Some(database) = database() else { return };
    let reader = open(&database, "application_name=reader", NEVER);
    drop(reader.subscribe());
    while listening(&database, "reader") != "1" {
        tokio::task::yield_now().await;
    }
    write_until_heard(open(&database, "", watch::POLL), &reader).await;
}

/// N-4: where nothing can be listened to, as behind a pooler, the database is asked again and again.
#[tokio::test]
async fn n4_a_commit_of_another_node_is_found_by_polling() {
    let Some(database) = database() else { return };
    let reader = open(&database, "application_name=reader&statements=unnamed", watch::POLL);
    write_until_heard(open(&database, "", watch::POLL), &reader).await;
    assert_eq!(listening(&database, "reader"), "0");
}

/// N-2: however many commits there have been since, an append whose outcome is unknown can be asked for.
#[tokio::test]
async fn n2_commits_are_kept_by_their_number_and_by_time() {
    let Some(database) = database() else { return };
    let store = open(&database, "", watch::POLL);
    let mut world = World::new(Arc::clone(&store) as _);
    world.say("long ago").await;
    // A transaction of another test may hide the commit for a moment.
    let a_while_ago = loop {
        match watch::trim(&store.shared, Position::START).await.unwrap() {
            Position::START => tokio::task::yield_now().await,
            last => break last,
        }
    };
    let state = world.state().await;
    let (append, _) = world.append_of(state, &crate::conformance::said("just now")).unwrap();
    store.append(append.clone()).await.unwrap();
    // More commits of others than are kept by number, all of them later.
    let many = 2 * KEPT_MIN + 10;
    let sql = format!(
        "INSERT INTO segue_commits SELECT 'agent:main:cli:direct:other', n, n + 1, '\\x00',
         (SELECT max(position) FROM segue_commits) + 1 FROM generate_series(1, {many}) AS n"
    );
    database.psql(&sql).unwrap();
    watch::trim(&store.shared, a_while_ago).await.unwrap();
    let scope: Key = SCOPE.parse().unwrap();
    let found = store.appended(&scope, append.prior.head, append.id).await.unwrap();
    assert_eq!(found, Some(append.next.head));
    let expired = store.commits(Position::START, 1).await;
    assert!(matches!(expired, Err(Error::Expired { .. })), "what is older is gone: {expired:?}");
}
