//! PostgreSQL and what is between it and a node: servers that vanish or stand still, several hosts, TLS, a pooler.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use segue_core::decide::Command;
use segue_core::session::Number;
use segue_store::conformance::{World, said};
use segue_store::postgres::Postgres;
use segue_store::search::terms;
use segue_store::{Error, Page, Purged, Store, Value, settle};
use segue_testing::pooler::{Pooler, StartupOptions};
use segue_testing::postgres::{CERTIFICATE, Cluster, Durability, database, or_skipped};
use segue_testing::proxy::Proxy;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

fn open(url: &str) -> Arc<dyn Store> {
    Arc::new(Postgres::open(url).unwrap())
}

/// N-3: a connection whose server has vanished is given up, and the pool has its place again.
#[tokio::test]
async fn n3_a_connection_that_is_not_answered_is_discarded() {
    let Some(database) = database() else { return };
    let proxy = Proxy::start(([127, 0, 0, 1], database.cluster().port()).into()).unwrap();
    let settings = "pool=1&answer_timeout=1";
    let url = format!("postgres://segue@127.0.0.1:{}/{}?{settings}", proxy.port(), database.name());
    let store = open(&url);
    let mut world = World::new(Arc::clone(&store));
    world.say("before").await;
    // A turn, an append that is a transaction, and many at once. Whoever has the connection when it is abandoned, also a task of the
    // store, gives it up.
    for command in [said("first"), Command::New { first: None }] {
        let (append, _) = world.append_of(world.state().await, &command).unwrap();
        proxy.abandon();
        settle::append(store.as_ref(), append).await.unwrap();
    }
    let (many, _) = world.append_of(world.state().await, &said("second")).unwrap();
    proxy.abandon();
    let (written, done) = settle::append_many(store.as_ref(), vec![many]).await;
    assert!(written == 1 && done.is_ok(), "{done:?}");
    proxy.abandon();
    if let Err(late) = store.head(&world.scope).await {
        assert!(late.to_string().contains("does not answer"), "{late}");
    }
    world.say("third").await;
    assert_eq!(world.texts(Number(1)).await, ["before", "first"]);
    assert_eq!(world.texts(Number(2)).await, ["second", "third"]);
    world.verify().await;
}

/// A listener whose queue is full: the next connection is never answered.
async fn black_hole() -> (TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = tokio::time::timeout(Duration::from_millis(300), TcpStream::connect(address)).await
    {
        waiting.push(stream.unwrap());
    }
    (listener, waiting)
}

/// The first host takes no connection, or takes it and stands still: the second one is used.
#[tokio::test]
async fn n3_another_host_is_used_where_one_does_not_answer() {
    let Some(database) = database() else { return };
    let (hole, _full) = black_hole().await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let second = format!("127.0.0.1:{}/{}", database.cluster().port(), database.name());
    for first in [hole.local_addr().unwrap(), silent.local_addr().unwrap()] {
        let settings = "connect_timeout=1&target_session_attrs=read-write";
        let store = open(&format!("postgres://segue@{first},{second}?{settings}"));
        World::at(store, &format!("agent:main:cli:direct:p{}", first.port())).say("hello").await;
        let alone = format!("postgres://segue@{first}/{}?connect_timeout=1", database.name());
        let told = open(&alone).scopes(&Page::first(1)).await.unwrap_err().to_string();
        assert!(told.contains(&first.to_string()) && !told.contains("pool=N"), "{told}");
    }
}

/// A standby of the first host's kind takes no writes: the next one is used.
#[tokio::test]
async fn n3_the_host_that_takes_writes_is_found() {
    let Some(database) = database() else { return };
    let Some(standby) = or_skipped(Cluster::start(Durability::Fast)) else { return };
    let name = database.name();
    standby.psql("postgres", &format!("CREATE DATABASE {name}")).unwrap();
    standby.psql(name, &format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).unwrap();
    let (first, second) = (standby.port(), database.cluster().port());
    let url = format!("postgres://segue@127.0.0.1:{first},127.0.0.1:{second}/{name}");
    let mut world = World::new(open(&format!("{url}?target_session_attrs=read-write")));
    world.say("hello").await;
    assert_eq!(database.psql("SELECT count(*) FROM segue_scopes").unwrap(), "1");
}

/// A server that is demoted while a node is connected to it: its connection is given up, and the one that takes writes is found.
#[tokio::test]
async fn n3_a_server_that_takes_no_writes_any_more_is_left() {
    let Some(database) = database() else { return };
    let Some(demoted) = or_skipped(Cluster::start(Durability::Fast)) else { return };
    let name = database.name();
    demoted.psql("postgres", &format!("CREATE DATABASE {name}")).unwrap();
    let (first, second) = (demoted.port(), database.cluster().port());
    let url = format!("postgres://segue@127.0.0.1:{first},127.0.0.1:{second}/{name}");
    let store = open(&format!("{url}?target_session_attrs=read-write&pool=1"));
    let mut before = World::at(Arc::clone(&store), "agent:main:cli:direct:before");
    before.say("hello").await;
    let (append, _) = before.append_of(before.state().await, &said("not written")).unwrap();
    demoted.psql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on").unwrap();
    demoted.psql("postgres", "SELECT pg_reload_conf()").unwrap();
    while demoted.psql(name, "SHOW default_transaction_read_only").unwrap() == "off" {
        tokio::task::yield_now().await;
    }
    // The node's own connection has read the setting once it refuses.
    while let Ok(()) = store.put_value("probe", Value::new("probe", "x")).await {}
    let refused = store.append(append).await;
    assert!(matches!(refused, Err(Error::Conflict { .. })), "asked the one that takes writes: {refused:?}");
    World::at(store, "agent:main:cli:direct:after").say("hello").await;
    assert_eq!(database.psql("SELECT count(*) FROM segue_scopes").unwrap(), "1");
}

#[tokio::test]
async fn what_refuses_a_connection_is_named() {
    let Some(database) = database() else { return };
    let told = async |url: String| open(&url).scopes(&Page::first(1)).await.unwrap_err().to_string();
    let refused = told("postgres://segue@127.0.0.1:1/segue".to_owned()).await;
    assert!(refused.contains("127.0.0.1:1") && refused.contains("is the server running"), "{refused}");
    let both = told("postgres://segue@127.0.0.1:1,127.0.0.1:2/segue".to_owned()).await;
    assert!(both.contains("127.0.0.1:1:") && both.contains("127.0.0.1:2:"), "{both}");
    let name = told("postgres://segue@no-such-host.invalid/segue".to_owned()).await;
    assert!(name.contains("no-such-host.invalid") && name.contains("check the host"), "{name}");
    let port = database.cluster().port();
    let plain = told(format!("postgres://segue@127.0.0.1:{port}/segue?sslmode=require")).await;
    assert!(plain.contains("sslmode=disable"), "{plain}");
}

/// A certificate that the server has signed itself, as Debian's PostgreSQL has one: it encrypts, and is checked where that is asked for.
#[tokio::test]
async fn a_self_signed_certificate_is_enough_unless_it_is_to_be_checked() {
    let Some(cluster) = or_skipped(Cluster::with_tls()) else { return };
    let name = cluster.create().unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(CERTIFICATE.as_bytes()).unwrap();
    let (port, root) = (cluster.port(), file.path().display());
    for (host, settings) in [
        ("127.0.0.1", ""),
        ("127.0.0.1", "?sslmode=prefer"),
        ("127.0.0.1", "?sslmode=require"),
        ("127.0.0.1", &format!("?sslmode=verify-ca&sslrootcert={root}")),
        ("localhost", &format!("?sslmode=verify-full&sslrootcert={root}")),
        ("localhost", &format!("?sslmode=require&sslrootcert={root}")),
    ] {
        let store = open(&format!("postgres://segue@{host}:{port}/{name}{settings}"));
        store.scopes(&Page::first(1)).await.unwrap_or_else(|error| panic!("{host} {settings}: {error}"));
    }
    for (host, settings, hint) in [
        ("127.0.0.1", "?sslmode=verify-full", "sslrootcert=FILE"),
        ("127.0.0.1", "?sslmode=verify-ca", "sslrootcert=FILE"),
        ("127.0.0.1", &format!("?sslmode=verify-full&sslrootcert={root}"), "another host's"),
        ("127.0.0.1", "?sslmode=disable", "no encryption"),
    ] {
        let store = open(&format!("postgres://segue@{host}:{port}/{name}{settings}"));
        let told = store.scopes(&Page::first(1)).await.unwrap_err().to_string();
        assert!(told.contains(hint), "{host} {settings}: {told}");
    }
}

/// One connection is enough for everything: nothing waits for a second one while it holds the first.
#[tokio::test]
async fn one_connection_is_enough() {
    let Some(database) = database() else { return };
    let mut world = World::new(open(&format!("{}?pool=1", database.url())));
    world.say("a walk to the harbour").await;
    let found =
        world.store.search().unwrap().postings(&world.scope, &terms("harbour").collect::<Vec<_>>()).await;
    assert_eq!(found.unwrap().messages, 1);
    world.verify().await;
    assert_eq!(world.store.audit(None).await.unwrap(), Vec::<String>::new());
}

/// The log is scanned where the index cannot be written, and only there.
#[tokio::test]
async fn a_search_reads_the_log_only_where_the_database_takes_no_writes() {
    let Some(database) = database() else { return };
    let mut world = World::new(open(database.url()));
    world.say("a walk to the harbour").await;
    let terms: Vec<_> = terms("harbour").collect();
    let reading = format!("{}?options=-cdefault_transaction_read_only%3Don", database.url());
    let found = open(&reading).search().unwrap().postings(&world.scope, &terms).await.unwrap();
    assert_eq!(found.terms[0].newest.len(), 1);
    database.psql("ALTER TABLE segue_terms RENAME TO segue_terms_gone").unwrap();
    let told = world.store.search().unwrap().postings(&world.scope, &terms).await;
    assert!(matches!(told, Err(Error::Unavailable { .. })), "{told:?}");
}

/// PgBouncer gives each transaction another connection: everything works, and nothing is left behind on them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_in_transaction_mode_is_enough() {
    let Some(database) = database() else { return };
    let Some(pooler) = or_skipped(Pooler::start(database.cluster(), 3, StartupOptions::Refused)) else {
        return;
    };
    let url = format!("postgres://segue@127.0.0.1:{}/{}?statements=unnamed", pooler.port(), database.name());
    // What a connection is set to at first is not what a turn may go by.
    let name = database.name();
    database.psql(&format!("ALTER DATABASE {name} SET statement_timeout = '7s'")).unwrap();
    database
        .psql(&format!("ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'"))
        .unwrap();
    let mut nodes = tokio::task::JoinSet::new();
    for node in 0..8 {
        let store = open(&url);
        nodes.spawn(async move {
            let mut world = World::at(Arc::clone(&store), &format!("agent:main:cli:direct:n{node}"));
            let mut stream = store.watch(store.position().await.unwrap());
            for n in 0..5 {
                world.say(&format!("a walk to the harbour {n}")).await;
            }
            stream.next().await.unwrap();
            world.run(&Command::New { first: None }).await.unwrap();
            world.say("again").await;
            let words: Vec<_> = terms("harbour").collect();
            let found = store.search().unwrap().postings(&world.scope, &words).await.unwrap();
            assert_eq!(found.terms[0].newest.len(), 5);
            let head = world.state().await.head;
            world.run(&Command::Delete { session: Number(1) }).await.unwrap();
            assert!(world.state().await.head > head);
            store.sweep().await.unwrap();
            world.verify().await;
        });
    }
    while let Some(done) = nodes.join_next().await {
        done.unwrap();
    }
    let store = open(&url);
    assert_eq!(store.purge().await.unwrap(), Purged::Complete);
    let world = World::at(Arc::clone(&store), "agent:main:cli:direct:n0");
    let (settings, minute) = ("SELECT current_setting('lock_timeout')", Duration::from_secs(60));
    assert!(store.lease("work", "a", minute, world.now).await.unwrap().is_held());
    assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
    // The pooler's connections are as they were.
    let pooled = format!("postgres://segue@127.0.0.1:{}/{name}", pooler.port());
    for _ in 0..6 {
        assert_eq!(database.cluster().psql_at(&pooled, settings).unwrap(), "0");
    }
}

/// A pooler that the URL says nothing of: whatever it refuses or drops, the hint names the setting that is missing.
#[tokio::test]
async fn a_pooler_that_is_not_named_is_told() {
    let Some(database) = database() else { return };
    for options in [StartupOptions::Refused, StartupOptions::Dropped] {
        let Some(pooler) = or_skipped(Pooler::start(database.cluster(), 2, options)) else { return };
        let url = format!("postgres://segue@127.0.0.1:{}/{}", pooler.port(), database.name());
        let told = open(&url).scopes(&Page::first(1)).await.unwrap_err().to_string();
        assert!(told.contains("statements=unnamed"), "{options:?}: {told}");
    }
}

/// A server that is too old says so at the start of each connection.
#[tokio::test]
async fn an_older_server_is_refused_with_its_version() {
    let Some(database) = database() else { return };
    let proxy = Proxy::start(([127, 0, 0, 1], database.cluster().port()).into()).unwrap();
    let url = format!("postgres://segue@127.0.0.1:{}/{}", proxy.port(), database.name());
    open(&url).scopes(&Page::first(1)).await.unwrap();
    // The real server's greeting, with another version of the same length.
    let version = database.psql("SHOW server_version").unwrap();
    let major = version.split('.').next().unwrap();
    proxy.replace(format!("server_version\x00{major}").as_bytes(), b"server_version\x0013");
    let told = open(&url).scopes(&Page::first(1)).await.unwrap_err().to_string();
    assert!(told.contains("PostgreSQL 13") && told.contains("14 or later"), "{told}");
}
