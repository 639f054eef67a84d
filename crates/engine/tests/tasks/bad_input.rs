//! Bad input: each is refused with what to do, and nothing is written.

use crate::world::on_each;
use segue_core::decide::TaskVerb;
use segue_core::entry::{Body, Seq};
use segue_core::refusal::Refusal;
use segue_core::task::blob::StoredContent;
use segue_core::task::node::{Edge, EdgeLabel, NodeId};
use segue_core::task::observation::Observation;
use segue_core::task::refusal::TaskRefusal;
use segue_engine::Error;

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> TaskRefusal {
    match result.unwrap_err() {
        Error::Refused(Refusal::Task(why)) => why,
        other => panic!("{other}"),
    }
}

#[test]
fn c6_observations_without_a_task_are_refused() {
    on_each(async |world| {
        world.say("hello").await;
        let verb = TaskVerb::Observe { observations: vec![Observation::Plan { text: "p".into() }] };
        let done = world.engine.do_task(&world.scope, world.engine.now(), None, verb).await;
        assert!(matches!(refused(done.map(drop)), TaskRefusal::NoTask(_)));
        let session = world.tasks().start_session("x").await.unwrap();
        session.abort("").await.unwrap();
        assert!(matches!(refused(session.observe_note("late").await), TaskRefusal::Over(_)));
    });
}

#[test]
fn c6_relations_to_what_is_not_there_are_refused() {
    on_each(async |world| {
        let said = world.say("hello").await.seq.unwrap();
        let session = world.tasks().start_session("x").await.unwrap();
        let note = session.observe_note("a note").await.unwrap();
        let edge = |from, to| vec![Edge::new(from, to, EdgeLabel::Relates, "")];
        for node in [
            NodeId::Note(Seq(999)),
            NodeId::Note(said),
            NodeId::Message(note),
            NodeId::Command(note),
            NodeId::Session(segue_core::session::Number(9)),
            NodeId::Task(segue_core::task::identity::TaskId(said)),
        ] {
            let done = session.observe_relations(edge(NodeId::Note(note), node.clone())).await;
            assert_eq!(refused(done), TaskRefusal::NoNode(node));
        }
        session.observe_relations(edge(NodeId::Note(note), NodeId::Message(said))).await.unwrap();
        session.observe_relations(edge(NodeId::Note(note), NodeId::Task(session.task()))).await.unwrap();
    });
}

#[test]
fn c6_paths_out_of_the_workspace_are_refused() {
    on_each(async |world| {
        let session = world.tasks().start_session("x").await.unwrap();
        for path in ["../etc/passwd", "/etc/passwd", "a\u{202e}b", "a\0b", ""] {
            let why = refused(session.observe_file_read(path, b"").await);
            assert!(matches!(why, TaskRefusal::BadPath(_)), "{path:?}");
        }
        session.observe_file_read("a.bin", b"\xff\xfe\0").await.unwrap();
        world.verify().await;
    });
}

#[test]
fn c6_fifty_megabytes_of_output_are_bounded() {
    on_each(async |world| {
        let session = world.tasks().start_session("x").await.unwrap();
        let output = vec![b'x'; 50 << 20];
        let seq = session.observe_command("yes", None, &output).await.unwrap();
        let record = world.engine.store().get(&world.scope, seq).await.unwrap().unwrap();
        let Body::Observation(observing) = record.body().unwrap() else { panic!("no observation") };
        let Observation::Command { output: kept, .. } = observing.observation else { panic!("no command") };
        assert_eq!(kept.bytes, 50 << 20);
        assert_eq!(kept.hash, segue_core::digest::Digest::of_body(&output));
        assert!(matches!(kept.kept, StoredContent::Ends { .. }));
        assert!(format!("{record:?}").len() < 200 << 10);
    });
}

#[test]
fn c1_descriptions_of_one_character_and_of_one_megabyte() {
    on_each(async |world| {
        let tasks = world.tasks();
        assert!(tasks.start_session(" \n").await.is_err());
        assert!(tasks.start_session(&"x".repeat((1 << 20) + 1)).await.is_err());
        tasks.start_session("x").await.unwrap();
        let long = "y".repeat(1 << 20);
        let session = tasks.start_session(&long).await.unwrap();
        assert_eq!(session.task_description().await.unwrap(), long);
        session.observe_note("n").await.unwrap();
        let state = world.engine.state(&world.scope).await.unwrap();
        let size = serde_json::to_string(state.extras.as_ref()).unwrap().len();
        assert!(size < 2000, "what is kept in mind holds no words: {size}");
        world.verify().await;
    });
}
