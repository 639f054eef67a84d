//! What is kept (C-7, C-8), after clean-ups, deletes and erasures.

use crate::world::on_each;
use segue_core::decide::TaskVerb;
use segue_core::entry::{Body, Seq};
use segue_core::policy::Backlog;
use segue_core::session::Number;
use segue_core::task::blob::StoredContent;
use segue_core::task::canonical::CommitKind;
use segue_core::task::observation::Observation;
use segue_engine::recall::Recall;
use segue_engine::{Pick, Request};

#[test]
fn c7_steps_are_content_addressed_and_have_parents() {
    on_each(async |mut world| {
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        session.observe_note("one").await.unwrap();
        let first = session.flush_step().await.unwrap().unwrap();
        assert_eq!(session.flush_step().await.unwrap(), None, "nothing is staged");
        session.observe_note("two").await.unwrap();
        drop(session);
        world.restart().await;
        let session = world.tasks().active_session().await.unwrap().unwrap();
        let second = session.flush_step().await.unwrap().unwrap();
        let log = world.engine.store().tail(&world.scope, Seq::ZERO, 1000).await.unwrap();
        let commits: Vec<_> = log
            .iter()
            .filter_map(|record| match record.body().unwrap() {
                Body::WorkCommit(commit) => Some(commit),
                _ => None,
            })
            .collect();
        assert_eq!(commits.iter().map(|commit| commit.id).collect::<Vec<_>>(), [first, second]);
        assert!(commits.iter().all(|commit| commit.is_intact() && commit.narrative.len() == 1));
        assert_eq!(commits[1].parents, [first]);
    });
}

/// Compaction includes what was not flushed, is made once, and is found after everything else was cleaned up.
#[test]
fn c8_what_is_kept_outlives_a_clean_up_and_a_restart() {
    on_each(async |mut world| {
        world.say("Add retry logic to the connect function").await;
        let session = world.tasks().start_session("Add retry logic to the connect function").await.unwrap();
        session.observe_decision("jitter it is").await.unwrap();
        session.flush_step().await.unwrap();
        session.ask("How many tries?").await.unwrap();
        session.set_state(segue_core::task::state::TaskState::Running).await.unwrap();
        session.observe_file_write("src/net.rs", b"fn connect() {}").await.unwrap();
        session.observe_command("cargo test", Some(0), b"ok").await.unwrap();
        session.ask("And the log level?").await.unwrap();
        let commit = world.tasks().compact_session("").await.unwrap();
        assert_eq!(world.tasks().compact_session("other words").await.unwrap(), commit, "it is made once");
        assert_eq!(commit.kind, CommitKind::Abandoned);
        for round in 0..6 {
            world
                .act(TaskVerb::Start {
                    description: Some(
                        segue_core::task::identity::Description::new(&format!("task {round}")).unwrap(),
                    ),
                    message: None,
                    cut: None,
                })
                .await;
            world.act(TaskVerb::Observe { observations: vec![Observation::Plan { text: "p".into() }] }).await;
        }
        let keep = Request::Prune(Backlog::new(1).unwrap());
        world.engine.request(&world.scope, world.engine.now(), &keep).await.unwrap();
        drop(session);
        world.restart().await;
        let state = world.engine.state(&world.scope).await.unwrap();
        assert!(state.live(Number(1)).is_none(), "the session is gone");
        let kept = world.engine.kept(&world.scope).await.unwrap();
        assert_eq!(kept[0].commit, commit);
        assert_eq!(kept[0].description.as_deref(), Some("Add retry logic to the connect function"));
        assert_eq!(commit.decisions.len(), 2);
        assert_eq!(commit.open_questions[0].text, "And the log level?");
        assert_eq!((commit.files.len(), commit.commands.len(), commit.work_commits.len()), (1, 1, 2));
        for query in ["which log level", "retry connect function"] {
            let recall = Recall::new(query, "the agent asks");
            let found = world.engine.recall(&world.scope, &recall).await.unwrap().fragments;
            let of_task = found.iter().find(|fragment| fragment.seq == kept[0].seq).unwrap();
            assert_eq!((of_task.session.number, of_task.rationale.as_str()), (Number(1), "the agent asks"));
        }
        let chain: Vec<_> = kept.iter().map(|kept| kept.commit.parent).collect();
        let ids: Vec<_> = kept.iter().map(|kept| Some(kept.commit.id)).collect();
        assert_eq!(chain[1..], ids[..ids.len() - 1], "each is chained to the one before");
        assert_eq!(chain[0], None);
        world.verify().await;
    });
}

#[test]
fn c8_a_delete_and_an_erasure_leave_no_copy() {
    on_each(async |world| {
        let said = world.say("Add retry logic for my secret server").await;
        world.tasks().start_session("Add retry logic for my secret server").await.unwrap();
        world.act(TaskVerb::Abort { reason: String::new() }).await;
        let erase = Request::Erase(vec![said.seq.unwrap()]);
        world.engine.request(&world.scope, world.engine.now(), &erase).await.unwrap();
        let has = async |words: &str| {
            let log = world.engine.store().tail(&world.scope, Seq::ZERO, 1000).await.unwrap();
            log.iter().any(|record| format!("{record:?}").contains(words))
        };
        assert!(!has("secret").await);
        assert!(world.engine.kept(&world.scope).await.unwrap().is_empty(), "what was done for it goes along");
        world.verify().await;
        let session = world.tasks().start_session("Another one").await.unwrap();
        session.observe_decision("the hidden plan").await.unwrap();
        session.abort("").await.unwrap();
        let number = session.number();
        world.engine.request(&world.scope, world.engine.now(), &Request::New(None)).await.unwrap();
        let delete = Request::Delete(Pick::Numbered(number));
        world.engine.request(&world.scope, world.engine.now(), &delete).await.unwrap();
        assert!(!has("hidden").await);
        world.verify().await;
    });
}

#[test]
fn c6_the_same_content_is_stored_once() {
    on_each(async |mut world| {
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        let content = "fn connect() {}\n".repeat(100);
        session.observe_file_read("src/net.rs", content.as_bytes()).await.unwrap();
        session.observe_file_write("src/copy.rs", content.as_bytes()).await.unwrap();
        drop(session);
        world.restart().await;
        let session = world.tasks().active_session().await.unwrap().unwrap();
        session.observe_file_read("src/net.rs", content.as_bytes()).await.unwrap();
        let log = world.engine.store().tail(&world.scope, Seq::ZERO, 1000).await.unwrap();
        let mut hash = None;
        let whole = log
            .iter()
            .filter(|record| match record.body().unwrap() {
                Body::Observation(observing) => match observing.observation {
                    Observation::FileRead { content, .. } | Observation::FileWrite { content, .. } => {
                        hash = Some(content.hash);
                        content.kept != StoredContent::Elsewhere
                    }
                    _ => false,
                },
                _ => false,
            })
            .count();
        assert_eq!(whole, 1);
        let found = world.engine.content(&world.scope, session.task(), hash.unwrap()).await.unwrap().unwrap();
        assert_eq!(found.kept, StoredContent::Whole(content));
    });
}

/// 10,000 observations: steps are flushed by themselves, and the compaction reads the log in parts.
#[test]
fn c8_ten_thousand_observations() {
    on_each(async |world| {
        let session = world.tasks().start_session("Count").await.unwrap();
        let note = |n: u32| Observation::Plan { text: format!("step {n}") };
        for part in 0..100 {
            let observations = (0..100).map(|n| note(part * 100 + n)).collect();
            world.engine.observe_task(&world.scope, world.engine.now(), None, observations).await.unwrap();
        }
        let commit = world.tasks().compact_session("counted").await.unwrap();
        assert_eq!(commit.totals.observations, 10_000);
        assert_eq!(commit.work_commits.len(), 9);
        assert_eq!(session.number(), Number(1));
        world.verify().await;
    });
}
