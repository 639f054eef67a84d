//! L-8, X-9: hundreds of scopes with several sessions each, all busy at once on one engine. Everything that is said in
//! a scope carries its mark; nothing that comes out of a scope ever carries another one's.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};
use segue_core::message::{Message, Role};
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::context::{Budget, Part, Unassembled};
use segue_engine::persona::{self, Name, Persona};
use segue_engine::pins::Host;
use segue_engine::recall::Recall;
use segue_engine::shapes::Shape;
use segue_engine::skills::Loaded;
use segue_engine::{Engine, Inbound, Target};
use segue_signals::context::EstimatedTokens;
use segue_store::Location;
use segue_store::search::Reach;
use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const SCOPES: usize = 250;

/// Each case is a script of its own for every scope, and they are different ones in every run.
const CASES: u32 = 1;

/// A mark: a word that nothing else holds.
fn mark(scope: usize) -> String {
    format!("zq{scope:04}zq")
}

fn scope(n: usize) -> Key {
    // Two people of one agent and channel, over and over: keys that begin alike and end differently.
    format!("agent:a{}:cli:direct:user{n}", n / 2 * 2).parse().unwrap()
}

/// Every mark in a text, of whatever kind.
fn marks<'a>(text: &'a str, around: &str) -> BTreeSet<&'a str> {
    let places = text.match_indices(around).map(|(at, _)| at + around.len());
    let found = places.filter_map(|at| Some((text.get(at..at + 4)?, text.get(at + 4..)?)));
    found.filter(|(_, rest)| rest.starts_with(around)).map(|(number, _)| number).collect()
}

/// A host whose persona is another one each time: no two sessions have the same.
#[derive(Default)]
struct Moods(AtomicU32);

impl Host for Moods {
    fn persona(&self) -> Result<Persona, persona::Error> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let part = persona::Part { name: Name::Soul, text: format!("Be vw{number:04}vw.") };
        Ok(Persona::new(vec![part], Vec::new()))
    }

    fn skills(&self) -> Loaded {
        Loaded::default()
    }
}

/// What happens in a scope.
#[derive(Debug, Clone, Copy)]
enum Step {
    Ask,
    Decide,
    Answer,
    /// Some exchanges, so that a small window does not hold them all.
    Chat,
    /// So much that the window is full: the next message begins a session with a summary.
    Fill,
    Pause,
    New,
    Resume,
    Undo,
    Rename,
    Status,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Ask),
        2 => Just(Step::Decide),
        2 => Just(Step::Answer),
        3 => Just(Step::Chat),
        2 => Just(Step::Fill),
        1 => Just(Step::Pause),
        2 => Just(Step::New),
        1 => Just(Step::Resume),
        1 => Just(Step::Undo),
        1 => Just(Step::Rename),
        1 => Just(Step::Status),
    ]
}

/// How much was looked at: a test that looks at nothing shows nothing.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    sessions: usize,
    carried: usize,
    summaries: usize,
    fragments: usize,
    titles: usize,
    memories: usize,
}

impl AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.carried += other.carried;
        self.summaries += other.summaries;
        self.fragments += other.fragments;
        self.titles += other.titles;
        self.memories += other.memories;
    }
}

/// One scope and what it may hold.
struct Room {
    engine: Arc<Engine>,
    n: usize,
    scope: Key,
    now: segue_core::Timestamp,
}

impl Room {
    fn new(engine: &Arc<Engine>, n: usize) -> Self {
        let now = "2026-03-02T08:00:00Z".parse().unwrap();
        Self { engine: Arc::clone(engine), n, scope: scope(n), now }
    }

    fn own(&self, what: &str, text: &str) {
        let number = format!("{:04}", self.n);
        let others: Vec<_> = marks(text, "zq").into_iter().filter(|other| *other != number).collect();
        assert!(others.is_empty(), "{what} of {} holds marks of {others:?}: {text}", self.scope);
    }

    async fn say(&mut self, role: Role, text: String) {
        self.now += SignedDuration::from_secs(30);
        let (to, message) = (Target::Scope(self.scope.clone()), Message::text(text));
        let inbound = Inbound { at: self.now, to, role, message, session: None };
        let outcome = self.engine.receive(inbound).await.unwrap();
        assert_eq!(outcome.scope, self.scope);
        self.own("an outcome", &format!("{outcome:?}"));
    }

    async fn play(&mut self, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            let mark = mark(self.n);
            let ask = |what: &str| format!("{what} the {mark} cottage at the lake, walk {at}");
            match step {
                Step::Ask => self.say(Role::User, ask("which path leads to")).await,
                Step::Decide => self.say(Role::User, ask("let's go with")).await,
                Step::Answer => self.say(Role::Assistant, ask("The best way is past")).await,
                Step::Chat => {
                    for _ in 0..3 {
                        self.say(Role::User, ask("let's go with")).await;
                        self.say(Role::Assistant, ask("The best way is past")).await;
                    }
                }
                Step::Fill => self.say(Role::Assistant, ask("There is a way around ").repeat(70)).await,
                Step::Pause => self.now += SignedDuration::from_hours(2),
                Step::New => self.say(Role::User, format!("/new {}", ask("tell me about"))).await,
                Step::Resume => self.say(Role::User, "/resume 2".to_owned()).await,
                Step::Undo => self.say(Role::User, "/undo".to_owned()).await,
                Step::Rename => self.say(Role::User, format!("/session rename title {mark}")).await,
                Step::Status => self.say(Role::User, "/status".to_owned()).await,
            }
            // While all others write.
            if at % 4 == 3 {
                self.contexts().await;
            }
        }
    }

    /// What a model would be given, in a small and in a large window and in every shape.
    async fn contexts(&self) -> Seen {
        let mut seen = Seen::default();
        for window in [400, 600, 20_000] {
            let budget = Budget::of_window(window, &EstimatedTokens);
            let context = match self.engine.assemble(&self.scope, &budget).await {
                Ok(context) => context,
                Err(Unassembled::Short(_)) => continue,
                // Nothing was said there yet.
                Err(Unassembled::Engine(segue_engine::Error::NoScope { .. })) => return seen,
                Err(error) => panic!("{error}"),
            };
            self.own("a context", &format!("{context:?}"));
            for shape in Shape::ALL {
                self.own("a projection", &context.project(shape).to_string());
            }
            let has = |part: Part| usize::from(context.front.iter().any(|front| front.part == part));
            seen.carried += has(Part::CarryOver);
            seen.summaries += has(Part::Summary);
        }
        seen
    }

    /// Everything that can be got out of the scope. Returns the personas' marks too.
    async fn look(&self) -> (Seen, BTreeSet<String>) {
        let mut seen = self.contexts().await;
        let mut personas = BTreeSet::new();
        let Ok(state) = self.engine.state(&self.scope).await else { return (seen, personas) };
        for listed in self.engine.list(&state).await.unwrap() {
            let title = listed.title.unwrap_or_default();
            self.own("a title", &title);
            seen.titles += usize::from(title.contains(&mark(self.n)));
        }
        let numbers: Vec<Number> = state.list().map(|(number, _)| number).collect();
        for number in numbers {
            seen.sessions += 1;
            let told = self.engine.messages(&state, number, usize::MAX).await.unwrap();
            self.own("a transcript", &format!("{told:?}"));
            let pinned = self.engine.pinned(&state, number).await.unwrap();
            let text = format!("{pinned:?}");
            let agent = format!("{:04}", self.n / 2 * 2);
            assert_eq!(marks(&text, "xk"), BTreeSet::from([agent.as_str()]), "{}", self.scope);
            personas.extend(marks(&text, "vw").into_iter().map(str::to_owned));
        }
        // What was left is looked through in all scopes at once.
        self.engine.archive(&self.scope).await.unwrap();
        for memory in self.engine.memories(&self.scope).await.unwrap() {
            assert_eq!(memory.session.scope, self.scope);
            self.own("a memory", &memory.text);
            seen.memories += usize::from(memory.text.contains(&mark(self.n)));
        }
        let neighbour = mark((self.n + 1) % SCOPES);
        for query in ["the cottage at the lake", &mark(self.n), &neighbour] {
            for reach in [Reach::Archived, Reach::Everything] {
                let recall = Recall { reach, count_max: 20, ..Recall::new(query, "a test") };
                let recalled = self.engine.recall(&self.scope, &recall).await.unwrap();
                for fragment in &recalled.fragments {
                    assert_eq!(fragment.session.scope, self.scope);
                    self.own("a recalled fragment", &fragment.text);
                }
                seen.fragments += recalled.fragments.len();
            }
        }
        (seen, personas)
    }
}

async fn engine(location: &Location) -> Arc<Engine> {
    let agents: String =
        (0..SCOPES).step_by(2).map(|n| format!("[agents.a{n}]\ninstructions = 'xk{n:04}xk'\n")).collect();
    let text = format!("timezone = 'UTC'\ncontext.window = 1000\n{agents}");
    let config = Config::load(vec![Layer::toml(Origin::Workspace("t.toml".into()), text)], &TimeZone::UTC);
    let engine = Engine::open(location.open().unwrap(), config.unwrap()).await.unwrap();
    Arc::new(engine.with_host(Arc::new(Moods::default())))
}

/// Looks at all scopes at once.
async fn look_at_all(engine: &Arc<Engine>) -> Seen {
    let looks: Vec<_> = (0..SCOPES)
        .map(|n| {
            let room = Room::new(engine, n);
            tokio::spawn(async move { room.look().await })
        })
        .collect();
    let (mut all, mut personas) = (Seen::default(), BTreeSet::new());
    for look in looks {
        let (seen, own) = look.await.unwrap();
        all += seen;
        for persona in own {
            assert!(personas.insert(persona.clone()), "two scopes have the persona {persona}");
        }
    }
    all
}

async fn case(scripts: Vec<Vec<Step>>) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(folder.path().join("segue.db"));
    let first = engine(&location).await;
    let plays: Vec<_> = scripts
        .into_iter()
        .enumerate()
        .map(|(n, steps)| {
            let mut room = Room::new(&first, n);
            tokio::spawn(async move { room.play(&steps).await })
        })
        .collect();
    for play in plays {
        play.await.unwrap();
    }
    let seen = look_at_all(&first).await;
    // What one engine keeps in memory must not be what keeps them apart.
    drop(first);
    look_at_all(&engine(&location).await).await;
    seen
}

#[test]
fn the_test_finds_marks() {
    let text = format!("a {} and \"{}\", zq12zq", mark(7), mark(11));
    assert_eq!(marks(&text, "zq"), BTreeSet::from(["0007", "0011"]));
}

#[test]
fn l8_no_scope_ever_holds_another_ones_mark() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let scripts = prop::collection::vec(prop::collection::vec(step(), 5..11), SCOPES);
    let config = Cases { cases: CASES, failure_persistence: None, max_shrink_iters: 0, ..Cases::default() };
    TestRunner::new(config)
        .run(&scripts, |scripts| {
            let seen = runtime.block_on(case(scripts));
            println!("{SCOPES} scopes: {seen:?}");
            prop_assert!(seen.sessions > SCOPES, "{seen:?}");
            prop_assert!(seen.carried > SCOPES / 5 && seen.summaries > SCOPES / 25, "{seen:?}");
            prop_assert!(
                seen.fragments > SCOPES && seen.titles > SCOPES && seen.memories > SCOPES / 5,
                "{seen:?}"
            );
            Ok(())
        })
        .unwrap();
}
