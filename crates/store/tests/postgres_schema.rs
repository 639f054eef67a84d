//! The schema in PostgreSQL: who migrates when, and what becomes of a migration that nobody waits for any more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use segue_core::memory;
use segue_core::session::Number;
use segue_store::conformance::{World, said};
use segue_store::postgres::Postgres;
use segue_store::{Location, Page, Store, copy};
use segue_testing::postgres::{Cluster, Database, Durability, database, or_skipped};
use segue_testing::session::Session;
use std::path::Path;
use std::sync::Arc;

/// The lock that a node holds while it migrates.
const LOCK: &str = "SELECT pg_advisory_xact_lock(6009323031699128321)";

fn open(url: &str) -> Arc<dyn Store> {
    Arc::new(Postgres::open(url).unwrap())
}

/// Asks until the answer is the wanted one.
async fn until(database: &Database, sql: &str, wanted: &str) {
    while database.psql(sql).unwrap() != wanted {
        tokio::task::yield_now().await;
    }
}

/// N-3: a caller goes away while its call migrates. The connection does not go back to the pool inside a transaction: what is
/// acknowledged afterwards is there for everybody, and nobody waits for the lock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n3_a_migration_that_nobody_waits_for_loses_nothing() {
    let Some(database) = database() else { return };
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
    let store = open(&format!("{}?pool=1", database.url()));
    let mut world = World::new(Arc::clone(&store));
    let mut other_program = Session::open(database.cluster(), database.name()).unwrap();
    other_program.run(&format!("BEGIN; {LOCK}")).unwrap();
    let (asked, scope) = (Arc::clone(&store), world.scope.clone());
    let call = tokio::spawn(async move { asked.head(&scope).await });
    until(&database, waiting, "1").await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    other_program.run("COMMIT; SELECT 1").unwrap();
    world.say("hello").await;
    let in_transaction = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    until(&database, in_transaction, "0").await;
    let mut other = World::new(open(database.url()));
    assert_eq!(other.texts(Number(1)).await, ["hello"]);
    let (append, _) = other.append_of(other.state().await, &said("and again")).unwrap();
    other.store.append(append).await.unwrap();
    assert_eq!(world.texts(Number(1)).await, ["hello", "and again"]);
}

/// Tables of another program that the user has no rights on are seen, too.
#[tokio::test]
async fn tables_that_the_user_may_not_read_are_left_alone() {
    let Some(database) = database() else { return };
    let role = format!("limited_{}", database.name());
    database.psql(&format!("CREATE ROLE {role} LOGIN; GRANT CREATE ON SCHEMA public TO {role}")).unwrap();
    database.psql("CREATE TABLE segue_embeddings (id int)").unwrap();
    let url = format!("postgres://{role}@127.0.0.1:{}/{}", database.cluster().port(), database.name());
    let told = open(&url).scopes(&Page::first(1)).await.unwrap_err().to_string();
    assert!(told.contains("use another database"), "{told}");
    database.psql(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}

/// What an older Segue has left: the same tables without the later steps, and what upkeep has made of sessions with their scopes.
fn make_older(database: &Database, steps: i64) {
    let guards = "DO $$ BEGIN FOR part IN 0..15 LOOP
        EXECUTE format('DROP TRIGGER segue_truncate ON segue_entries_p%s', part);
        EXECUTE format('DROP TRIGGER segue_truncate ON segue_segments_p%s', part);
    END LOOP; END $$";
    database.psql(guards).unwrap();
    if steps < 2 {
        let upkeep = |field: &str| format!("session::jsonb -> 'upkeep' -> '{field}'");
        let (extracted, memories, name) = (upkeep("extracted"), upkeep("memories"), upkeep("name"));
        let sql = format!(
            "UPDATE segue_extras AS e SET extras = (extras::jsonb || (
                 SELECT jsonb_build_object(
                     'archived', coalesce(jsonb_object_agg(number, {extracted}) FILTER (WHERE {extracted} IS NOT NULL), '{{}}'),
                     'names', coalesce(jsonb_object_agg(number, {name}) FILTER (WHERE {name} IS NOT NULL), '{{}}'))
                 FROM segue_sessions AS s WHERE s.scope = e.scope) || (
                 SELECT jsonb_build_object('memories', coalesce(extras::jsonb -> 'memories', '[]') || coalesce(jsonb_agg(m), '[]'))
                 FROM segue_sessions AS s, jsonb_array_elements({memories}) AS m WHERE s.scope = e.scope))::text"
        );
        database.psql(&sql).unwrap();
        database.psql("UPDATE segue_sessions SET session = (session::jsonb - 'upkeep')::text").unwrap();
    }
    database.psql(&format!("DELETE FROM segue_migrations WHERE step > {steps}")).unwrap();
}

/// A database of each older schema, with data: ten nodes of this version begin at once, one of them migrates, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_older_schema_with_data_is_migrated_by_one_of_ten_nodes() {
    for steps in [1, 2, 3] {
        let Some(database) = database() else { return };
        // A database of another kind that has something of everything that is moved.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/sqlite-16.db");
        std::fs::copy(fixture, &path).unwrap();
        let source = Location::Sqlite(path).open().unwrap();
        let scope = "agent:main:telegram:direct:ann";
        let expected = World::at(Arc::clone(&source), scope).state().await;
        assert!(memory::all(&expected).count() == 3 && memory::queue(&expected).count() == 0);
        copy::scope(source.as_ref(), open(database.url()).as_ref(), &expected.scope).await.unwrap();
        if steps < 3 {
            make_older(&database, steps);
        }
        assert_eq!(database.psql("SELECT count(*) FROM segue_migrations").unwrap(), steps.to_string());
        let mut nodes = tokio::task::JoinSet::new();
        for node in 0..10 {
            let (store, expected) = (open(database.url()), Arc::clone(&expected));
            nodes.spawn(async move {
                let there = World::at(Arc::clone(&store), scope);
                assert_eq!(there.state().await, expected);
                there.verify().await;
                let mut own = World::at(store, &format!("agent:main:cli:direct:n{node}"));
                own.say("hello").await;
                own.verify().await;
            });
        }
        while let Some(done) = nodes.join_next().await {
            done.unwrap();
        }
        let done = "SELECT string_agg(step || ' ' || name, ', ' ORDER BY step) FROM segue_migrations";
        assert_eq!(database.psql(done).unwrap(), "1 0001_tables, 2 0002_upkeep, 3 0003_guards");
        assert_eq!(open(database.url()).audit(None).await.unwrap(), Vec::<String>::new());
    }
}

/// Settings of a role or a database that undo durability are told.
#[tokio::test]
async fn settings_that_lose_what_was_acknowledged_are_told() {
    let Some(cluster) = or_skipped(Cluster::start(Durability::Synced)) else { return };
    let name = cluster.create().unwrap();
    let risks = async || open(&cluster.url(&name)).risks().await.unwrap();
    assert_eq!(risks().await, Vec::<String>::new());
    let set = |sql: &str| cluster.psql("postgres", &sql.replace("NAME", &name)).unwrap();
    let standby = |name: &str| {
        set(&format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"));
        set("SELECT pg_reload_conf()");
    };
    set("ALTER DATABASE NAME SET synchronous_commit = off");
    assert!(risks().await[0].contains("synchronous_commit = off"));
    // Without a standby there is nothing else to wait for.
    set("ALTER DATABASE NAME SET synchronous_commit = local");
    assert_eq!(risks().await, Vec::<String>::new());
    standby("other");
    while !risks().await.iter().any(|risk| risk.contains("synchronous_commit = local")) {
        tokio::task::yield_now().await;
    }
    let Some(fast) = database() else { return };
    assert!(open(fast.url()).risks().await.unwrap()[0].contains("fsync = off"));
}
