//! Titles by a model: better where one is there, never on the road of a message, never over a person's.

use crate::config;
use crate::endpoint::{Endpoint, Gate, Reply};
use segue_core::entry::Seq;
use segue_core::session::Number;
use segue_core::title::TitledBy;
use segue_engine::titles::Titling;
use segue_engine::{Engine, Inbound, Outcome, Pick, Request};
use segue_store::Location;
use std::sync::Arc;

const WORDS: &str = "how long should sourdough bread rise before I bake…";

async fn engine(endpoint: &Endpoint) -> Engine {
    let settings = format!(
        "agents.defaults.control_model = 'small'\n[models.small]\nbase_url = '{}'\nmodel = 'm'\ntimeout = '30s'\n",
        endpoint.base_url()
    );
    Engine::open(Location::Memory.open().unwrap(), config(&settings)).await.unwrap()
}

fn scope() -> segue_core::scope::Key {
    "agent:main:cli:direct:me".parse().unwrap()
}

async fn say(engine: &Engine, minute: u8, text: &str) -> Outcome {
    let at = format!("2026-03-01T10:{minute:02}:00Z").parse().unwrap();
    engine.receive(Inbound::user(scope(), at, text)).await.unwrap()
}

async fn talk(engine: &Engine) -> Seq {
    let first = say(engine, 0, "how long should sourdough bread rise before I bake it?").await;
    say(engine, 1, "and does the dough need more flour if it sticks?").await;
    say(engine, 2, "/new").await;
    say(engine, 3, "what can I plant in March?").await;
    first.seq.unwrap()
}

async fn title(engine: &Engine, number: u32) -> (String, TitledBy) {
    let state = engine.state(&scope()).await.unwrap();
    let listed = engine.describe(&state, Number(number)).await.unwrap();
    (listed.title.unwrap(), listed.titled_by.unwrap())
}

async fn verify(engine: &Engine) {
    let report = segue_store::verify::verify(engine.store().as_ref(), &scope()).await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

fn named(text: &str) -> Reply {
    Reply::Says(serde_json::json!({ "title": text }).to_string())
}

/// a session that was left is named once, and no message waits for it.
#[tokio::test]
async fn x11_a_model_names_what_was_left() {
    let endpoint = Endpoint::new([named("Sourdough that rises")]).await;
    let engine = engine(&endpoint).await;
    talk(&engine).await;
    assert!(endpoint.requests().is_empty(), "nobody was asked on the road of a message");
    assert_eq!(title(&engine, 1).await, (WORDS.to_owned(), TitledBy::Words));
    assert_eq!(engine.name_sessions(&scope()).await.unwrap(), Titling { asked: 1, named: 1 });
    assert_eq!(title(&engine, 1).await, ("Sourdough that rises".to_owned(), TitledBy::Model));
    assert_eq!(title(&engine, 2).await.1, TitledBy::Words, "the active one is not named yet");
    assert_eq!(engine.name_sessions(&scope()).await.unwrap(), Titling::default(), "once");
    assert!(endpoint.requests()[0].body.contains("sourdough"));
    assert!(!endpoint.requests()[0].body.contains("March"), "another session is not shown");
    verify(&engine).await;
}

/// whatever goes wrong, the session keeps what its own words say, and is named when the model is back.
#[tokio::test]
async fn x11_a_failing_model_leaves_the_built_in_title() {
    for broken in [
        Reply::Says("Sourdough".into()),
        named("酸面包"),
        named("two\nlines"),
        Reply::Raw(500, String::new()),
        Reply::Half,
    ] {
        let shown = format!("{broken:?}");
        let endpoint = Endpoint::new([broken.clone(), broken, named("Sourdough")]).await;
        let engine = engine(&endpoint).await;
        talk(&engine).await;
        assert_eq!(engine.name_sessions(&scope()).await.unwrap(), Titling { asked: 1, named: 0 }, "{shown}");
        assert_eq!(title(&engine, 1).await, (WORDS.to_owned(), TitledBy::Words), "{shown}");
        assert_eq!(engine.name_sessions(&scope()).await.unwrap().named, 1, "{shown}");
        assert_eq!(title(&engine, 1).await.0, "Sourdough", "{shown}");
    }
}

/// a person's title is never touched, whenever it was given.
#[tokio::test]
async fn x11_a_persons_title_is_never_overwritten() {
    let endpoint = Endpoint::new([named("Sourdough that rises")]).await;
    let engine = engine(&endpoint).await;
    talk(&engine).await;
    say(&engine, 4, "/session rename 1 My bread").await;
    assert_eq!(engine.name_sessions(&scope()).await.unwrap(), Titling::default());
    assert!(endpoint.requests().is_empty());
    say(&engine, 5, "/new").await;
    assert_eq!(engine.name_sessions(&scope()).await.unwrap().named, 1);
    assert_eq!(title(&engine, 2).await.1, TitledBy::Model);
    say(&engine, 6, "/session rename 2 My garden").await;
    assert_eq!(title(&engine, 2).await, ("My garden".to_owned(), TitledBy::Person));
    assert_eq!(title(&engine, 1).await, ("My bread".to_owned(), TitledBy::Person));
    // One that comes too late is not written down.
    let late = segue_core::entry::Named {
        session: Number(1),
        title: segue_core::session::Title::new("Late").unwrap(),
        model: "small".into(),
        messages: 2,
    };
    engine.request(&scope(), engine.now(), &Request::Name(late, Vec::new())).await.unwrap();
    assert_eq!(title(&engine, 1).await.0, "My bread");
    let state = engine.state(&scope()).await.unwrap();
    assert_eq!(state.sessions.get(&Number(1)).unwrap().upkeep.name, None);
    verify(&engine).await;
}

/// Where the title of any session stands that a model made.
async fn name(engine: &Engine) -> Option<segue_core::title::Name> {
    let state = engine.state(&scope()).await.unwrap();
    state.sessions.values().find_map(|session| session.upkeep.name)
}

/// a session that is twice as long is named again.
#[tokio::test]
async fn x11_a_session_that_has_doubled_is_named_again() {
    let endpoint = Endpoint::new([named("Sourdough"), named("Garden"), named("Sourdough and rye")]).await;
    let engine = engine(&endpoint).await;
    talk(&engine).await;
    engine.name_sessions(&scope()).await.unwrap();
    say(&engine, 4, "/session resume 1").await;
    engine.name_sessions(&scope()).await.unwrap();
    assert_eq!(title(&engine, 2).await.0, "Garden");
    for minute in 5..7 {
        say(&engine, minute, "and how much rye flour goes into the bread?").await;
    }
    say(&engine, 7, "/new").await;
    engine.name_sessions(&scope()).await.unwrap();
    assert_eq!(title(&engine, 1).await.0, "Sourdough and rye");
    verify(&engine).await;
}

/// a model's title is made of what was said, and goes with it.
#[tokio::test]
async fn x11_a_models_title_goes_with_the_words_it_was_made_of() {
    let endpoint = Endpoint::new([named("Sourdough that rises")]).await;
    for undone in [false, true] {
        let engine = engine(&endpoint).await;
        let first = talk(&engine).await;
        engine.name_sessions(&scope()).await.unwrap();
        if undone {
            say(&engine, 4, "/session resume 1").await;
            let at = engine.now();
            let (one, two) = (Pick::Numbered(Number(1)), Pick::Numbered(Number(2)));
            engine.request(&scope(), at, &Request::Merge(one, two)).await.unwrap();
        }
        engine.request(&scope(), engine.now(), &Request::Erase(vec![first])).await.unwrap();
        let log = engine.store().tail(&scope(), Seq::ZERO, 1_000).await.unwrap();
        assert!(log.iter().all(|record| !format!("{:?}", record.bytes).contains("that rises")));
        assert_eq!(name(&engine).await, None);
        verify(&engine).await;
    }
    // What was split off since is of another session, and still in the title.
    let split = self::engine(&endpoint).await;
    let first = talk(&split).await;
    split.name_sessions(&scope()).await.unwrap();
    say(&split, 4, "/session resume 1").await;
    split.request(&scope(), split.now(), &Request::Split(first)).await.unwrap();
    split.request(&scope(), split.now(), &Request::Erase(vec![first])).await.unwrap();
    assert_eq!(name(&split).await, None);
    verify(&split).await;
    let engine = engine(&endpoint).await;
    talk(&engine).await;
    engine.name_sessions(&scope()).await.unwrap();
    engine.request(&scope(), engine.now(), &Request::Delete(Pick::Numbered(Number(1)))).await.unwrap();
    let log = engine.store().tail(&scope(), Seq::ZERO, 1_000).await.unwrap();
    assert!(log.iter().all(|record| !format!("{:?}", record.bytes).contains("that rises")));
    verify(&engine).await;
}

/// what is erased while the model thinks is not in a title afterwards.
#[tokio::test]
async fn x11_no_title_is_made_of_what_was_erased_meanwhile() {
    let gate = Arc::new(Gate::default());
    let held = serde_json::json!({ "title": "Sourdough that rises" }).to_string();
    let endpoint = Endpoint::new([Reply::Held(Arc::clone(&gate), held), named("Sticky dough")]).await;
    let engine = engine(&endpoint).await;
    let first = talk(&engine).await;
    let erase = async {
        gate.asked.notified().await;
        engine.request(&scope(), engine.now(), &Request::Erase(vec![first])).await.unwrap();
        gate.open.notify_one();
    };
    let here = scope();
    let (titling, ()) = tokio::join!(engine.name_sessions(&here), erase);
    assert_eq!(titling.unwrap(), Titling { asked: 1, named: 0 });
    let log = engine.store().tail(&scope(), Seq::ZERO, 1_000).await.unwrap();
    assert!(log.iter().all(|record| !format!("{:?}", record.bytes).contains("that rises")));
    assert_eq!(name(&engine).await, None);
    // It is named again, of what is left.
    assert_eq!(engine.name_sessions(&scope()).await.unwrap(), Titling { asked: 1, named: 1 });
    assert!(!endpoint.requests()[1].body.contains("rise before"), "what was erased is not shown");
    assert_eq!(title(&engine, 1).await, ("Sticky dough".to_owned(), TitledBy::Model));
    verify(&engine).await;
}
