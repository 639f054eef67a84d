//! Retention that runs by itself: announced first, told, and only then done (X-1, P-8, P-11).

use super::script::{Stage, every_store, play, stage_on};
use segue_core::Timestamp;
use segue_core::notice::Notice;
use segue_core::session::Number;
use segue_engine::retention::Retained;
use segue_engine::{Pick, Request};
use segue_store::memory::Memory;
use segue_store::sqlite::Sqlite;
use std::sync::Arc;

/// Only commands move a session here: the clock is not what is tested.
const QUIET: &str = "lifecycle.auto_route = 'never'\n";

const AGE: &str = "lifecycle.auto_route = 'never'\n[retention]\nage = '30d'\ngrace = '7d'";

const SCRIPT: &str = "
    10:00 user: I'm allergic to nuts. Find me a cake for Sunday.
    10:01 user: /new
    10:02 user: How do I whiten grout?
    10:03 user: /new
    40d 10:01 user: Plan a trip to Graz.
";

fn day(days: i64, hour: i64) -> Timestamp {
    let begin: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
    begin + jiff::SignedDuration::from_hours(24 * days + hour)
}

async fn retain(stage: &Stage, at: Timestamp) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let Retained { goes, announced, stays, .. } = stage.engine.retain(&stage.scope, at).await.unwrap();
    let numbers =
        |list: Vec<segue_engine::retention::DeletionCandidate>| list.iter().map(|g| g.session.0).collect();
    (numbers(goes), numbers(announced), stays.iter().map(|n| n.0).collect())
}

async fn sessions(stage: &Stage) -> Vec<u32> {
    stage.state().await.list().map(|(number, _)| number.0).collect()
}

/// nothing goes that was not announced a time of grace ago, and the person is told once, in words.
#[tokio::test]
async fn x1_what_goes_by_itself_is_announced_first() {
    let folder = tempfile::tempdir().unwrap();
    for store in every_store(folder.path()) {
        let mut stage = stage_on(store, AGE).await;
        stage.play(SCRIPT).await;
        let plan = stage.engine.retention_plan(&stage.scope, day(40, 11)).await.unwrap();
        assert_eq!(plan.announced.len(), 2);
        assert!(stage.state().await.extras.retiring.is_empty(), "a plan changes nothing");
        assert_eq!(retain(&stage, day(40, 11)).await, (vec![], vec![2, 1], vec![]));
        assert_eq!(retain(&stage, day(41, 0)).await, (vec![], vec![], vec![]), "once");
        stage.play("41d 10:00 user: How far is it by train?").await;
        let said = stage.last().clone();
        assert_eq!(
            said.notice.as_deref().unwrap().lines().last().unwrap(),
            "2 old sessions will be deleted from 2026-04-18 on (not used for more than 30 d): \
             #1 \"I'm allergic to nuts\", #2 \"How do I whiten grout?\". \
             /session list shows them, /session keep N keeps one."
        );
        stage.play("41d 10:01 user: And by car?").await;
        assert_eq!(stage.last().also, None, "it is told once");
        assert!(said.also.is_some() && !matches!(said.announces, Some(Notice::Going { .. })));
        // Not a minute before its day.
        assert_eq!(retain(&stage, day(48, 9)).await, (vec![], vec![], vec![]));
        assert_eq!(sessions(&stage).await, [3, 2, 1]);
        assert_eq!(retain(&stage, day(48, 10)).await, (vec![2, 1], vec![], vec![]));
        assert_eq!(sessions(&stage).await, [3]);
        assert!(stage.state().await.extras.retiring.is_empty());
        // P-11: what is worth keeping was kept with the same append.
        let kept = stage.engine.memories(&stage.scope).await.unwrap();
        assert!(kept.iter().any(|memory| memory.text == "I'm allergic to nuts."));
        stage.verify().await;
    }
}

/// a second delivery is told the same.
#[tokio::test]
async fn x7_what_will_go_is_told_again_on_a_second_delivery() {
    let mut stage = stage_on(Arc::new(Memory::default()), AGE).await;
    stage.play(SCRIPT).await;
    retain(&stage, day(40, 11)).await;
    let first = stage.say("40d 12:00 user @9: How far is it by train?").await;
    let again = stage.say("40d 12:00 user @9: How far is it by train?").await;
    assert!(first.notice.is_some());
    assert_eq!((&again.notice, &again.also), (&first.notice, &first.also));
}

/// the announcement is in the log: another process knows it, and a restart does not begin it anew.
#[tokio::test]
async fn x1_an_announcement_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let mut stage = stage_on(Arc::new(Sqlite::open(&path).unwrap()), AGE).await;
    stage.play(SCRIPT).await;
    retain(&stage, day(40, 11)).await;
    drop(stage);
    let mut stage = stage_on(Arc::new(Sqlite::open(&path).unwrap()), AGE).await;
    assert_eq!(retain(&stage, day(44, 0)).await, (vec![], vec![], vec![]));
    stage.play("44d 10:00 user: How far is it by train?").await;
    assert!(stage.last().also.is_some());
    assert_eq!(retain(&stage, day(51, 10)).await.0, [2, 1]);
    stage.verify().await;
}

/// who comes back long after the announcement is told first, and has the whole time of grace from then on.
#[tokio::test]
async fn x1_who_comes_back_late_has_as_long_to_object() {
    let mut stage = stage_on(Arc::new(Memory::default()), AGE).await;
    stage.play(SCRIPT).await;
    retain(&stage, day(40, 11)).await;
    stage.play("70d 10:00 user: How far is it by train?").await;
    let told = stage.last().notice.clone().unwrap();
    assert!(told.contains("will be deleted from 2026-05-17 on"), "{told}");
    assert_eq!(retain(&stage, day(70, 11)).await, (vec![], vec![], vec![]));
    stage.play("70d 12:00 user: /session keep 1").await;
    assert!(retain(&stage, day(77, 9)).await.0.is_empty());
    assert_eq!(retain(&stage, day(77, 10)).await.0, [2]);
    assert_eq!(sessions(&stage).await, [3, 1]);
    stage.verify().await;
}

/// what went into a session that was announced was not announced itself.
#[tokio::test]
async fn x1_a_merge_takes_an_announcement_back() {
    let settings = format!("{QUIET}[retention]\ncount = 2\ngrace = '7d'");
    let mut stage = stage_on(Arc::new(Memory::default()), &settings).await;
    stage.play(SCRIPT).await;
    stage.play("40d 10:02 user: /new\n40d 10:03 user: hello").await;
    assert_eq!(retain(&stage, day(40, 11)).await.1, [2, 1]);
    let merge = Request::Merge(Pick::Numbered(Number(3)), Pick::Numbered(Number(1)));
    stage.engine.request(&stage.scope, day(40, 12), &merge).await.unwrap();
    assert!(stage.state().await.announced_deletion(Number(1)).is_none());
    stage.verify().await;
}

/// after a clock was far ahead all entries have its time; what was used since is known all the same.
#[tokio::test]
async fn x1_a_clock_that_was_ahead_hides_no_use() {
    let folder = tempfile::tempdir().unwrap();
    for store in every_store(folder.path()) {
        let settings = format!("{QUIET}[retention]\nage = '5d'\ngrace = '7d'");
        let mut stage = stage_on(store, &settings).await;
        stage.play(SCRIPT).await;
        stage.play("400d 10:00 user: And what is the weather like?").await;
        assert_eq!(retain(&stage, day(40, 11)).await.1, [2, 1]);
        stage.play("40d 12:00 user: /session resume 1\n40d 12:01 user: And a second cake.").await;
        stage.play("40d 12:02 user: /new\n40d 12:03 user: What can I plant?").await;
        let state = stage.state().await;
        assert!(
            state.announced_deletion(Number(1)).is_none() && state.announced_deletion(Number(2)).is_some()
        );
        // What was used is announced anew, what was not goes.
        let (goes, announced, _) = retain(&stage, day(408, 0)).await;
        assert_eq!((goes, announced), (vec![2], vec![3, 1]));
        assert_eq!(sessions(&stage).await, [4, 3, 1]);
        stage.verify().await;
    }
}

/// Who comes back to a session, or asks for it to be kept, keeps it; so does who changes the settings.
#[tokio::test]
async fn x1_what_is_used_or_kept_does_not_go() {
    let mut stage = stage_on(Arc::new(Memory::default()), AGE).await;
    stage.play(SCRIPT).await;
    retain(&stage, day(40, 11)).await;
    stage.play("40d 12:00 user: /session keep 1").await;
    assert_eq!(
        stage.reply(),
        "#1 \"I'm allergic to nuts\" is kept, however old it gets. /session keep N off undoes that."
    );
    stage
        .play(
            "40d 12:01 user: /session resume 2
             40d 12:02 user: And the shower door?
             40d 12:03 user: /session resume 3",
        )
        .await;
    assert_eq!(stage.last().also, None, "there is nothing left to tell");
    assert_eq!(retain(&stage, day(48, 0)).await, (vec![], vec![], vec![2]));
    assert_eq!(sessions(&stage).await, [3, 2, 1]);
    // What was used again and left again is announced again, and has its time again.
    assert_eq!(retain(&stage, day(80, 0)).await, (vec![], vec![2], vec![]));
    assert_eq!(retain(&stage, day(86, 0)).await, (vec![], vec![], vec![]));
    assert_eq!(retain(&stage, day(87, 0)).await.0, [2]);
    stage.play("87d 10:00 user: /session keep 1 off").await;
    assert_eq!(retain(&stage, day(88, 0)).await.1, [1]);
    let relaxed = stage_on(stage.engine.store().clone(), "").await;
    assert_eq!(retain(&relaxed, day(120, 0)).await, (vec![], vec![], vec![1]), "it is withdrawn");
    assert_eq!(retain(&stage, day(120, 1)).await, (vec![], vec![1], vec![]));
    stage.verify().await;
}

/// By count and by size too, and off where nothing is set; one scope can have its own.
#[tokio::test]
async fn x1_count_size_and_scopes_of_their_own() {
    for (settings, announced) in [
        ("", &[][..]),
        ("[retention]\ncount = 2", &[1]),
        ("[retention]\nbytes = 45", &[1]),
        ("[retention]\nbytes = 10", &[2, 1]),
        ("[retention]\ncount = 1\n[scopes.'agent:main:cli:direct:me'.retention]\ncount = 0", &[]),
        ("[agents.main.retention]\nage = '1d'", &[2, 1]),
        ("[retention]\nage = '1d'\n[agents.main.retention]\nage = 'never'", &[]),
    ] {
        let stage = play(&format!("{QUIET}{settings}"), SCRIPT).await;
        assert_eq!(retain(&stage, day(40, 11)).await, (vec![], announced.to_vec(), vec![]), "{settings}");
    }
}

/// What forks share takes room once, and what goes for its age takes none.
#[tokio::test]
async fn x1_size_counts_once_and_only_what_stays() {
    let script = "10:00 user: thirty bytes are said here, yes\n10:01 user: /session fork\n10:02 user: five";
    let stage = play(&format!("{QUIET}[retention]\nbytes = 50"), script).await;
    assert_eq!(retain(&stage, day(1, 0)).await.1, Vec::<u32>::new());
    let script = "10:00 user: about thirty bytes of the first
         10:01 user: /new
         10:02 user: about thirty bytes of the second
         10:03 user: /new
         39d 10:00 user: /session resume 1
         39d 10:01 user: yes
         39d 10:02 user: /new
         39d 10:03 user: five";
    let settings = format!("{QUIET}[retention]\nbytes = 50\nage = '30d'");
    let stage = play(&settings, script).await;
    assert_eq!(retain(&stage, day(40, 0)).await.1, [2]);
}

/// P-8: a session that is kept stays in a list that is too long, and what was announced is no more.
#[tokio::test]
async fn p8_a_kept_session_stays() {
    let settings = "lifecycle.auto_route = 'never'\n[session]\nbacklog_limit = 3\nbacklog = 'delete'\n[retention]\nage = '1d'";
    let mut stage = stage_on(Arc::new(Memory::default()), settings).await;
    stage.play(SCRIPT).await;
    stage.play("40d 10:02 user: /session keep 1").await;
    assert_eq!(retain(&stage, day(40, 11)).await.1, [2]);
    stage.play("40d 12:00 user: /new\n40d 12:01 user: hello").await;
    assert_eq!(sessions(&stage).await, [4, 3, 1]);
    assert!(stage.state().await.announced_deletion(Number(2)).is_none());
    stage.verify().await;
}

/// The words are Chinese where the person's are.
#[tokio::test]
async fn x1_what_goes_is_told_in_chinese() {
    let settings = format!("language = 'zh'\n{AGE}");
    let mut stage = stage_on(Arc::new(Memory::default()), &settings).await;
    stage.play(SCRIPT).await;
    retain(&stage, day(40, 11)).await;
    stage.play("40d 12:00 user: How far is it by train?").await;
    let told = stage.last().notice.clone().unwrap();
    assert_eq!(
        told,
        "2 个旧会话将从 2026-04-17 起删除（超过 30 天没有使用）：#1「I'm allergic to nuts」、\
         #2「How do I whiten grout?」。输入 /session list 查看，/session keep N 可保留。"
    );
    stage.play("40d 12:01 user: /session list").await;
    assert!(stage.reply().contains("后删除"), "{}", stage.reply());
}
