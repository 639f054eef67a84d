//! P. Rotation and navigation (004).

use super::script::{every_store, play, stage_on};
use segue_core::entry::Bytes;
use segue_core::session::Number;
use segue_store::memory::Memory;
use segue_store::sqlite::Sqlite;
use std::sync::Arc;

/// P-3: monotonic numbers, never used again: not after an undo, a delete, a prune or a restart.
#[tokio::test]
async fn p3_numbers_are_never_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let mut stage =
        stage_on(Arc::new(Sqlite::open(&path).unwrap()), "[session]\nbacklog_limit = 2\nbacklog = 'delete'")
            .await;
    stage
        .play(
            "10:00 user: one               => continue #1
             10:01 user: /new              => new command #2
             10:02 user: /undo             => merge command #1
             10:03 user: /new              => new command #3
             10:04 user: /session delete 1 => command command #3
             10:05 user: /new              => new command #4
             10:06 user: /new              => new command #5",
        )
        .await;
    drop(stage);
    let mut stage = stage_on(Arc::new(Sqlite::open(&path).unwrap()), "").await;
    stage.play("10:07 user: /new => new command #6").await;
    assert_eq!(stage.last().session_key().to_string(), "agent:main:cli:direct:me#6");
    stage.verify().await;
}

/// P-4: the operations of 004, with its meaning.
#[tokio::test]
async fn p4_resolve_start_list_resume_prune_delete() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: one").await;
    assert_eq!(stage.last().session_key().to_string(), stage.scope.to_string(), "the first key is the scope");
    stage.play("10:01 user: /new\n10:02 user: two\n10:03 user: /new\n10:04 user: three").await;
    let list = stage.engine.list(&*stage.state().await).await.unwrap();
    let keys: Vec<String> = list.iter().map(|s| s.key.to_string()).collect();
    let me = "agent:main:cli:direct:me";
    assert_eq!(keys, [format!("{me}#3"), format!("{me}#2"), me.to_owned()]);
    assert_eq!(list.iter().map(|s| s.number.0).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(list.iter().map(|s| s.active).collect::<Vec<_>>(), [true, false, false]);
    stage.play("10:05 user: /session resume 1 => resume command #1").await;
    stage.play("10:06 user: /session delete 2 => command command #1").await;
    assert_eq!(stage.state().await.list().count(), 2);
    stage.play("10:07 user: /session delete 1 => refused command #1").await;
    assert!(stage.reply().contains("cannot be deleted"), "never the active one: {}", stage.reply());
}

/// P-5: the sentence of `/new`, with the count of pruned ones if any.
#[tokio::test]
async fn p5_new_says_what_it_started_and_pruned() {
    let stage =
        play("[session]\nbacklog_limit = 2\nbacklog = 'delete'", "10:00 user: one\n10:01 user: /new").await;
    assert_eq!(stage.reply(), "Started new session: agent:main:cli:direct:me#2");
    let mut stage = stage;
    stage.play("10:02 user: /new").await;
    assert_eq!(stage.reply(), "Started new session: agent:main:cli:direct:me#3, 1 old session pruned");
}

/// P-6: by the one number, newest-created first, the active one marked, title or first words, messages, age;
/// a resume does not reorder, and the numbering is the same after a restart.
#[tokio::test]
async fn p6_the_list_is_stable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let mut stage = stage_on(Arc::new(Sqlite::open(&path).unwrap()), "").await;
    stage
        .play(
            "10:00 user: the first words of the first session
             10:01 assistant: yes
             10:10 user: /new
             10:11 user: second
             10:12 user: /session rename the second one
             10:13 user: /session list",
        )
        .await;
    let list = "* #2  the second one (1 message, 1 min ago)\n  #1  the first words of the first session (2 messages, 3 min ago)";
    assert_eq!(stage.reply(), list);
    stage.play("10:13 user: /session resume 1\n10:13 user: /session list").await;
    assert!(stage.reply().starts_with("  #2  the second one"), "{}", stage.reply());
    assert!(stage.reply().contains("\n* #1  the first words"), "{}", stage.reply());
    drop(stage);
    let mut stage = stage_on(Arc::new(Sqlite::open(&path).unwrap()), "").await;
    stage.play("10:14 user: /session resume #2 => resume command #2").await;
}

/// P-7: bounds and non-numbers give a usage line, and nothing crosses a scope.
#[tokio::test]
async fn p7_resume_stays_in_its_scope() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: mine\n10:01 user: /new").await;
    for bad in ["0", "3", "x", "-1", "1.5", ""] {
        stage.play(&format!("10:02 user: /session resume {bad} => refused command #2")).await;
        assert!(stage.reply().contains("/session resume N"), "{bad}: {}", stage.reply());
    }
    stage.scope = "agent:main:cli:direct:you".parse().unwrap();
    stage.play("10:03 user: yours\n10:04 user: /session resume 2 => refused command #1").await;
    assert_eq!(stage.texts(1).await, ["yours"]);
}

/// P-8: the limit counts the active session, prunes the oldest, never the active one, also when a resumed
/// old one is active; content and index both go.
#[tokio::test]
async fn p8_the_backlog_is_kept() {
    let mut stage =
        stage_on(Arc::new(Memory::default()), "[session]\nbacklog_limit = 3\nbacklog = 'delete'").await;
    stage
        .play(
            "10:00 user: one
             10:01 user: /new
             10:02 user: two
             10:03 user: /new
             10:04 user: three
             10:05 user: /session resume 1     => resume command #1
             10:06 user: more of one
             10:07 user: /session fork         => fork command #4",
        )
        .await;
    let numbers = |state: &segue_core::state::State| state.list().map(|(n, _)| n.0).collect::<Vec<_>>();
    assert_eq!(numbers(&*stage.state().await), [4, 3, 2], "the oldest goes, also if it was just left");
    assert_eq!(stage.texts(4).await, ["one", "more of one"], "what the fork shares stays");
    stage
        .play("10:08 user: /session resume 2 => resume command #2\n10:09 user: /new => new command #5")
        .await;
    assert_eq!(numbers(&*stage.state().await), [5, 4, 3]);
    let log = stage.engine.store().tail(&stage.scope, segue_core::entry::Seq(0), 1000).await.unwrap();
    assert!(!log.iter().any(|r| matches!(&r.bytes, Bytes::Kept(text) if text.contains("\"two\""))));
    stage.verify().await;
}

/// P-8: by default what exceeds the limit is archived: not listed, found by recall, and back with a resume or a restore.
#[tokio::test]
async fn p8_what_exceeds_the_backlog_is_archived() {
    let folder = tempfile::tempdir().unwrap();
    for store in every_store(folder.path()) {
        let mut stage = stage_on(store, "[session]\nbacklog_limit = 2").await;
        stage
            .play("10:00 user: the lighthouse keeper is called Jonas\n10:01 user: /new\n10:02 user: two")
            .await;
        stage.play("10:03 user: /new\n10:04 user: three\n10:05 user: /session list").await;
        let list = stage.reply().to_owned();
        assert!(list.starts_with("* #3") && list.ends_with("Archived: 1 more (/session list all)"), "{list}");
        stage.play("10:06 user: /session list all").await;
        assert!(stage.reply().lines().last().unwrap().contains("#1") && stage.reply().contains("archived"));
        let recall = segue_engine::recall::Recall::new("lighthouse keeper", "a test");
        let found = stage.engine.recall(&stage.scope, &recall).await.unwrap().fragments;
        assert_eq!(found.iter().map(|f| f.session.number.0).collect::<Vec<_>>(), [1]);
        stage.play("10:07 user: /session restore 1 => command command #3").await;
        assert_eq!(stage.state().await.list().count(), 3);
        stage.play("10:08 user: /new\n10:09 user: /session resume 1 => resume command #1").await;
        assert_eq!(stage.texts(1).await, ["the lighthouse keeper is called Jonas"]);
        stage.verify().await;
    }
}

/// the first undo joins, the next ones go back and leave everything where it is, and redo comes back.
#[tokio::test]
async fn x15_undo_walks_back_and_redo_forward() {
    let folder = tempfile::tempdir().unwrap();
    for store in every_store(folder.path()) {
        let mut stage = stage_on(store, "").await;
        stage
            .play(
                "10:00 user: one
                 10:01 user: /new   => new command #2
                 10:02 user: two
                 10:03 user: /new   => new command #3
                 10:04 user: three
                 10:05 user: /undo  => merge command #2
                 10:06 user: /undo  => resume command #1
                 10:07 user: /undo  => refused command #1
                 10:08 user: /redo  => resume command #2
                 10:09 user: /redo  => new command #3
                 10:10 user: /redo  => refused command #3
                 10:11 user: more of three",
            )
            .await;
        assert_eq!(stage.texts(1).await, ["one"]);
        assert_eq!(stage.texts(2).await, ["two"]);
        assert_eq!(stage.texts(3).await, ["three", "more of three"]);
        stage.verify().await;
        stage.play("10:12 assistant: an answer\n10:13 user: /session move 1 => resume command #1").await;
        assert_eq!(stage.texts(1).await, ["one", "more of three", "an answer"]);
        assert_eq!(stage.texts(3).await, ["three"]);
        stage.verify().await;
    }
}

/// P-8: the default is 20, the minimum 1, and what is invalid falls back with a warning.
#[tokio::test]
async fn p8_limits() {
    use super::script::config;
    let limit = |text: &str| {
        let scope = "agent:main:main".parse().unwrap();
        config(text).policy_for(&scope, None).backlog.get()
    };
    assert_eq!(limit(""), 20);
    assert_eq!(limit("[session]\nbacklog_limit = 1"), 1);
    for bad in ["0", "-3", "'many'"] {
        let text = format!("[session]\nbacklog_limit = {bad}");
        assert_eq!(limit(&text), 20);
        assert_eq!(config(&text).warnings.len(), 1, "{bad}");
    }
    let stage =
        play("[session]\nbacklog_limit = 1", "10:00 user: one\n10:01 user: /new\n10:02 user: two").await;
    assert_eq!(stage.state().await.list().count(), 1);
    assert_eq!(stage.state().await.all().count(), 2);
    assert_eq!(stage.texts(2).await, ["two"]);
    // With one session there is no way back, and nobody promises one.
    let stage =
        play("[session]\nbacklog_limit = 1\nbacklog = 'delete'", "08:00 user: one\n21:00 user: two").await;
    assert!(!stage.last().notice.as_deref().unwrap().contains("/undo"));
}

/// P-10: a command that cannot be done is a sentence for the user, never the end of the conversation.
#[tokio::test]
async fn p10_failures_are_sentences() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    for (said, reply) in [
        ("/undo", "There is nothing to undo."),
        ("/session list", "Nothing has been said here yet."),
        ("/session fork", "Nothing has been said here yet. Say something first."),
        ("/nwe", "There is no command /nwe. Did you mean /new?"),
    ] {
        stage.play(&format!("10:00 user: {said}")).await;
        assert_eq!(stage.reply(), reply);
    }
    stage.play("10:01 user: hello => continue #1\n10:02 user: /session split 99 => refused command #1").await;
    assert!(stage.reply().contains("no message 99"));
}

/// Unknown commands are handed on where the configuration says so.
#[tokio::test]
async fn unknown_commands_can_pass() {
    let stage = play("[commands]\nunknown = 'pass'", "10:00 user: /deploy now => continue #1").await;
    assert_eq!(stage.texts(1).await, ["/deploy now"]);
}

/// A reply to a session that is not latest goes where it was asked for; `latest` is untouched.
#[tokio::test]
async fn a_late_reply_goes_where_it_was_asked_for() {
    let stage = play(
        "",
        "10:00 user: what is 6 times 7?   => continue #1
         10:01 user: /new                 => new command #2
         10:02 user: something else       => continue #2
         10:03 assistant >1: 42           => continue #1
         10:04 assistant >2: sure         => continue #2
         10:05 user: /undo                => merge command #1
         10:06 assistant >2: more         => continue #1",
    )
    .await;
    assert_eq!(stage.texts(1).await, ["what is 6 times 7?", "something else", "42", "sure", "more"]);
    assert_eq!(stage.state().await.latest(), Some(Number(1)));
}

/// X-4, P-8: the session that was just left is archived last; with `delete` age alone counts (004), and there is no way
/// back from what is deleted.
#[tokio::test]
async fn x4_the_session_just_left_is_archived_last() {
    let script = "10:00 user: one
         10:01 user: /new
         10:02 user: two
         10:03 user: /new
         10:04 user: three
         10:05 user: /session resume 1 => resume command #1
         10:06 user: important
         10:07 user: /new              => new command #4";
    let archive =
        play("[session]\nbacklog_limit = 3", &format!("{script}\n10:08 user: /undo => merge command #1"))
            .await;
    assert_eq!(archive.texts(1).await, ["one", "important"]);
    let delete = "[session]\nbacklog_limit = 3\nbacklog = 'delete'";
    let mut delete = play(delete, script).await;
    let left: Vec<u32> = delete.state().await.list().map(|(number, _)| number.0).collect();
    assert_eq!(left, [4, 3, 2]);
    delete.play("10:08 user: /undo => refused command #4").await;
}
