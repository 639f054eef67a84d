//! The index of the SQLite store for searching: how it grows, what erasing leaves of it, and what damage does to it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

use rusqlite::Connection;
use segue_core::decide::Command;
use segue_core::entry::Seq;
use segue_core::session::Number;
use segue_store::conformance::{World, text};
use segue_store::search::{Query, Reach, Visibility};
use segue_store::{Embedding, Location, Subject};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn open(path: &Path) -> World {
    World::new(Location::Sqlite(path.to_owned()).open().unwrap())
}

fn database() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    (folder, path)
}

async fn found(world: &World, words: &str) -> Vec<String> {
    let visibility = Arc::new(Visibility::of(&*world.state().await, Reach::Everything));
    let query = Query { text: words.to_owned(), visibility, limit: 50 };
    let hits = segue_store::search::find(world.store.as_ref(), &world.scope, &query).await.unwrap();
    hits.iter().map(|hit| text(&hit.record)).collect()
}

#[allow(clippy::disallowed_methods, reason = "plays another program")]
fn connect(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

fn count(path: &Path, what: &str) -> i64 {
    connect(path).query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0)).unwrap()
}

/// A search finds what was said since the one before.
#[tokio::test]
async fn the_index_follows_the_log() {
    let (_folder, path) = database();
    let mut world = open(&path);
    for n in 0..40 {
        world.say(&format!("apples and pears, number{n}")).await;
        assert_eq!(found(&world, &format!("number{n}")).await.len(), 1);
        assert_eq!(count(&path, "search_messages"), n + 1);
    }
    world.verify().await;
}

fn blocks(path: &Path) -> Vec<Vec<u8>> {
    let db = connect(path);
    // The first two rows count rows and name segments.
    let mut query = db.prepare("SELECT block FROM search_index_data WHERE id > 10").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn terms(path: &Path) -> Vec<String> {
    let db = connect(path);
    let mut query = db.prepare("SELECT term FROM search_terms").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The token of a word is a trace as well, and so is its place in the file.
#[tokio::test]
async fn p8_an_erased_word_leaves_no_token_behind() {
    let (_folder, path) = database();
    let mut world = open(&path);
    world.say("the harbour is in the north").await;
    found(&world, "harbour").await;
    let before = terms(&path);
    assert!(before.iter().all(|term| term.len() == 16 && !term.contains("harb")), "{before:?}");
    let secret: Seq = world.say("xylophone aardvark zeppelin quokka").await.about.unwrap();
    assert_eq!(found(&world, "zeppelin").await.len(), 1);
    let secrets: Vec<String> = terms(&path).into_iter().filter(|term| !before.contains(term)).collect();
    assert_eq!(secrets.len(), 4);
    world.run(&Command::Erase { entries: vec![secret], along: Vec::new() }).await.unwrap();
    assert_eq!(terms(&path), before);
    for block in blocks(&path) {
        let block = String::from_utf8_lossy(&block).into_owned();
        // Words of a block share their beginnings, so their ends are looked for.
        assert!(secrets.iter().all(|secret| !block.contains(&secret[4..])), "{block}");
    }
    assert!(found(&world, "zeppelin").await.is_empty());
    world.verify().await;
}

/// The same word has another token in another scope and in another store.
#[tokio::test]
async fn tokens_are_keyed_by_store_and_scope() {
    let mut all = Vec::new();
    for _ in 0..2 {
        let (_folder, path) = database();
        let mut world = open(&path);
        let mut other = World::at(world.store.clone(), "agent:main:cli:direct:other");
        world.say("harbour").await;
        other.say("harbour").await;
        assert_eq!((found(&world, "harbour").await.len(), found(&other, "harbour").await.len()), (1, 1));
        all.extend(terms(&path));
        world.verify().await;
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4);
}

/// Nothing may outlive its erasure because something beside it cannot be read.
#[tokio::test]
async fn p8_an_erasure_drops_an_index_that_cannot_be_read() {
    let (_folder, path) = database();
    let mut world = open(&path);
    world.say("the harbour is in the north").await;
    let secret = world.say("the code of the harbour is 4711").await.about.unwrap();
    assert_eq!(found(&world, "harbour").await.len(), 2);
    connect(&path).execute("DELETE FROM search_messages", []).unwrap();
    world.run(&Command::Erase { entries: vec![secret], along: Vec::new() }).await.unwrap();
    assert_eq!((terms(&path).len(), count(&path, "search_scopes")), (0, 0));
    assert_eq!(found(&world, "harbour").await, ["the harbour is in the north"]);
    world.verify().await;
}

/// What was found out about sessions is a trace of their words as well.
#[tokio::test]
async fn p8_an_impression_goes_with_any_message_that_it_was_made_of() {
    let (_folder, path) = database();
    let mut world = open(&path);
    let mut said = Vec::new();
    for n in 0..6 {
        said.push(world.say(&format!("message {n}")).await.about.unwrap());
    }
    let of = |session: u32, first: usize, last: usize| Embedding {
        subject: Subject::Session(Number(session)),
        first: said[first],
        last: said[last],
        bytes: vec![session as u8; 400],
    };
    let all = [1, 2, 3].map(|number| Subject::Session(Number(number)));
    let read = world.state().await.head;
    let kept = vec![of(1, 0, 1), of(2, 1, 4), of(3, 5, 5)];
    world.store.embeddings().unwrap().put(&world.scope, read, kept.clone()).await.unwrap();
    assert_eq!(world.store.embeddings().unwrap().get(&world.scope, &all).await.unwrap(), kept);
    let other = World::at(world.store.clone(), "agent:main:cli:direct:other");
    assert!(
        other.store.embeddings().unwrap().get(&other.scope, &all).await.unwrap().is_empty(),
        "they are this scope's"
    );
    other.store.embeddings().unwrap().put(&other.scope, read, kept.clone()).await.unwrap();
    assert_eq!(count(&path, "embeddings"), 3, "a scope that is not there keeps nothing");

    world.say("one more message takes nothing away").await;
    let again = Embedding { bytes: vec![9], ..of(1, 0, 1) };
    world.store.embeddings().unwrap().put(&world.scope, read, vec![again.clone()]).await.unwrap();
    assert_eq!(world.store.embeddings().unwrap().get(&world.scope, &all[..1]).await.unwrap(), [again]);

    world.run(&Command::Erase { entries: vec![said[2]], along: Vec::new() }).await.unwrap();
    let left: Vec<u32> = numbers(&world.store.embeddings().unwrap().get(&world.scope, &all).await.unwrap());
    assert_eq!(left, [1, 3]);
    world.store.embeddings().unwrap().put(&world.scope, read, vec![of(2, 1, 4)]).await.unwrap();
    assert_eq!(count(&path, "embeddings"), 2, "the messages were read before the erasure");
    world.verify().await;

    // Where another program erased something by hand, the audit says so.
    let planted = "INSERT INTO embeddings SELECT 1, 0, 2, ?1, ?1, x'00'";
    connect(&path).execute(planted, [said[2].0 as i64]).unwrap();
    let problems = world.store.audit(Some(&world.scope)).await.unwrap();
    assert_eq!(problems, ["1 embeddings were made of messages that are gone"]);
}

fn numbers(embeddings: &[Embedding]) -> Vec<u32> {
    let number = |embedding: &Embedding| match embedding.subject {
        Subject::Session(number) => Some(number.0),
        Subject::Entry(_) => None,
    };
    embeddings.iter().filter_map(number).collect()
}
