//! Watching commits in PostgreSQL: across a restore into another server, and at positions that are none.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use segue_core::session::Number;
use segue_store::conformance::World;
use segue_store::postgres::Postgres;
use segue_store::{Error, Position, Store};
use segue_testing::postgres::{Cluster, Durability, database, or_skipped};
use std::sync::Arc;

fn open(url: &str) -> Arc<dyn Store> {
    Arc::new(Postgres::open(url).unwrap())
}

/// S-5: a dump is restored into a new server, whose transaction numbers are smaller: positions go on, and a stream from an old one
/// misses nothing.
#[tokio::test]
async fn s5_positions_go_on_behind_a_restore_into_another_server() {
    let Some(old) = database() else { return };
    let Some(new) = or_skipped(Cluster::start(Durability::Fast)) else { return };
    let burn = "DO $$ BEGIN FOR i IN 1..20000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$";
    old.psql(burn).unwrap();
    let mut world = World::new(open(old.url()));
    for n in 0..3 {
        world.say(&format!("before {n}")).await;
    }
    let before = world.store.commits(Position::START, 100).await.unwrap();
    let last = world.store.position().await.unwrap();
    // As it is, and as an older Segue has left it: without a note of the server.
    for forget in ["SELECT 1", "DELETE FROM segue_marks WHERE name IN ('system', 'position_base')"] {
        let name = new.create().unwrap();
        new.restore(&name, &old.cluster().dump(old.name()).unwrap()).unwrap();
        new.psql(&name, forget).unwrap();
        let mut restored = World::new(open(&new.url(&name)));
        assert_eq!(restored.store.position().await.unwrap(), last);
        let mut stream = restored.store.watch(before[1].position);
        restored.say("after").await;
        assert_eq!(stream.next().await.unwrap(), before[2]);
        let next = stream.next().await.unwrap();
        assert!(next.position > last && next.after == before[2].head, "{next:?}");
        // Other nodes count on in the same way.
        let mut other = World::new(open(&new.url(&name)));
        other.say("and again").await;
        assert!(stream.next().await.unwrap().position > next.position);
        assert_eq!(other.texts(Number(1)).await.len(), 5);
        other.verify().await;
    }
}

/// A position that no commit can have yet was handed out by a server that has lost it: whoever has it starts again.
#[tokio::test]
async fn s5_a_position_from_the_future_has_expired() {
    let Some(database) = database() else { return };
    let mut world = World::new(open(database.url()));
    world.say("hello").await;
    let last = world.store.position().await.unwrap();
    assert_eq!(world.store.commits(last, 10).await.unwrap(), []);
    let ahead = Position(last.0 + (1 << 40));
    assert!(matches!(world.store.commits(ahead, 10).await, Err(Error::Expired { .. })));
}
