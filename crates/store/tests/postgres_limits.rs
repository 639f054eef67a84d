//! PostgreSQL at its limits: a full disk, too few connections, a pool that runs dry, rights that are taken away. What is said has a
//! hint, and nothing that was acknowledged is lost.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use segue_core::session::Number;
use segue_store::conformance::{World, said};
use segue_store::postgres::Postgres;
use segue_store::{Error, Page, Store, settle};
use segue_testing::postgres::{Cluster, Durability, database, or_skipped};
use segue_testing::proxy::Proxy;
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

fn open(url: &str) -> Arc<dyn Store> {
    Arc::new(Postgres::open(url).unwrap())
}

/// A small disk, gone at the end.
struct Disk(tempfile::TempDir);

/// Where this process has the rights to mount something, because it was started again with them.
const MAY_MOUNT: &str = "SEGUE_MAY_MOUNT";

impl Disk {
    fn of_megabytes(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        mounted.is_ok_and(|mounted| mounted.status.success()).then(|| Self(folder))
    }
}

/// Makes a command that runs a program in a name space of its own, where it may mount something without being root.
fn in_a_name_space(program: &OsStr) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-current-user", "--keep-caps", "--mount"]).arg(program);
    command
}

/// Says why nothing can be mounted in a name space either.
fn refused_mounts() -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut mount = in_a_name_space("mount".as_ref());
    match mount.args(["-t", "tmpfs", "tmpfs"]).arg(folder.path()).output() {
        Ok(tried) if tried.status.success() => None,
        Ok(tried) => Some(String::from_utf8_lossy(&tried.stderr).trim().to_owned()),
        Err(error) => Some(format!("unshare: {error}")),
    }
}

/// Runs a test of this file again where it may mount a small disk without being root. Where nobody may, the test is left out, also
/// where servers are required: the right to mount is nothing that can be installed.
fn run_with_mounts(test: &str) {
    assert!(std::env::var_os(MAY_MOUNT).is_none(), "a small disk cannot be mounted in a name space");
    if let Some(why) = refused_mounts() {
        eprintln!("skipped: a small disk can be mounted neither here nor in a name space: {why}");
        return;
    }
    let mut run = in_a_name_space(std::env::current_exe().unwrap().as_os_str());
    run.args(["--exact", test]).env(MAY_MOUNT, "yes").env("SEGUE_SERVERS", "required");
    let ran = run.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out.contains("1 passed"), "in a name space: {out}{err}");
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(self.0.path()).output());
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_loses_nothing() {
    let Some(cluster) = or_skipped(Cluster::start(Durability::Synced)) else { return };
    let Some(disk) = Disk::of_megabytes(32) else {
        return run_with_mounts("a_full_disk_is_told_and_loses_nothing");
    };
    let data = cluster.psql("postgres", "SHOW data_directory").unwrap();
    let owner = std::fs::metadata(&data).unwrap();
    let place = disk.0.path().join("tables");
    std::fs::create_dir(&place).unwrap();
    // The server's account must get there.
    for path in [Path::new(disk.0.path()), &place] {
        chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    cluster.psql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", place.display())).unwrap();
    cluster.psql("postgres", "CREATE DATABASE small TABLESPACE small").unwrap();
    let mut world = World::new(open(&cluster.url("small")));
    world.say("before").await;
    cluster.psql("small", "CREATE TABLE ballast (x text)").unwrap();
    for rows in [1_000, 100, 10, 1] {
        let sql = format!(
            "INSERT INTO ballast SELECT repeat(md5(n::text), 64) FROM generate_series(1, {rows}) AS n"
        );
        while cluster.psql("small", &sql).is_ok() {}
    }
    let (mut kept, mut told) = (vec!["before".to_owned()], Vec::new());
    for n in 0..400 {
        let text = format!("{n} {}", "a long text ".repeat(100));
        let (append, _) = world.append_of(world.state().await, &said(&text)).unwrap();
        match settle::append(world.store.as_ref(), append).await {
            Ok(()) => kept.push(text),
            Err(error) => told.push(error),
        }
        if told.len() == 3 {
            break;
        }
    }
    assert_eq!(told.len(), 3, "the disk was never full");
    for error in &told {
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
        assert!(error.to_string().contains("disk is full: free some space"), "{error}");
    }
    // Reads go on, and once there is room so does everything.
    assert_eq!(world.texts(Number(1)).await, kept);
    cluster.psql("small", "DROP TABLE ballast").unwrap();
    world.say("after").await;
    kept.push("after".to_owned());
    assert_eq!(world.texts(Number(1)).await, kept);
    world.verify().await;
}

#[tokio::test]
async fn rights_that_are_taken_away_are_told() {
    let Some(database) = database() else { return };
    let name = database.name();
    for sql in ["DROP ROLE IF EXISTS limited", "CREATE ROLE limited LOGIN"] {
        database.psql(sql).unwrap();
    }
    world_of(database.url()).say("hello").await;
    database
        .psql(
            "GRANT USAGE ON SCHEMA public TO limited; GRANT SELECT ON ALL TABLES IN SCHEMA public TO limited",
        )
        .unwrap();
    let url = format!("postgres://limited@127.0.0.1:{}/{name}", database.cluster().port());
    let mut limited = world_of(&url);
    let (append, _) = limited.append_of(limited.state().await, &said("not allowed")).unwrap();
    let refused = limited.store.append(append.clone()).await.unwrap_err();
    assert!(refused.to_string().contains("all rights on Segue's tables"), "{refused}");
    database.psql("GRANT ALL ON ALL TABLES IN SCHEMA public TO limited").unwrap();
    limited.store.append(append).await.unwrap();
    assert_eq!(limited.texts(Number(1)).await, ["hello", "not allowed"]);
    database.psql("DROP OWNED BY limited").unwrap();
}

fn world_of(url: &str) -> World {
    World::new(open(url))
}

/// The server has fewer connections than the pool wants: callers are told, try again, and nothing is lost or twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_too_few_connections_is_told() {
    let Some(database) = database() else { return };
    let name = database.name();
    world_of(database.url()).say("hello").await;
    database.psql("DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN CONNECTION LIMIT 3").unwrap();
    database
        .psql("GRANT ALL ON ALL TABLES IN SCHEMA public TO few; GRANT ALL ON SCHEMA public TO few")
        .unwrap();
    let store = open(&format!("postgres://few@127.0.0.1:{}/{name}?pool=40", database.cluster().port()));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..40 {
        let store = Arc::clone(&store);
        callers.spawn(async move {
            let mut world = World::at(store, &format!("agent:main:cli:direct:c{caller}"));
            let mut told = Vec::new();
            let state = loop {
                match world.store.load(&world.scope).await {
                    Ok(state) => break state,
                    Err(error) => told.push(error.to_string()),
                }
                tokio::task::yield_now().await;
            };
            assert!(state.is_none());
            let empty = Arc::new(segue_core::state::State::empty(world.scope.clone()));
            let (append, _) = world.append_of(empty, &said("hello")).unwrap();
            while let Err(error) = world.store.append(append.clone()).await {
                told.push(error.to_string());
                tokio::task::yield_now().await;
            }
            told
        });
    }
    let mut told = Vec::new();
    while let Some(done) = callers.join_next().await {
        told.extend(done.unwrap());
    }
    assert!(told.iter().any(|one| one.contains("lower pool=N")), "{:?}", told.first());
    assert_eq!(open(database.url()).scopes(&Page::first(100)).await.unwrap().rows.len(), 41);
    database.psql("DROP OWNED BY few").unwrap();
}

/// Ten thousand callers, four connections: each is answered, or told that it has to wait; the store is as good as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_callers_wait_for_each_other() {
    let Some(database) = database() else { return };
    let store = open(&format!("{}?pool=4", database.url()));
    let mut world = World::new(Arc::clone(&store));
    world.say("hello").await;
    let head = world.state().await.head;
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..10_000 {
        let (store, scope) = (Arc::clone(&store), world.scope.clone());
        callers.spawn(async move { store.head(&scope).await });
    }
    let mut answered = 0;
    while let Some(done) = callers.join_next().await {
        match done.unwrap() {
            Ok(found) => {
                assert_eq!(found, Some(head));
                answered += 1;
            }
            Err(error) => assert!(error.to_string().contains("raise pool=N"), "{error}"),
        }
    }
    assert!(answered > 0);
    let connections = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'segue'";
    let connections: u32 = database.psql(connections).unwrap().parse().unwrap();
    assert!(connections <= 5, "{connections}");
    world.say("and again").await;
    world.verify().await;
}

/// All connections hang in a network that is partitioned: the next caller is told; what hung is written once it heals.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_runs_dry_is_told() {
    let Some(database) = database() else { return };
    let proxy = Proxy::start(([127, 0, 0, 1], database.cluster().port()).into()).unwrap();
    let store = open(&format!("postgres://segue@127.0.0.1:{}/{}?pool=2", proxy.port(), database.name()));
    let mut worlds = Vec::new();
    for n in 0..2 {
        let mut world = World::at(Arc::clone(&store), &format!("agent:main:cli:direct:w{n}"));
        world.say("before").await;
        let (append, _) = world.append_of(world.state().await, &said("during")).unwrap();
        worlds.push((world, append));
    }
    proxy.partition();
    let mut hanging = tokio::task::JoinSet::new();
    for (_, append) in &worlds {
        let (store, append) = (Arc::clone(&store), append.clone());
        hanging.spawn(async move { (settle::append(store.as_ref(), append.clone()).await, append) });
    }
    // Two connections and eight callers: whichever come too late are refused after a while.
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let store = Arc::clone(&store);
        waiting.spawn(async move { store.scopes(&Page::first(1)).await.map(drop) });
    }
    let told = waiting.join_next().await.unwrap().unwrap().unwrap_err();
    assert!(told.to_string().contains("raise pool=N"), "{told}");
    proxy.heal();
    while let Some(done) = hanging.join_next().await {
        let (done, append) = done.unwrap();
        if let Err(refused) = done {
            assert!(refused.to_string().contains("raise pool=N"), "{refused}");
            settle::append(store.as_ref(), append).await.unwrap();
        }
    }
    for (world, _) in worlds {
        assert_eq!(world.texts(Number(1)).await, ["before", "during"]);
        world.verify().await;
    }
}
