//! A store in PostgreSQL that meets the world: wrong input, guards, many nodes, lost acknowledgements. On a real server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use segue_core::decide::Command;
use segue_core::session::Number;
use segue_store::conformance::{World, said};
use segue_store::postgres::Postgres;
use segue_store::{Error, Page, Store, settle};
use segue_testing::postgres::{Cluster, Database, Durability, database, or_skipped};
use segue_testing::proxy::Proxy;
use std::sync::Arc;

fn open(url: &str) -> Arc<dyn Store> {
    Arc::new(Postgres::open(url).unwrap())
}

fn world(database: &Database) -> World {
    World::new(open(database.url()))
}

/// What a store says that cannot be used.
async fn refusal(url: &str) -> String {
    let store = match Postgres::open(url) {
        Ok(store) => store,
        Err(error) => return error.to_string(),
    };
    let store: Arc<dyn Store> = Arc::new(store);
    store.scopes(&Page::first(1)).await.unwrap_err().to_string()
}

#[tokio::test]
async fn wrong_urls_are_refused_with_a_hint() {
    let Some(database) = database() else { return };
    let (cluster, name) = (database.cluster(), database.name());
    let port = cluster.port();
    let host = format!("127.0.0.1:{port}");
    cluster.psql("postgres", "CREATE ROLE nobody LOGIN").unwrap();
    for (url, part) in [
        ("postgres://segue@127.0.0.1:1/segue".to_owned(), "cannot be reached"),
        (format!("postgres://segue@{host}/missing"), "create the database first"),
        (format!("postgres://stranger@{host}/{name}"), "check user and password"),
        (format!("postgres://segue@{host}/{name}?pool=10000"), "from 1 to 512"),
        (format!("postgres://segue@{host}/{name}?nonsense=1"), "is not valid"),
        (format!("postgres://nobody@{host}/{name}"), "needs CREATE on the schema"),
        (
            format!("postgres://segue@{host}/{name}?options=-cdefault_transaction_read_only%3Don"),
            "only answers reads",
        ),
    ] {
        let told = refusal(&url).await;
        assert!(told.contains(part), "{url}: {told}");
    }
}

#[tokio::test]
async fn a_wrong_password_is_never_shown() {
    let Some(cluster) = or_skipped(Cluster::with_passwords()) else { return };
    let right = cluster.url_with_password("postgres", "right");
    assert!(open(&right).scopes(&Page::first(1)).await.is_ok());
    let told = refusal(&cluster.url_with_password("postgres", "wr0ng")).await;
    assert!(told.contains("check user and password") && !told.contains("wr0ng"), "{told}");
}

#[tokio::test]
async fn tables_of_another_program_are_left_alone() {
    let Some(database) = database() else { return };
    database.psql("CREATE TABLE segue_entries (id int); INSERT INTO segue_entries VALUES (7)").unwrap();
    let told = refusal(database.url()).await;
    assert!(told.contains("use another database"), "{told}");
    assert_eq!(database.psql("SELECT id FROM segue_entries").unwrap(), "7");
    // The same for the list of migrations, which others have, too.
    database.psql("DROP TABLE segue_entries; CREATE TABLE segue_migrations (version int)").unwrap();
    let told = refusal(database.url()).await;
    assert!(told.contains("use another database"), "{told}");
    // A schema of its own is as good as a database of its own.
    database.psql("CREATE SCHEMA own").unwrap();
    let url = format!("{}?options=-csearch_path%3Down", database.url());
    let mut own = World::new(open(&url));
    own.say("hello").await;
    own.verify().await;
}

/// Ten nodes begin at once: one of them makes the tables, and all work.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_nodes_migrate_at_once() {
    let Some(database) = database() else { return };
    let mut nodes = tokio::task::JoinSet::new();
    for node in 0..10 {
        let store = open(database.url());
        nodes.spawn(async move {
            let mut world = World::at(store, &format!("agent:main:cli:direct:n{node}"));
            world.say("hello").await;
            world.verify().await;
        });
    }
    while let Some(done) = nodes.join_next().await {
        done.unwrap();
    }
    assert_eq!(database.psql("SELECT count(*) FROM segue_migrations").unwrap(), "3");
}

#[tokio::test]
async fn an_older_node_refuses_a_newer_schema() {
    let Some(database) = database() else { return };
    world(&database).say("hello").await;
    database.psql("INSERT INTO segue_migrations VALUES (4, '0004_later', 'x')").unwrap();
    let told = refusal(database.url()).await;
    assert!(told.contains("use a newer Segue"), "{told}");
    database.psql("DELETE FROM segue_migrations WHERE step = 4").unwrap();
    database.psql("UPDATE segue_migrations SET checksum = 'x'").unwrap();
    let told = refusal(database.url()).await;
    assert!(told.contains("is not the step that this Segue knows"), "{told}");
}

/// M-D3: the database itself refuses, whoever asks.
#[tokio::test]
async fn m_d3_other_programs_cannot_change_what_was_sealed() {
    let Some(database) = database() else { return };
    let mut world = world(&database);
    world.say("one").await;
    world.run(&Command::New { first: None }).await.unwrap();
    for sql in [
        "UPDATE segue_entries SET body = '{}' WHERE seq = 1",
        "DELETE FROM segue_entries WHERE seq = 1",
        "UPDATE segue_segments SET messages = 7",
        "DELETE FROM segue_segments",
        "TRUNCATE segue_entries",
        "TRUNCATE segue_segments",
        "TRUNCATE segue_entries_p3",
        "TRUNCATE segue_segments_p15",
        "INSERT INTO segue_entries SELECT scope, 99, segment, at, kind, nth, body, hash FROM segue_entries WHERE seq = 1",
    ] {
        let refused = database.psql(sql).unwrap_err().to_string();
        assert!(refused.contains("segue: "), "{sql}: {refused}");
    }
    world.verify().await;
    assert_eq!(world.store.audit(None).await.unwrap(), Vec::<String>::new());
    // Whoever owns the tables can switch the guards off, also of one partition, or replace them: that is noticed.
    for (off, on) in [
        (
            "ALTER TABLE segue_entries_p3 DISABLE TRIGGER segue_update",
            "ALTER TABLE segue_entries_p3 ENABLE TRIGGER segue_update",
        ),
        (
            "DROP TRIGGER segue_truncate ON segue_segments_p4",
            "CREATE TRIGGER segue_truncate BEFORE TRUNCATE ON segue_segments_p4
             FOR EACH STATEMENT EXECUTE FUNCTION segue_guard_truncate()",
        ),
        (
            "ALTER TABLE segue_entries DETACH PARTITION segue_entries_p7",
            "ALTER TABLE segue_entries ATTACH PARTITION segue_entries_p7 FOR VALUES WITH (MODULUS 16, REMAINDER 7)",
        ),
    ] {
        database.psql(off).unwrap();
        assert!(!world.store.audit(None).await.unwrap().is_empty(), "{off}");
        database.psql(on).unwrap();
        assert_eq!(world.store.audit(None).await.unwrap(), Vec::<String>::new(), "{on}");
    }
    // And so is what was changed.
    database.psql("ALTER TABLE segue_entries DISABLE TRIGGER segue_update").unwrap();
    assert!(!world.store.audit(None).await.unwrap().is_empty());
    database.psql("ALTER TABLE segue_entries ENABLE TRIGGER segue_update").unwrap();
    database
        .psql("CREATE OR REPLACE FUNCTION segue_guard_entry_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$")
        .unwrap();
    assert!(!world.store.audit(None).await.unwrap().is_empty());
    database.psql("UPDATE segue_entries SET body = replace(body, 'one', 'two')").unwrap();
    let report = segue_store::verify::verify(world.store.as_ref(), &world.scope).await.unwrap();
    assert!(!report.problems.is_empty());
}

/// N-2: the connection is cut after the server has committed and before the client knows.
#[tokio::test]
async fn n2_a_commit_whose_acknowledgement_is_cut_is_settled() {
    let Some(database) = database() else { return };
    let proxy = Proxy::start(([127, 0, 0, 1], database.cluster().port()).into()).unwrap();
    let url = format!("postgres://segue@127.0.0.1:{}/{}", proxy.port(), database.name());
    let mut world = World::new(open(&url));
    world.say("hello").await;
    let commands = [said("cut here 0"), said("cut here 1"), Command::New { first: None }, said("cut here 2")];
    for (n, command) in commands.into_iter().enumerate() {
        let (append, _) = world.append_of(world.state().await, &command).unwrap();
        let (after, id) = (append.prior.head, append.id);
        // A turn by the text that it sends, a transaction by its end.
        proxy.cut_after(match command {
            Command::New { .. } => b"COMMIT".as_slice(),
            _ => b"cut here",
        });
        match n {
            // Alone, the store says that it does not know.
            1 => {
                let lost = world.store.append(append.clone()).await;
                assert!(matches!(lost, Err(Error::Unknown { .. })), "{lost:?}");
                assert!(world.store.appended(&world.scope, after, id).await.unwrap().is_some());
                world.store.append(append).await.unwrap();
            }
            _ => settle::append(world.store.as_ref(), append).await.unwrap(),
        }
        assert!(proxy.is_cut(), "{n}");
    }
    assert_eq!(world.texts(Number(1)).await, ["hello", "cut here 0", "cut here 1"]);
    assert_eq!(world.texts(Number(2)).await, ["cut here 2"]);
    world.verify().await;
}

/// A pool of two, sixty-four callers: they wait for each other, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_pool_is_shared_by_many() {
    let Some(database) = database() else { return };
    let store = open(&format!("{}?pool=2", database.url()));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..64 {
        let store = store.clone();
        callers.spawn(async move {
            let mut world = World::at(store, &format!("agent:main:cli:direct:c{caller}"));
            world.say("hello").await;
            world.verify().await;
        });
    }
    while let Some(done) = callers.join_next().await {
        done.unwrap();
    }
    assert_eq!(store.scopes(&Page::first(100)).await.unwrap().rows.len(), 64);
}

/// A server that is gone is an error with a reason, and the same store goes on once it is back.
#[tokio::test]
async fn n3_a_server_that_crashes_loses_nothing_that_was_acknowledged() {
    let Some(mut cluster) = or_skipped(Cluster::start(Durability::Synced)) else { return };
    let name = cluster.create().unwrap();
    let mut world = World::new(open(&cluster.url(&name)));
    for n in 0..2 {
        world.say(&format!("before {n}")).await;
        cluster.crash_and_restart(Durability::Synced).unwrap();
        // Connections of the pool are broken: each is found out once.
        let (append, _) = world.append_of(state(&world).await, &said(&format!("after {n}"))).unwrap();
        settle::append(world.store.as_ref(), append).await.unwrap();
    }
    let texts = world.texts(Number(1)).await;
    let expected: Vec<String> = (0..2).flat_map(|n| [format!("before {n}"), format!("after {n}")]).collect();
    assert_eq!(texts, expected);
    world.verify().await;
}

async fn state(world: &World) -> Arc<segue_core::state::State> {
    loop {
        match world.store.load(&world.scope).await {
            Ok(state) => return state.unwrap(),
            Err(Error::Unavailable { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

/// Poolers that give each transaction another connection know no prepared statements.
#[tokio::test]
async fn statements_can_be_sent_whole() {
    let Some(database) = database() else { return };
    let mut world = World::new(open(&format!("{}?statements=unnamed", database.url())));
    world.say("hello").await;
    world.run(&Command::New { first: None }).await.unwrap();
    world.say("again").await;
    assert_eq!(world.texts(Number(2)).await, ["again"]);
    world.verify().await;
}
