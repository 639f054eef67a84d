//! How often a turn waits for PostgreSQL: counted on the wire, so that what `docs/scale.md` says stays true.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use segue_core::decide::Command;
use segue_store::Append;
use segue_store::conformance::{World, said};
use segue_store::postgres::Postgres;
use segue_testing::postgres::{Database, database};
use segue_testing::proxy::Proxy;
use std::sync::Arc;

/// A scope in a store that is reached through a proxy.
struct Counted {
    proxy: Proxy,
    world: World,
}

impl Counted {
    fn new(database: &Database, settings: &str) -> Self {
        let proxy = Proxy::start(([127, 0, 0, 1], database.cluster().port()).into()).unwrap();
        let url = format!("postgres://segue@127.0.0.1:{}/{}?{settings}", proxy.port(), database.name());
        Self { proxy, world: World::new(Arc::new(Postgres::open(&url).unwrap())) }
    }

    async fn append(&mut self, command: &Command) -> Append {
        self.world.append_of(self.world.state().await, command).unwrap().0
    }

    /// Lists the round trips since this was called before. News for other nodes, and theirs, go beside the turns: nobody waits.
    fn told(&self) -> Vec<String> {
        let mut told = self.proxy.round_trips();
        told.retain(|one| !one.contains("pg_notify") && !one.contains("LISTEN"));
        told
    }

    /// Lists the round trips of a command's append.
    async fn round_trips(&mut self, command: &Command) -> Vec<String> {
        let append = self.append(command).await;
        self.told();
        self.world.store.append(append).await.unwrap();
        self.told()
    }
}

#[track_caller]
fn begin(told: &[String], expected: &[&str]) {
    let is_it =
        told.len() == expected.len() && told.iter().zip(expected).all(|(one, begin)| one.starts_with(begin));
    assert!(is_it, "{expected:?}\n{told:#?}");
}

/// A turn is one statement, and one round trip.
#[tokio::test]
async fn a_warm_turn_is_one_round_trip() {
    let Some(database) = database() else { return };
    let mut counted = Counted::new(&database, "pool=1");
    // The first session, and the first message behind it: statements are prepared.
    counted.world.say("one").await;
    counted.world.say("two").await;
    for text in ["three", "four"] {
        begin(&counted.round_trips(&said(text)).await, &["WITH changed AS"]);
    }
}

/// A boundary seals a segment and begins a session: a transaction.
#[tokio::test]
async fn a_boundary_is_six_round_trips() {
    let Some(database) = database() else { return };
    let mut counted = Counted::new(&database, "pool=1");
    for _ in 0..2 {
        counted.world.say("one").await;
        counted.world.run(&Command::New { first: None }).await.unwrap();
    }
    counted.world.say("two").await;
    let expected = [
        "BEGIN",
        "WITH changed AS",
        "INSERT INTO segue_segments",
        "INSERT INTO segue_sessions",
        "INSERT INTO segue_extras",
        "COMMIT",
    ];
    begin(&counted.round_trips(&Command::New { first: None }).await, &expected);
}

/// Behind a pooler a turn is a transaction, too: what it needs is set for it alone. Nothing is prepared.
#[tokio::test]
async fn a_turn_behind_a_pooler_is_three_round_trips() {
    let Some(database) = database() else { return };
    let mut counted = Counted::new(&database, "pool=1&statements=unnamed");
    counted.world.say("one").await;
    begin(&counted.round_trips(&said("two")).await, &["BEGIN", "WITH changed AS", "COMMIT"]);
}

/// A message that is delivered again is looked for, and is there.
#[tokio::test]
async fn an_append_that_comes_too_late_is_two_round_trips() {
    let Some(database) = database() else { return };
    let mut counted = Counted::new(&database, "pool=1");
    for text in ["one", "two"] {
        counted.world.say(text).await;
        let late = counted.append(&said("late")).await;
        counted.world.say("meanwhile").await;
        counted.told();
        counted.world.store.append(late).await.unwrap_err();
        let told = counted.told();
        if text == "two" {
            begin(&told, &["WITH changed AS", "SELECT (SELECT head"]);
        }
    }
}
