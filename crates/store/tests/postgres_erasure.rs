//! What was erased in PostgreSQL is gone from the files of its tables once it was purged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use segue_core::decide::Command;
use segue_core::entry::Seq;
use segue_core::message::MessageId;
use segue_core::session::Number;
use segue_store::conformance::World;
use segue_store::postgres::Postgres;
use segue_store::{Embedding, Purged, Subject};
use segue_testing::postgres::{Cluster, Durability, or_skipped};
use std::path::Path;
use std::sync::Arc;

/// Counts the files of the database's tables that hold some bytes.
fn found(cluster: &Cluster, database: &str, bytes: &str) -> usize {
    cluster.psql(database, "CHECKPOINT").unwrap();
    let data = cluster.psql(database, "SHOW data_directory").unwrap();
    let oid =
        cluster.psql(database, "SELECT oid FROM pg_database WHERE datname = current_database()").unwrap();
    let files = std::fs::read_dir(Path::new(&data).join("base").join(oid)).unwrap();
    let holds = |path: &Path| {
        let content = std::fs::read(path).unwrap_or_default();
        content.windows(bytes.len()).any(|part| part == bytes.as_bytes())
    };
    files.filter(|file| holds(&file.as_ref().unwrap().path())).count()
}

#[tokio::test]
async fn an_erased_body_leaves_the_files_of_the_tables() {
    let Some(cluster) = or_skipped(Cluster::start(Durability::Synced)) else { return };
    let name = cluster.create().unwrap();
    let mut world = World::new(Arc::new(Postgres::open(&cluster.url(&name)).unwrap()));
    for n in 0..40 {
        world.say_as(&format!("SECRETWORD {n} in a message"), &format!("m{n}")).await.unwrap();
    }
    let first = world.store.seen(&world.scope, &MessageId("m0".into())).await.unwrap().unwrap();
    let bytes = b"SECRETWORD embedded".to_vec();
    let embedding = Embedding { subject: Subject::Entry(first), first, last: first, bytes };
    let head = world.state().await.head;
    world.store.embeddings().unwrap().put(&world.scope, head, vec![embedding]).await.unwrap();
    assert!(found(&cluster, &name, "SECRETWORD") > 0);
    let mut entries: Vec<Seq> = Vec::new();
    for n in 0..40 {
        entries.extend(world.store.seen(&world.scope, &MessageId(format!("m{n}"))).await.unwrap());
    }
    world.run(&Command::Erase { entries, along: Vec::new() }).await.unwrap();
    // The rows are erased, and their old versions are still there; an ordinary VACUUM leaves their bytes.
    cluster.psql(&name, "VACUUM segue_entries").unwrap();
    assert!(found(&cluster, &name, "SECRETWORD") > 0);
    assert_eq!(world.store.purge().await.unwrap(), Purged::Complete);
    assert_eq!(found(&cluster, &name, "SECRETWORD"), 0);
    world.verify().await;
    assert_eq!(world.texts(Number(1)).await.len(), 40);
    assert_eq!(
        cluster.psql(&name, "SELECT count(*) FROM segue_marks WHERE name LIKE 'purge%'").unwrap(),
        "0"
    );
}

/// A deleted session leaves the files as well.
#[tokio::test]
async fn a_deleted_session_leaves_the_files_of_the_tables() {
    let Some(cluster) = or_skipped(Cluster::start(Durability::Synced)) else { return };
    let name = cluster.create().unwrap();
    let mut world = World::new(Arc::new(Postgres::open(&cluster.url(&name)).unwrap()));
    world.say("SECRETWORD in a session").await;
    world.run(&Command::New { first: None }).await.unwrap();
    world.say("another one").await;
    world.run(&Command::Delete { session: Number(1) }).await.unwrap();
    world.store.sweep().await.unwrap();
    assert!(found(&cluster, &name, "SECRETWORD") > 0);
    assert_eq!(world.store.purge().await.unwrap(), Purged::Complete);
    assert_eq!(found(&cluster, &name, "SECRETWORD"), 0);
    world.verify().await;
}
