//! M. Segmented lifecycle (000), and what users of today's systems ask of it (X).

use super::script::{config, play, stage_on};
use segue_core::session::{Number, Status};
use segue_engine::Delivery;
use segue_store::memory::Memory;
use segue_store::sqlite::Sqlite;
use std::sync::Arc;

/// M-A1.
#[tokio::test]
async fn session_new_hard_cut_creates_segment() {
    let stage = play(
        "",
        "10:00 user: hello        => continue #1
         10:01 assistant: hi      => continue #1
         10:02 user: /new         => new command #2
         10:03 user: fresh        => continue #2",
    )
    .await;
    let state = stage.state().await;
    assert_eq!(state.latest(), Some(Number(2)));
    assert_eq!(state.segments.len(), 1, "the segment of the first session is sealed");
    assert_eq!(stage.texts(1).await, ["hello", "hi"]);
    assert_eq!(stage.texts(2).await, ["fresh"]);
    assert_ne!(state.sessions.get(&Number(1)).unwrap().id, state.sessions.get(&Number(2)).unwrap().id);
}

/// M-A2: the chain is navigable both ways.
#[tokio::test]
async fn session_new_repeated_chain_integrity() {
    let stage = play(
        "",
        "10:00 user: hello   => continue #1
         10:01 user: /new    => new command #2
         10:02 user: /new    => new command #3",
    )
    .await;
    let state = stage.state().await;
    let parents: Vec<_> =
        (1..=3).map(|n| state.sessions.get(&Number(n)).unwrap().parent.map(|p| p.0)).collect();
    assert_eq!(parents, [None, Some(1), Some(2)]);
    let child = |n| state.sessions.iter().find(|(_, s)| s.parent == Some(Number(n))).map(|(c, _)| c.0);
    assert_eq!((child(1), child(2), child(3)), (Some(2), Some(3), None));
    assert_eq!(state.latest(), Some(Number(3)));
}

/// M-B1: in any state, on an empty session, with automatic routing off.
#[tokio::test]
async fn m_b1_new_rolls_unconditionally() {
    play(
        "",
        "10:00 user: /new    => new command #1
         10:00 user: /new    => new command #2
         10:00 user: /reset  => new command #3
         10:01 user: hello   => continue #3
         10:02 user: /undo   => merge command #2
         10:03 user: /new    => new command #4",
    )
    .await;
    play(
        "[lifecycle]\nauto_route = 'never'",
        "10:00 user: hello       => continue #1
         9d 10:00 user: still    => continue #1
         9d 10:01 user: /new     => new command #2",
    )
    .await;
}

/// What stands behind `/new` is the first message of the new session.
#[tokio::test]
async fn new_with_a_text_begins_with_it() {
    let stage = play(
        "",
        "10:00 user: hello                     => continue #1
         10:01 user @5: /new what is a monad?  => new command #2
         10:02 user @5: /new what is a monad?  => new command #2",
    )
    .await;
    assert_eq!(stage.texts(2).await, ["what is a monad?"]);
    assert_eq!(stage.reply(), "Started new session: agent:main:cli:direct:me#2");
}

/// M-B2: past 12 hours, or past the day.
#[tokio::test]
async fn session_rollover_temporal_expired() {
    let stage = play(
        "lifecycle.policy = 'segmented'",
        "08:00 user: hello             => continue #1
         20:00:01 user: evening        => new temporal #2
         20:05 assistant: good evening => continue #2
         23:59 user: late              => continue #2
         1d 00:01 user: past midnight  => new temporal #3",
    )
    .await;
    assert_eq!(stage.texts(2).await, ["evening", "good evening", "late"]);
    assert_eq!(stage.texts(3).await, ["past midnight"], "it is the first message of the new session");
}

/// M-B3.
#[tokio::test]
async fn session_rollover_temporal_within_window_noop() {
    play(
        "lifecycle.policy = 'segmented'",
        "08:00 user: hello        => continue #1
         20:00 user: twelve hours => continue #1
         23:59 user: same day     => continue #1",
    )
    .await;
}

/// M-B5: a slash command by itself never expires a session.
#[tokio::test]
async fn m_b5_commands_do_not_expire_sessions() {
    let stage = play(
        "",
        "08:00 user: hello             => continue #1
         3d 21:00 user: /status        => command command #1
         3d 21:00 user: /session list  => command command #1
         3d 21:00 user: /xyzzy         => command command #1
         3d 21:01 user: hello again    => new temporal #2",
    )
    .await;
    assert_eq!(stage.state().await.list().count(), 2);
}

/// M-D1: context comes from the latest session only.
#[tokio::test]
async fn latest_context_uses_latest_only() {
    let stage = play(
        "",
        "10:00 user: one
         10:01 user: /new
         10:02 user: two
         10:03 user: /new
         10:04 user: three
         10:05 assistant: four",
    )
    .await;
    let context = stage.engine.context(&stage.scope).await.unwrap();
    let texts: Vec<&str> = context.messages.iter().map(|told| told.text.as_str()).collect();
    assert_eq!(texts, ["three", "four"]);
    assert!(context.sources.iter().all(|source| source.session.number == Number(3)));
}

/// M-D3: what was sealed is never mutated, whatever happens later.
#[tokio::test]
async fn history_segment_immutable() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: one\n10:01 user: two\n10:02 user: /new").await;
    let before = stage.engine.store().tail(&stage.scope, segue_core::entry::Seq(0), 6).await.unwrap();
    let seal = stage.state().await.segments.clone();
    stage
        .play(
            "10:03 user: three
             10:04 user: /session resume 1
             10:05 user: four
             10:06 user: /session fork
             10:07 user: /undo
             10:08 user: /undo
             10:09 assistant >1: late",
        )
        .await;
    let after = stage.engine.store().tail(&stage.scope, segue_core::entry::Seq(0), 6).await.unwrap();
    assert_eq!(before, after);
    let state = stage.state().await;
    assert!(seal.iter().all(|(number, sealed)| state.segments.get(number) == Some(sealed)));
    stage.verify().await;
}

/// M-F1: legacy mode clears in place, with the same session id, and nothing but commands moves it.
#[tokio::test]
async fn legacy_mode_new_inplace_clear() {
    let stage = play(
        "[lifecycle]\nmode = 'legacy'",
        "10:00 user: one         => continue #1
         10:01 user: /new        => clear command #1
         10:02 user: two         => continue #1
         5d 10:03 user: three    => continue #1",
    )
    .await;
    assert_eq!(stage.texts(1).await, ["two", "three"]);
    let state = stage.state().await;
    assert_eq!((state.sessions.len(), state.segments.len()), (1, 0), "nothing was rotated");
    assert!(stage.outcomes.iter().all(|o| o.session_id == stage.outcomes[0].session_id));
}

/// M-F2: in segmented mode a mere clear is impossible.
#[tokio::test]
async fn segmented_mode_new_must_rotate() {
    let stage = play(
        "",
        "10:00 user: one  => continue #1
         10:01 user: /new => new command #2",
    )
    .await;
    let (before, after) = (&stage.outcomes[0], &stage.outcomes[1]);
    assert_ne!(before.session_id, after.session_id);
    assert_ne!(before.segment, after.segment);
    assert_eq!(stage.texts(1).await, ["one"], "the old session still has its messages");
}

/// a rotation is announced in one line that says what, why, and how to undo it.
#[tokio::test]
async fn x1_no_rotation_is_silent() {
    let stage = play("", "08:00 user: hello\n21:00 user: evening").await;
    let notice = stage.last().notice.as_deref().unwrap();
    assert_eq!(notice.lines().count(), 1);
    for part in ["#2", "13 h", "12 h", "/undo"] {
        assert!(notice.contains(part), "{notice}");
    }
    let stage = play("language = 'zh'", "08:00 user: hello\n21:00 user: evening").await;
    let notice = stage.last().notice.as_deref().unwrap();
    for part in ["新会话", "13 小时", "12 小时", "/undo"] {
        assert!(notice.contains(part), "{notice}");
    }
}

/// a rotated session is fresh, and so is a resumed one.
#[tokio::test]
async fn x2_a_rotated_session_does_not_rotate_again() {
    play(
        "",
        "08:00 user: hello                => continue #1
         2d 08:00 user: back              => new temporal #2
         2d 08:01 user: and again         => continue #2
         2d 08:02 user: /session resume 1 => resume command #1
         2d 08:03 user: on we go          => continue #1",
    )
    .await;
}

/// `/new` survives a restart, also when it was the last thing before it.
#[tokio::test]
async fn x3_new_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let mut stage = stage_on(Arc::new(Sqlite::open(&path).unwrap()), "").await;
    stage.play("10:00 user: one\n10:01 user: /new").await;
    drop(stage);
    let mut stage = stage_on(Arc::new(Sqlite::open(&path).unwrap()), "").await;
    stage.play("10:02 user: two => continue #2").await;
    assert_eq!(stage.texts(2).await, ["two"]);
    stage.verify().await;
}

/// X-4, M-E2: `/undo` takes back the last `/new`, rotation, resume, split or fork; afterwards the session
/// reads as if the boundary had never been.
#[tokio::test]
async fn x4_undo_takes_back_every_boundary() {
    let stage = play(
        "",
        "08:00 user: one               => continue #1
         08:01 user: /new              => new command #2
         08:02 user: two               => continue #2
         08:03 user: /undo             => merge command #1
         08:04 user: three             => continue #1
         1d 08:00 user: four           => new temporal #3
         1d 08:01 user: /undo          => merge command #1
         1d 08:02 user: /session fork  => fork command #4
         1d 08:03 user: five           => continue #4
         1d 08:04 user: /undo          => merge command #1
         1d 08:05 user: /undo          => refused command #1",
    )
    .await;
    assert_eq!(stage.texts(1).await, ["one", "two", "three", "four", "five"]);
    let state = stage.state().await;
    let into = |n| state.sessions.get(&Number(n)).unwrap().status;
    assert!([2, 3, 4].into_iter().all(|n| into(n) == Status::Merged { into: Number(1) }));
    assert_eq!(stage.reply(), "There is nothing to undo.");

    let stage = play(
        "",
        "08:00 user: one
         08:01 user: /new
         08:02 user: two
         08:03 user: /session resume 1  => resume command #1
         08:04 user: three              => continue #1
         08:05 user: /undo              => resume command #2
         08:06 user: four               => continue #2",
    )
    .await;
    assert_eq!(stage.texts(1).await, ["one"]);
    assert_eq!(stage.texts(2).await, ["two", "three", "four"]);

    let stage = play(
        "",
        "08:00 user: one
         08:01 user: two
         08:02 user: /session split 4 => split command #2
         08:03 user: three            => continue #2
         08:04 user: /undo            => merge command #1",
    )
    .await;
    assert_eq!(stage.texts(1).await, ["one", "two", "three"]);
}

/// a second delivery changes nothing and gets the same answer.
#[tokio::test]
async fn x7_a_second_delivery_changes_nothing() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("08:00 user @1: hello\n21:00 user @2: evening\n21:01 user @3: /new").await;
    let head = stage.state().await.head;
    let first = stage.outcomes.clone();
    stage.play("21:02 user @1: hello\n21:02 user @2: evening\n21:02 user @3: /new").await;
    assert_eq!(stage.state().await.head, head);
    for (first, again) in first.iter().zip(&stage.outcomes[3..]) {
        assert_eq!(again.delivery, Delivery::Again);
        assert_eq!(again.notice, first.notice);
        assert_eq!(again.reply, first.reply);
        assert_eq!((again.session, again.action, again.cause), (first.session, first.action, first.cause));
        assert_eq!((again.seq, again.segment, again.reasons()), (first.seq, first.segment, first.reasons()));
    }
    // An undo that cannot be done twice is not refused the second time either.
    stage.play("21:03 user @4: /undo => merge command #2\n21:04 user @4: /undo => merge command #2").await;
}

/// heartbeats, cron and system events do not keep a session fresh, and neither do answers.
#[tokio::test]
async fn x10_only_the_person_keeps_a_session_fresh() {
    play(
        "",
        "08:00 user: hello            => continue #1
         12:00 system: heartbeat      => continue #1
         16:00 assistant: still here  => continue #1
         19:00 tool: cron             => continue #1
         20:30 user: evening          => new temporal #2",
    )
    .await;
}

/// Time never runs backwards in a scope: an earlier stamp is kept and counts as the latest one.
#[tokio::test]
async fn pinned_time_never_runs_backwards() {
    let mut stage = stage_on(Arc::new(Memory::default()), "lifecycle.policy = 'segmented'").await;
    stage.play("10:00 user: one\n09:00 user: two => continue #1\n10:00 user: three => continue #1").await;
    let state = stage.state().await;
    let messages = stage.engine.messages(&state, Number(1), 10).await.unwrap();
    let at: Vec<String> = messages.iter().map(|told| told.at.to_string()).collect();
    assert_eq!(at, ["2026-03-01T10:00:00Z", "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"]);
    stage.play("21:59 user: four => continue #1\n1d 10:00:01 user: five => new temporal #2").await;
}

/// The day begins in the scope's time zone, and at the configured hour.
#[tokio::test]
async fn pinned_the_day_begins_where_the_scope_is() {
    let settings =
        "lifecycle.policy = 'segmented'\n[scopes.'agent:main:cli:direct:me']\ntimezone = 'Asia/Shanghai'";
    play(settings, "15:59 user: late => continue #1\n16:01 user: past midnight => new temporal #2").await;
    let settings = "[lifecycle]\npolicy = 'segmented'\n[lifecycle.segmented]\nday_boundary = '04:00'";
    play(settings, "23:59 user: late => continue #1\n1d 00:01 user: up => continue #1").await;
    assert!(config("").warnings.is_empty());
}

/// who asks in words gets a new session, whose first message that is; a mention is not an intent.
#[tokio::test]
async fn r3_words_start_over_and_mentions_do_not() {
    let stage = play(
        "",
        "10:00 user: new topic                                    => continue #1
         10:01 user: my parser fails on empty input               => continue #1
         10:02 user: add a \"new chat\" button to the page         => continue #1
         10:03 user: please don't start over                      => continue #1
         10:04 user: let's talk about something else              => new intent #2
         10:05 user: what shall I cook?                           => continue #2
         10:06 user: 换个话题                                      => new intent #3
         10:07 user: /undo                                        => merge command #2",
    )
    .await;
    assert_eq!(stage.texts(2).await, ["let's talk about something else", "what shall I cook?", "换个话题"]);
    let notice = stage.outcomes[4].notice.as_deref().unwrap();
    assert!(notice.contains("as you asked") && notice.contains("/undo"), "{notice}");
    // It overrides the clock, a full day and automatic routing that is off; in legacy mode it does what
    // `/new` does there.
    let settings = "[lifecycle]\nauto_route = 'never'";
    play(settings, "10:00 user: hello\n3d 10:00 user: start over => new intent #2").await;
    let stage = play("[lifecycle]\nmode = 'legacy'", "10:00 user: hello\n10:01 user: start over").await;
    assert_eq!(stage.texts(1).await, ["start over"]);
}

/// what was refused once is not done when it is delivered again, and a message stands where it was said.
#[tokio::test]
async fn x7_a_refusal_and_a_late_reply_are_answered_alike_again() {
    let stage = play(
        "",
        "10:00 user: a
         10:01 user @u1: /undo             => refused command #1
         10:02 user: /new                  => new command #2
         10:03 user: b                     => continue #2
         10:04 user @u1: /undo             => refused command #1
         10:05 assistant >1 @r1: late      => continue #1
         10:06 assistant >1 @r1: late      => continue #1
         10:07 user @u2: /session resume 9 => refused command #2
         10:08 user @u2: /session resume 9 => refused command #2",
    )
    .await;
    assert_eq!(stage.outcomes[4].reply.as_deref(), Some("There is nothing to undo."));
    assert_eq!(stage.outcomes[7].reply, stage.outcomes[8].reply);
    assert_eq!(stage.texts(1).await, ["a", "late"]);
    assert_eq!(stage.texts(2).await, ["b"]);
}

/// A blank id is no id: no two messages are the same one by it.
#[tokio::test]
async fn x7_a_blank_id_is_no_id() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    for text in ["x", "y"] {
        let mut inbound = stage.inbound(&format!("10:00 user: {text}"));
        inbound.message.message_id = Some(segue_core::message::MessageId(" ".into()));
        stage.outcomes.push(stage.engine.receive(inbound).await.unwrap());
    }
    assert_eq!(stage.texts(1).await, ["x", "y"]);
}

/// Who takes a boundary back wants to stay: the session is fresh then, as after a resume.
#[tokio::test]
async fn x2_an_undone_session_is_fresh() {
    play(
        "",
        "08:00 user: a      => continue #1
         08:01 user: /new   => new command #2
         20:05 user: /undo  => merge command #1
         20:06 user: y      => continue #1",
    )
    .await;
}

/// what a notice says is true: nobody is told of a last message where there was none.
#[tokio::test]
async fn x1_a_notice_speaks_of_a_message_only_where_there_was_one() {
    let stage = play("", "08:00 system: heartbeat\n22:00 user: hello => new temporal #2").await;
    let notice = stage.last().notice.as_deref().unwrap();
    assert!(notice.contains("nothing was said for 14 h"), "{notice}");
}
