//! Issue 16, row 18: a chain of forks takes little room, and what it leaves behind goes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_core::decide::Command;
use segue_core::session::Number;
use segue_store::conformance::{World, folder};
use segue_store::files::Files;
use segue_store::sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;

const FORKS: u32 = 400;

async fn fork(world: &mut World, times: u32) {
    world.say("how it began").await;
    for n in 0..times {
        let session = world.state().await.latest().unwrap();
        world.run(&Command::Fork { session, at: None }).await.unwrap();
        world.say(&format!("message {n}")).await;
    }
}

#[allow(clippy::disallowed_methods, reason = "the test looks at what the store has written")]
fn ask(path: &Path, sql: &str) -> i64 {
    rusqlite::Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn no_row_of_a_chain_of_forks_grows_and_no_page_is_left_behind() {
    let folder = folder();
    let path = folder.path().join("segue.db");
    let mut world = World::new(Arc::new(Sqlite::open(&path).unwrap()));
    fork(&mut world, FORKS).await;
    let longest = ask(&path, "SELECT max(length(spans)) FROM sessions");
    assert!(longest < 2_000, "the longest row has {longest} bytes of spans");
    let pages = ask(&path, "SELECT count(*) FROM span_pages");
    assert_eq!(pages, i64::from(FORKS / 16), "each page is written once");
    let bodies = ask(&path, "SELECT max(length(body)) FROM entries WHERE kind = 23");
    assert!(bodies < 400, "the longest fork has {bodies} bytes");
    // The end of the chain still sees all of it; without that, most of the pages are nobody's.
    for number in 2..FORKS {
        world.run(&Command::Delete { session: Number(number) }).await.unwrap();
    }
    assert_eq!(ask(&path, "SELECT count(*) FROM span_pages"), pages);
    world.verify().await;
    world.run(&Command::Resume { session: Number(1) }).await.unwrap();
    for number in [FORKS, FORKS + 1] {
        world.run(&Command::Delete { session: Number(number) }).await.unwrap();
    }
    assert_eq!(ask(&path, "SELECT count(*) FROM span_pages"), 0);
    world.verify().await;
    assert_eq!(world.store.audit(None).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn no_line_of_a_chain_of_forks_grows() {
    let folder = folder();
    let mut world = World::new(Arc::new(Files::open(folder.path()).unwrap()));
    fork(&mut world, FORKS / 4).await;
    let journal = folder.path().join("sessions/agent_main_cli_direct_me/journal.jsonl");
    let text = std::fs::read_to_string(journal).unwrap();
    let longest = text.lines().map(str::len).max().unwrap();
    assert!(longest < 1_000, "the longest line has {longest} bytes");
    world.verify().await;
}
