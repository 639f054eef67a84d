//! Two servers on one PostgreSQL: whatever one is told, the other one knows.

use crate::events::read;
use crate::harness::World;
use segue_server::Server;
use segue_server::auth::Right;
use segue_store::Location;
use segue_testing::postgres::{Database, database};
use segue_testing::proxy::Proxy;
use serde_json::{Value, json};
use std::time::Duration;

const ME: &str = "agent:main:cli:direct:me";

/// Two nodes of a cluster; nothing where PostgreSQL cannot be had.
async fn two() -> Option<(Database, World, World)> {
    two_with("").await
}

/// The same, where the first one has more settings.
async fn two_with(more: &str) -> Option<(Database, World, World)> {
    let database = database()?;
    let store = || Location::Postgres(database.url().to_owned());
    let settings = "[serve]\nwork_every = \"1s\"\n";
    let (a, b) =
        (World::node(store(), &format!("{settings}{more}")).await, World::node(store(), settings).await);
    Some((database, a, b))
}

#[tokio::test]
async fn n4_events_of_one_node_come_at_the_other() {
    let Some((_database, a, b)) = two().await else { return };
    a.say(ME, "hello").await;
    assert_eq!(b.told(ME, 1).await, ["user hello"]);
    let path = format!("/api/v1/scopes/{ME}/events");
    // The stream is there, or comes later and reads what it missed.
    let (seen, _) = tokio::join!(read(&b, &path, Some("0"), 2), a.say(ME, "second"));
    assert_eq!(seen[1].2["text"], "second");
}

#[tokio::test]
async fn n4_an_agent_at_one_node_is_interrupted_from_the_other() {
    let Some((_database, a, b)) = two().await else { return };
    let started =
        a.post(&format!("/api/v1/scopes/{ME}/task/start"), json!({ "task": "Add retry logic" })).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let waiting = format!("/api/v1/scopes/{ME}/interrupts?wait=60");
    let (heard, _) = tokio::join!(a.get(&waiting), b.say(ME, "use exponential backoff"));
    assert_eq!(heard.json()["interrupts"][0]["text"], "use exponential backoff", "{}", heard.text);
}

#[tokio::test]
async fn n4_a_token_that_is_revoked_at_one_node_ends_at_both() {
    let Some((_database, mut a, mut b)) = two().await else { return };
    let engine = a.engine().await;
    let (tokens, now) = (Server::tokens(&engine), engine.now());
    let secret = tokens.add("ann", Vec::new(), Right::Admin, None, now).await.unwrap().secret;
    (a.token, b.token) = (Some(secret.clone()), Some(secret));
    assert_eq!((a.get("/api/v1/scopes").await.status, b.get("/api/v1/scopes").await.status), (200, 200));
    tokens.revoke("ann", now).await.unwrap();
    assert_eq!((a.get("/api/v1/scopes").await.status, b.get("/api/v1/scopes").await.status), (401, 401));
}

/// A message that reaches a node over HTTP waits for the database once, and a reply twice: it first looks whether another node was
/// faster. Counted on the wire.
#[tokio::test]
async fn a_message_at_a_warm_node_is_one_round_trip() {
    let Some(database) = database() else { return };
    let proxy = Proxy::start(([127, 0, 0, 1], database.cluster().port()).into()).unwrap();
    let url = format!("postgres://segue@127.0.0.1:{}/{}?pool=1", proxy.port(), database.name());
    let node = World::node(Location::Postgres(url), "[serve]\nwork_every = \"1h\"\n").await;
    let reply = || node.post("/api/v1/replies", json!({ "scope": ME, "text": "fine" }));
    for n in 0..3 {
        node.say(ME, &format!("message {n}")).await;
        reply().await;
    }
    // Beside the turns each node tells and hears what is new, and looks for tokens from time to time.
    let begin = || {
        let mut told = proxy.round_trips();
        told.retain(|one| {
            !["pg_notify", "position", "commits_swept", "FROM segue_values"]
                .iter()
                .any(|word| one.contains(word))
                || one.starts_with("WITH changed AS")
        });
        told.into_iter().map(|one| one.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    begin();
    node.say(ME, "once more").await;
    assert_eq!(begin(), ["WITH changed"]);
    reply().await;
    assert_eq!(begin(), ["SELECT head", "WITH changed"]);
}

/// N-1: every message is delivered to both nodes at once, and is there once, in an order that both tell.
#[tokio::test]
async fn n1_what_is_delivered_to_both_nodes_is_there_once() {
    let Some((_database, a, b)) = two().await else { return };
    let body =
        |n: usize| json!({ "scope": ME, "text": format!("message {n}"), "message_id": format!("m{n}") });
    for n in 0..20 {
        let (body, other) = (body(n), body(n));
        let (one, two) = tokio::join!(a.post("/api/v1/messages", body), b.post("/api/v1/messages", other));
        assert_eq!((one.status, two.status), (200, 200), "{} {}", one.text, two.text);
    }
    let expected: Vec<String> = (0..20).map(|n| format!("user message {n}")).collect();
    assert_eq!(a.told(ME, 1).await, expected);
    assert_eq!(b.told(ME, 1).await, expected);
    // The same key at the other node gives the same answer.
    let key = [("idempotency-key", "k1")];
    let body = json!({ "scope": ME, "text": "remember the milk" });
    let first = a.call("POST", "/api/v1/messages", Some(&body), &key).await;
    let again = b.call("POST", "/api/v1/messages", Some(&body), &key).await;
    assert_eq!((again.status, again.json()), (200, first.json()));
    let report: Value = b.get(&format!("/api/v1/scopes/{ME}/verify")).await.json();
    assert_eq!(report["ok"], true, "{report}");
}

/// N-4: both nodes want to work, and one of them has the lease.
#[tokio::test]
async fn n4_workers_run_once_in_the_cluster() {
    let Some((_database, a, b)) = two().await else { return };
    a.say(ME, "hello").await;
    let counts = |text: &str, what: &str| {
        text.lines().any(|line| line.starts_with("segue_worker_runs_total") && line.contains(what))
    };
    let one_works = async {
        loop {
            let (a, b) = (a.get("/metrics").await.text, b.get("/metrics").await.text);
            let works = [counts(&a, "\"memory\""), counts(&b, "\"memory\"")];
            let waits = [counts(&a, "\"taken\""), counts(&b, "\"taken\"")];
            assert_ne!(works, [true, true], "both work");
            if works.contains(&true) && waits.contains(&true) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), one_works).await.expect("one works, the other one waits");
}

/// A node that is told to stop says so before it ends, and the other one goes on.
#[tokio::test]
async fn n1_a_node_that_stops_leaves_everything_to_the_other() {
    let Some((_database, mut a, b)) = two().await else { return };
    a.say(ME, "one").await;
    assert_eq!((a.get("/readyz").await.status, b.get("/readyz").await.status), (200, 200));
    a.stop().await;
    b.say(ME, "two").await;
    assert_eq!(b.told(ME, 1).await, ["user one", "user two"]);
    a.restart_stopped().await;
    assert_eq!(a.told(ME, 1).await, ["user one", "user two"]);
}

/// N-4: what a session is set to at one node holds at the other, also where that one has read it before.
#[tokio::test]
async fn n4_what_is_configured_at_one_node_holds_at_the_other() {
    let Some((_database, a, b)) = two().await else { return };
    a.say(ME, "hello").await;
    let path = format!("/api/v1/scopes/{ME}/sessions/1");
    let before = b.get(&path).await.json();
    let change = json!({ "title": "Retries", "kept": true });
    let changed = a.call("PATCH", &path, Some(&change), &[]).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let after = b.get(&path).await.json();
    assert_eq!(after, changed.json());
    assert_ne!(after, before);
    assert_eq!((&after["kept"], &after["title"]), (&true.into(), &"Retries".into()), "{after}");
}

/// N-4: the agent and the model of a session are in the log with all that belongs to them: the other node needs no file for them.
#[tokio::test]
async fn n4_an_agent_that_is_chosen_at_one_node_holds_at_the_other() {
    let agent = "[agents.coder]\ninstructions = \"Write the test first.\"\n";
    let Some((_database, a, b)) = two_with(agent).await else { return };
    a.say(ME, "hello").await;
    let path = format!("/api/v1/scopes/{ME}/sessions/1");
    let before = b.get(&path).await.json();
    let change = json!({ "agent": "coder", "model": "native" });
    let changed = a.call("PATCH", &path, Some(&change), &[]).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let after = b.get(&path).await.json();
    assert_eq!(after, changed.json());
    assert_eq!(after["active_agent"], "coder", "{after}");
    assert_ne!(after["model_config"], before["model_config"]);
    let context = b.get(&format!("/api/v1/scopes/{ME}/context")).await;
    assert!(context.text.contains("Write the test first."), "{}", context.text);
    // Whoever has no such agent cannot choose it, and says so.
    let unknown = b.call("PATCH", &path, Some(&json!({ "agent": "coder" })), &[]).await;
    assert_eq!(unknown.status, 409, "{}", unknown.text);
}

/// S-5: a stream of all scopes that breaks off at one node goes on at the other, without a gap and without a repetition.
#[tokio::test]
async fn s5_a_stream_of_all_scopes_goes_on_at_the_other_node() {
    let Some((_database, a, b)) = two().await else { return };
    let others = ["agent:main:cli:direct:me", "agent:main:cli:direct:you"];
    for n in 0..6 {
        let node = if n % 2 == 0 { &a } else { &b };
        node.say(others[n / 2 % 2], &format!("message {n}")).await;
    }
    let path = "/api/v1/events";
    let all = read(&a, path, Some("0"), 6).await;
    for (n, (id, _, told)) in all.iter().enumerate() {
        assert_eq!(told["text"], format!("message {n}"));
        let rest = read(&b, path, Some(id), 5 - n).await;
        assert_eq!(rest, all[n + 1..], "behind {id}");
    }
    // What comes later comes there, too.
    let last = all[5].0.clone();
    let (next, _) = tokio::join!(read(&b, path, Some(&last), 1), a.say(ME, "message 6"));
    assert_eq!(next[0].2["text"], "message 6");
}

/// N-4: a stream that is open at one node ends when its token is revoked at the other.
#[tokio::test]
async fn n4_an_open_stream_ends_by_a_revocation_at_the_other_node() {
    let Some((_database, a, b)) = two().await else { return };
    a.say(ME, "hello").await;
    let engine = a.engine().await;
    let (tokens, now) = (Server::tokens(&engine), engine.now());
    let secret = tokens.add("ann", Vec::new(), Right::Read, None, now).await.unwrap().secret;
    let mut streams = Vec::new();
    for path in ["/api/v1/events".to_owned(), format!("/api/v1/scopes/{ME}/events")] {
        let opened =
            crate::harness::http_client().get(format!("{}{path}", b.url)).bearer_auth(&secret).send();
        let stream = opened.await.unwrap();
        assert_eq!(stream.status().as_u16(), 200);
        streams.push(stream);
    }
    tokens.revoke("ann", now).await.unwrap();
    for mut stream in streams {
        let ends = async { while let Ok(Some(_)) = stream.chunk().await {} };
        tokio::time::timeout(Duration::from_secs(60), ends).await.expect("the stream ends");
    }
}

/// API.md: 503 where the store does not answer, for a command like for a message. Neither is taken for done, and the same one may be
/// sent again.
#[tokio::test]
async fn a_command_that_the_store_does_not_take_is_not_acknowledged() {
    let Some((database, a, _b)) = two().await else { return };
    a.say(ME, "hello").await;
    let writes = |off: &str| {
        let name = database.name();
        let sql = format!(
            "ALTER DATABASE \"{name}\" SET default_transaction_read_only = {off};
             SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        );
        database.cluster().psql("postgres", &sql).unwrap();
    };
    writes("on");
    for text in ["/new", "a message"] {
        let refused =
            a.post("/api/v1/messages", json!({ "scope": ME, "text": text, "message_id": text })).await;
        assert_eq!(refused.status, 503, "{text}: {}", refused.text);
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    writes("off");
    // Connections that were cut off are found one by one.
    let body = json!({ "scope": ME, "text": "/new", "message_id": "/new" });
    let mut done = a.post("/api/v1/messages", body.clone()).await;
    for _ in 0..20 {
        if done.status == 503 {
            done = a.post("/api/v1/messages", body.clone()).await;
        }
    }
    assert_eq!((done.status, &done.json()["session"]), (200, &json!(format!("{ME}#2"))), "{}", done.text);
}
