//! Memory (P-11): what sessions leave behind, each thing once, and never in a context by itself.

use super::script::{Stage, every_store, play, stage_on};
use segue_core::memory::{Extracted, Kind, Remembered};
use segue_core::session::Number;
use segue_engine::memory::Archival;
use segue_engine::{Pick, Request};
use segue_store::memory::Memory;
use segue_store::sqlite::Sqlite;
use std::sync::Arc;

const SCRIPT: &str = "
    10:00 user: My name is Ann and I live in Graz.
    10:01 assistant: Hello Ann! What can I do for you?
    10:02 user: I'm allergic to nuts. Find me a cake for Sunday.
    10:03 assistant: A poppy seed cake. Shall I order it for ten people?
    10:04 user: Yes, order it.
    10:05 user: /new
    10:06 user: I have a boat in Piran.
";

async fn texts(stage: &Stage) -> Vec<(Kind, String)> {
    let memories = stage.engine.memories(&stage.scope).await.unwrap();
    memories.into_iter().map(|memory| (memory.kind, memory.text)).collect()
}

async fn work(stage: &Stage) -> Archival {
    stage.engine.archive(&stage.scope).await.unwrap()
}

/// P-11: only what was left is looked at, once, and each thing says where it comes from.
#[tokio::test]
async fn p11_a_session_that_was_left_is_looked_at_once() {
    let stage = play("", SCRIPT).await;
    assert_eq!(stage.engine.archive_queue(&stage.scope).await.unwrap().len(), 1);
    assert_eq!(texts(&stage).await, []);
    let done = work(&stage).await;
    assert_eq!((done.sessions, done.kept), (1, 3));
    let kept = texts(&stage).await;
    assert_eq!(kept[0], (Kind::Fact, "My name is Ann and I live in Graz.".to_owned()));
    assert_eq!(kept[1], (Kind::Preference, "I'm allergic to nuts.".to_owned()));
    assert_eq!(kept[2].0, Kind::Decision);
    for memory in stage.engine.memories(&stage.scope).await.unwrap() {
        assert_eq!(memory.session.to_string(), "agent:main:cli:direct:me");
        assert!(stage.engine.store().get(&stage.scope, memory.source).await.unwrap().is_some());
    }
    assert_eq!(work(&stage).await, Archival::default());
    assert_eq!(texts(&stage).await, kept);
    stage.verify().await;
}

/// P-11: it never enters a context by itself.
#[tokio::test]
async fn p11_nothing_remembered_enters_a_context() {
    let stage = play("", SCRIPT).await;
    let before = stage.engine.context(&stage.scope).await.unwrap();
    work(&stage).await;
    let after = stage.engine.context(&stage.scope).await.unwrap();
    assert_eq!(after, before);
    assert!(!format!("{after:?}").contains("nuts"));
}

/// P-11: a session that comes back is looked at again, for what is new only.
#[tokio::test]
async fn p11_a_session_that_came_back_gives_only_what_is_new() {
    let mut stage = play("", SCRIPT).await;
    work(&stage).await;
    stage
        .play(
            "10:07 user: /session resume 1
             10:08 user: I never eat fish either.
             10:09 user: /new",
        )
        .await;
    let done = work(&stage).await;
    assert_eq!((done.sessions, done.kept), (2, 2), "the fish, and the boat");
    let nuts = texts(&stage).await.into_iter().filter(|(_, text)| text.contains("nuts")).count();
    assert_eq!(nuts, 1);
    stage.verify().await;
}

/// P-11: what was forgotten does not come back, not by an undo, a fork or a second look.
#[tokio::test]
async fn p11_what_was_forgotten_stays_forgotten() {
    let mut stage = play("", SCRIPT).await;
    work(&stage).await;
    let nuts = stage.engine.memories(&stage.scope).await.unwrap();
    let nuts = nuts.iter().find(|memory| memory.text.contains("nuts")).unwrap().entry;
    assert_eq!(stage.engine.forget(&stage.scope, nuts).await.unwrap().reply, None);
    let again = stage.engine.forget(&stage.scope, nuts).await.unwrap();
    assert!(again.reply.unwrap().contains("There is no memory "));
    stage
        .play(
            "10:07 user: /undo
             10:08 user: /session fork
             10:09 user: and something else
             10:10 user: /new
             10:11 user: hello",
        )
        .await;
    work(&stage).await;
    assert!(texts(&stage).await.iter().all(|(_, text)| !text.contains("nuts")));
    stage.verify().await;
}

/// P-11, X-6: what is erased between the look at a session and the append is not remembered.
#[tokio::test]
async fn p11_what_is_erased_meanwhile_is_not_remembered() {
    let stage = play("", SCRIPT).await;
    let said = stage.engine.messages(&*stage.state().await, Number(1), 100).await.unwrap();
    let found = [0, 2].map(|nth| Remembered {
        session: Number(1),
        kind: Kind::Fact,
        text: said[nth].text.clone(),
        source: said[nth].seq,
    });
    let kept = Extracted { session: Number(1), upto: said.last().unwrap().seq, found: found.to_vec() };
    let at = stage.engine.now();
    for request in [Request::Erase(vec![said[0].seq]), Request::Remember(kept)] {
        stage.engine.request(&stage.scope, at, &request).await.unwrap();
    }
    assert_eq!(texts(&stage).await, [(Kind::Fact, said[2].text.clone())]);
    stage.verify().await;
}

/// P-11, X-6: what a message said goes from memory with the message, and with its session if that is deleted.
#[tokio::test]
async fn p11_erasing_a_message_or_deleting_a_session_forgets() {
    let stage = play("", SCRIPT).await;
    work(&stage).await;
    let memories = stage.engine.memories(&stage.scope).await.unwrap();
    let ann = memories.iter().find(|memory| memory.text.contains("Ann")).unwrap().source;
    let at = stage.engine.now();
    stage.engine.request(&stage.scope, at, &Request::Erase(vec![ann])).await.unwrap();
    assert!(texts(&stage).await.iter().all(|(_, text)| !text.contains("Ann")));
    stage.verify().await;
    stage.engine.request(&stage.scope, at, &Request::Delete(Pick::Numbered(Number(1)))).await.unwrap();
    assert_eq!(texts(&stage).await, []);
    stage.verify().await;
}

/// P-11: a session that was merged into another one is forgotten with that.
#[tokio::test]
async fn p11_deleting_a_session_forgets_what_was_merged_into_it() {
    let mut stage = play("", SCRIPT).await;
    stage.play("10:07 user: /session resume 1").await;
    work(&stage).await;
    let at = stage.engine.now();
    let (boat, ann) = (Pick::Numbered(Number(2)), Pick::Numbered(Number(1)));
    stage.engine.request(&stage.scope, at, &Request::Merge(boat, ann)).await.unwrap();
    stage.play("10:08 user: /new\n10:09 user: hello").await;
    work(&stage).await;
    assert!(texts(&stage).await.iter().any(|(_, text)| text.contains("Piran")));
    stage.engine.request(&stage.scope, at, &Request::Delete(ann)).await.unwrap();
    assert_eq!(texts(&stage).await, []);
    stage.verify().await;
}

/// P-11: a session that goes before anybody looked at it is looked at with the append that drops it.
#[tokio::test]
async fn p11_a_pruned_session_leaves_what_is_worth_keeping() {
    let folder = tempfile::tempdir().unwrap();
    for store in every_store(folder.path()) {
        let mut stage = stage_on(store, "[session]\nbacklog_limit = 2\nbacklog = 'delete'").await;
        stage.play(SCRIPT).await;
        stage.play("10:07 user: /new\n10:08 user: hello").await;
        assert!(texts(&stage).await.iter().any(|(_, text)| text == "I'm allergic to nuts."));
        assert_eq!(stage.state().await.list().count(), 2);
        stage.verify().await;
        // The one that is asked to be deleted is not remembered.
        let at = stage.engine.now();
        stage.engine.request(&stage.scope, at, &Request::Delete(Pick::Numbered(Number(2)))).await.unwrap();
        assert!(texts(&stage).await.iter().all(|(_, text)| !text.contains("Piran")));
        stage.verify().await;
    }
}

/// P-11: off by default where more than one person may speak.
#[tokio::test]
async fn p11_groups_are_not_remembered_unless_asked() {
    for (settings, kept) in [("", 0), ("[memory]\nkeep = 'all'", 3), ("[memory]\nkeep = 'nothing'", 0)] {
        let mut stage = stage_on(Arc::new(Memory::default()), settings).await;
        stage.scope = "agent:main:telegram:group:-5".parse().unwrap();
        stage.play(SCRIPT).await;
        assert_eq!(work(&stage).await.kept, kept, "{settings}");
    }
}

/// P-11: two workers on one store keep each thing once.
#[tokio::test]
async fn p11_two_workers_keep_each_thing_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let mut one = stage_on(Arc::new(Sqlite::open(&path).unwrap()), "").await;
    one.play(SCRIPT).await;
    let two = stage_on(Arc::new(Sqlite::open(&path).unwrap()), "").await;
    let (first, second) = tokio::join!(work(&one), work(&two));
    assert!(first.kept + second.kept >= 3);
    assert_eq!(texts(&one).await.len(), 3);
    one.verify().await;
}
