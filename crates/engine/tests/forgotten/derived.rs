//! Issue 16, row 6: what was made of words goes with them, wherever it stands.

use crate::found;
use jiff::tz::TimeZone;
use segue_core::message::{Message, Role};
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_core::task::node::{Edge, EdgeLabel, NodeId};
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::tasks::Tasks;
use segue_engine::{Engine, Inbound, Pick, Request};
use segue_store::{Location, Value, values};
use std::path::Path;
use std::sync::Arc;

const ME: &str = "agent:main:cli:direct:me";
const AT: &str = "2026-03-01T10:00:00Z";

async fn engine(location: &Location, config: &str) -> Arc<Engine> {
    let layer = Layer::toml(Origin::Workspace("t.toml".into()), config);
    let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
    Arc::new(Engine::open(location.open().unwrap(), config).await.unwrap())
}

fn places(folder: &Path) -> [Location; 2] {
    std::fs::create_dir_all(folder.join("a")).unwrap();
    [Location::Sqlite(folder.join("a/segue.db")), Location::Files(folder.join("b"))]
}

async fn say(engine: &Engine, text: &str) -> segue_engine::Outcome {
    engine.receive(Inbound::user(ME.parse().unwrap(), AT.parse().unwrap(), text)).await.unwrap()
}

async fn verify(engine: &Engine) {
    let scope: Key = ME.parse().unwrap();
    let report = segue_store::verify::verify(engine.store().as_ref(), &scope).await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

/// A session with a word in every place that can hold one.
async fn fill(engine: &Arc<Engine>) {
    let tasks = Tasks::new(Arc::clone(engine), ME.parse().unwrap());
    say(engine, "My name is SECRETANN and I live in SECRETGRAZ.").await;
    say(engine, "/session rename the SECRETTITLE").await;
    let task = tasks.start_session("the SECRETTASK").await.unwrap();
    task.observe_note("a SECRETNOTE").await.unwrap();
    task.observe_decision("a SECRETDECISION").await.unwrap();
    task.observe_diagnostic("a SECRETTROUBLE").await.unwrap();
    task.observe_plan("a SECRETPLAN").await.unwrap();
    task.observe_file_read("src/SECRETREAD.rs", b"a SECRETFILE").await.unwrap();
    task.observe_file_write("src/SECRETWRITE.rs", b"a SECRETFILE, written").await.unwrap();
    task.observe_command("cat SECRETCOMMAND", Some(1), b"a SECRETOUTPUT").await.unwrap();
    let (from, to) = ("file:SECRETNODE".parse::<NodeId>().unwrap(), NodeId::Session(Number(1)));
    task.observe_relations(vec![Edge::new(from, to, EdgeLabel::Mentions, "SECRETEDGE")]).await.unwrap();
    task.flush_step().await.unwrap();
    task.ask("which SECRETQUESTION?").await.unwrap();
    say(engine, "the SECRETANSWER").await;
    task.observe_note("one more SECRETNOTE").await.unwrap();
    task.finish("a SECRETSUMMARY").await.unwrap();
    tasks.compact_session("a SECRETSUMMARY, kept").await.unwrap();
    let key = values::words_key(&ME.parse().unwrap(), "1");
    engine.store().put_value(values::WORDS, Value::new(key, "a SECRETVALUE")).await.unwrap();
}

#[tokio::test]
async fn x17_a_session_is_erased_with_everything_that_was_done_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for location in places(folder.path()) {
        let engine = engine(&location, "memory.keep = 'all'\nlifecycle.auto_route = 'never'").await;
        fill(&engine).await;
        say(&engine, "/new").await;
        say(&engine, "what is kept").await;
        let scope: Key = ME.parse().unwrap();
        engine.archive(&scope).await.unwrap();
        assert!(engine.memories(&scope).await.unwrap().iter().any(|memory| memory.text.contains("SECRET")));
        assert!(!found(folder.path(), "SECRETOUTPUT").is_empty(), "it is there before");
        for session in [Number(1), Number(2)] {
            let state = engine.state(&scope).await.unwrap();
            if state.live(session).is_some() && state.latest() != Some(session) {
                let said = engine.said_in(&state, session).await.unwrap();
                let outcome =
                    engine.request(&scope, AT.parse().unwrap(), &Request::Erase(said)).await.unwrap();
                assert_eq!(outcome.also, None, "it is finished");
            }
        }
        assert_eq!(found(folder.path(), "SECRET"), Vec::<String>::new());
        assert!(!found(folder.path(), "what is kept").is_empty());
        verify(&engine).await;
        drop(engine);
        assert_eq!(found(folder.path(), "SECRET"), Vec::<String>::new());
    }
}

/// A title that came with an import goes with any message of its session, one that a host gave if it repeats what goes. What a
/// person typed is their word.
#[tokio::test]
async fn x17_titles_of_imports_and_hosts_go_with_what_they_tell() {
    let folder = tempfile::tempdir().unwrap();
    for location in places(folder.path()) {
        let engine = engine(&location, "lifecycle.auto_route = 'never'").await;
        let scope: Key = ME.parse().unwrap();
        let ask =
            async |request: Request| engine.request(&scope, AT.parse().unwrap(), &request).await.unwrap();
        let rename = async |number: u32, title: &str| {
            let title = segue_core::session::Title::new(title).unwrap();
            ask(Request::Rename(Pick::Numbered(Number(number)), title)).await
        };
        let mut said = Vec::new();
        for text in [
            "we are moving to Graz in May",
            "my IBAN is AT61 1904 3002 3457 3201",
            "what can I plant?",
            "hello",
        ] {
            ask(Request::OpenImported).await;
            said.push(ask(Request::Keep(Role::User, Message::text(text))).await.seq.unwrap());
        }
        rename(1, "A new TITLEHOME").await;
        rename(2, "Bank details").await;
        // Somebody gave it another title since, by a program.
        rename(2, "TITLEBANK AT61 1904 3002").await;
        rename(3, "Plants").await;
        rename(3, "My own TITLEGARDEN").await;
        say(&engine, "/session rename 4 TITLETYPED").await;
        for seq in &said {
            ask(Request::Erase(vec![*seq])).await;
        }
        for title in ["TITLEHOME", "Bank details", "TITLEBANK", "Plants"] {
            assert_eq!(found(folder.path(), title), Vec::<String>::new(), "{title}");
        }
        let state = engine.state(&scope).await.unwrap();
        let title = |number: u32| state.sessions.get(&Number(number)).unwrap().title.clone();
        assert_eq!((title(1), title(2)), (None, None));
        assert_eq!(title(3).unwrap().as_str(), "My own TITLEGARDEN");
        assert_eq!(title(4).unwrap().as_str(), "TITLETYPED");
        verify(&engine).await;
    }
}

/// The person's own scope goes as a whole: also work that is open, and not flushed.
#[tokio::test]
async fn x17_a_person_is_erased_with_open_tasks_and_what_is_kept_of_others() {
    let folder = tempfile::tempdir().unwrap();
    for location in places(folder.path()) {
        let engine = engine(&location, "memory.keep = 'all'\nlifecycle.auto_route = 'never'").await;
        fill(&engine).await;
        say(&engine, "/new").await;
        let tasks = Tasks::new(Arc::clone(&engine), ME.parse().unwrap());
        let task = tasks.start_session("another SECRETTASK").await.unwrap();
        task.observe_note("not flushed: SECRETSTAGED").await.unwrap();
        let found_of = engine.to_erase_of("cli:me").await.unwrap();
        for (scope, entries) in &found_of.entries {
            engine.erase_unpurged(scope, entries).await.unwrap();
        }
        assert!(engine.purge().await);
        assert_eq!(found(folder.path(), "SECRET"), Vec::<String>::new());
        verify(&engine).await;
        // The task is still there, without its words.
        assert_eq!(task.state().await.unwrap().name(), "running");
        task.observe_note("a new note").await.unwrap();
        task.flush_step().await.unwrap();
        verify(&engine).await;
    }
}

/// A summary that was carried over goes with its source, whatever was done to the sessions since.
#[tokio::test]
async fn x17_carried_summaries_go_after_undo_merge_fork_and_delete() {
    let folder = tempfile::tempdir().unwrap();
    for (nth, then) in ["undo", "merge", "fork", "delete", "fork and delete"].into_iter().enumerate() {
        let place = folder.path().join(nth.to_string());
        std::fs::create_dir_all(&place).unwrap();
        let location = Location::Sqlite(place.join("segue.db"));
        let engine = engine(&location, "context.window = 1000").await;
        let scope: Key = ME.parse().unwrap();
        let ask = async |request: Request| {
            let outcome = engine.request(&scope, AT.parse().unwrap(), &request).await.unwrap();
            assert_ne!(outcome.action.name(), "refused", "{then}: {:?}", outcome.reply);
        };
        let secret =
            say(&engine, "let's go with the SECRETWOOD cottage for the summer holiday in Wales").await;
        say(&engine, &"which walks are there around the cottage in Wales? ".repeat(80)).await;
        let carried = say(&engine, "and what about the walks around the cottage on rainy days?").await;
        assert_eq!(carried.action.name(), "new_carry_over");
        let one = Pick::Numbered(Number(1));
        match then {
            "undo" => ask(Request::Undo).await,
            "merge" => ask(Request::Merge(one, Pick::Numbered(Number(2)))).await,
            "fork" | "fork and delete" => ask(Request::Fork(Pick::Numbered(Number(2)), None)).await,
            _ => {}
        }
        assert!(!found(&place, "SECRETWOOD").is_empty());
        match then {
            "delete" => ask(Request::Delete(one)).await,
            "fork and delete" => {
                ask(Request::Delete(one)).await;
            }
            _ => ask(Request::Erase(vec![secret.seq.unwrap()])).await,
        }
        assert_eq!(found(&place, "SECRETWOOD"), Vec::<String>::new(), "{then}");
        verify(&engine).await;
    }
}

/// What is kept beside the log of what was said goes with sessions that are dropped, whoever drops them.
#[tokio::test]
async fn x17_kept_answers_go_with_sessions_that_are_pruned() {
    for how in ["backlog", "prune"] {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(folder.path().join("segue.db"));
        let backlog = if how == "backlog" { 1 } else { 9 };
        let config = format!(
            "lifecycle.auto_route = 'never'\nsession.backlog = 'delete'\nsession.backlog_limit = {backlog}"
        );
        let engine = engine(&location, &config).await;
        say(&engine, "the SECRETFIRST").await;
        let key = values::words_key(&ME.parse().unwrap(), "1");
        engine.store().put_value(values::WORDS, Value::new(key, "a SECRETVALUE")).await.unwrap();
        say(&engine, "/new").await;
        say(&engine, "what is kept").await;
        if how == "prune" {
            let keep = Request::Prune(segue_core::policy::Backlog::new(1).unwrap());
            engine.request(&ME.parse().unwrap(), AT.parse().unwrap(), &keep).await.unwrap();
        }
        // What a boundary deletes is purged later: at the next start, or by a worker.
        assert!(engine.purge().await);
        assert_eq!(found(folder.path(), "SECRET"), Vec::<String>::new(), "{how}");
        verify(&engine).await;
    }
}

/// A persona has a file about the person. It goes with them, and the session goes on without.
#[tokio::test]
async fn x17_the_persona_of_a_person_goes_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("USER.md"), "Her name is SECRETANN.").unwrap();
    std::fs::write(home.path().join("SOUL.md"), "Be kind.").unwrap();
    for location in places(folder.path()) {
        // A new session would read the folder anew, which is the person's own.
        let layer = Layer::toml(Origin::Workspace("t.toml".into()), "lifecycle.auto_route = 'never'");
        let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
        let host = segue_engine::pins::Folders {
            persona: home.path().to_owned(),
            roots: segue_engine::skills::Roots::default(),
            around: Arc::new(segue_engine::skills::Surroundings::default),
        };
        let engine = Engine::open(location.open().unwrap(), config).await.unwrap().with_host(Arc::new(host));
        say(&engine, "hello there").await;
        std::fs::write(home.path().join("USER.md"), "Her name is SECRETANN, and she has a dog.").unwrap();
        say(&engine, "/reload_persona").await;
        assert!(!found(folder.path(), "SECRETANN").is_empty(), "it is there before");
        let found_of = engine.to_erase_of("cli:me").await.unwrap();
        for (scope, entries) in &found_of.entries {
            engine.erase_unpurged(scope, entries).await.unwrap();
        }
        assert!(engine.purge().await);
        assert_eq!(found(folder.path(), "SECRETANN"), Vec::<String>::new());
        verify(&engine).await;
        say(&engine, "still here").await;
        let scope: Key = ME.parse().unwrap();
        let context = engine.context(&scope).await.unwrap();
        assert!(context.front.iter().all(|front| !front.text.contains("SECRETANN")));
        verify(&engine).await;
    }
}
