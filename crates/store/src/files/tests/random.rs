//! Random commands, with a crash at a random step; and many scopes at once.

use super::crash::settle;
use super::fault::{Extent, Faulty, Then};
use super::{Fixture, SCRIPT, folder, say, say_as};
use crate::files::sweep::sweep;
use crate::verify::verify;
use proptest::prelude::*;
use segue_core::decide::Command;
use segue_core::entry::Seq;
use segue_core::message::{Message, Role};
use segue_core::policy::Backlog;
use segue_core::session::{Number, Title};
use std::fs;
use std::sync::Arc;

fn any_command() -> impl Strategy<Value = Command> {
    let session = || (1u32..6).prop_map(Number);
    prop_oneof![
        4 => any::<u8>().prop_map(|n| say(&format!("message {n}"))),
        2 => any::<u8>().prop_map(|n| say_as("with an id", &n.to_string())),
        3 => Just(Command::New { first: None }),
        2 => session().prop_map(|session| Command::Resume { session }),
        2 => Just(Command::Undo),
        2 => session().prop_map(|session| Command::Fork { session, at: None }),
        1 => (session(), session()).prop_map(|(from, into)| Command::Merge { from, into }),
        2 => session().prop_map(|session| Command::Delete { session }),
        2 => session().prop_map(|session| Command::Rename { session, title: Title::new("t").unwrap() }),
        1 => (1u32..4).prop_map(|n| Command::Prune { keep: Backlog::new(n).unwrap() }),
        1 => (2u64..20).prop_map(|n| Command::Erase { entries: vec![Seq(n)], along: Vec::new() }),
        2 => session().prop_map(|session| {
            Command::Reply { role: Role::Assistant, message: Message::text("late"), session }
        }),
    ]
}

/// Tells whether a command asks for something that the engine never asks for: only messages are erased.
fn is_odd(fixture: &Fixture, command: &Command) -> bool {
    let is_message = |seq| fixture.expected.log.get(seq).is_some_and(|record| record.kind.role().is_some());
    matches!(command, Command::Erase { entries, .. } if !entries.iter().all(is_message))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn p9_random_commands_and_a_crash(
        commands in prop::collection::vec(any_command(), 1..30),
        at in 0usize..200,
        whole: bool,
        stops: bool,
    ) {
        let dir = folder();
        let mut fixture = Fixture::closed(dir.path());
        let extent = if whole { Extent::Whole } else { Extent::Half };
        let disk = Arc::new(Faulty::new(at, extent, if stops { Then::Stop } else { Then::GoOn }));
        let mut attempted = None;
        if fixture.open(disk.clone()).is_ok() {
            for (n, command) in commands.iter().enumerate() {
                if disk.is_dead() || is_odd(&fixture, command) {
                    continue;
                }
                let Ok(append) = fixture.decide(command) else { continue };
                match fixture.try_append(append) {
                    Err((crate::Error::Unavailable { .. }, after)) if stops => attempted = Some(after),
                    Err((crate::Error::Unavailable { .. } | crate::Error::Duplicate { .. }, _)) | Ok(()) => {}
                    Err((error, _)) => prop_assert!(false, "{error}"),
                }
                if n % 5 == 4 {
                    let _ = sweep(fixture.inner());
                }
            }
        }
        fixture.reopen();
        settle(&mut fixture, attempted);
        fixture.say("and on it goes");
        fixture.check();
    }
}

#[test]
fn more_scopes_than_fit_in_memory_are_all_there() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    let key = |n: usize| format!("agent:main:cli:direct:{n}").parse().unwrap();
    for n in 0..300 {
        fixture.scope = key(n);
        fixture.expected = Default::default();
        fixture.say(&format!("hello {n}"));
    }
    assert!(fixture.inner().scopes.keys().len() < 300);
    for n in 0..300 {
        fixture.scope = key(n);
        assert_eq!(fixture.texts(1), [format!("hello {n}")]);
    }
    assert_eq!(fixture.scopes().len(), 300);
    fixture.reopen();
    assert!(fixture.inner().scopes.keys().len() < 150, "opening does not read all scopes");
    assert_eq!(fixture.scopes().len(), 300);
}

#[test]
fn scopes_are_written_side_by_side() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    let mut fixtures: Vec<Fixture> = (0..6)
        .map(|n| {
            let mut other = Fixture::closed(dir.path());
            other.scope = format!("agent:main:cli:direct:{n}").parse().unwrap();
            let inner = Arc::clone(&fixture.files.as_ref().unwrap().inner);
            other.files = Some(crate::files::Files { inner });
            other
        })
        .collect();
    std::thread::scope(|threads| {
        for other in &mut fixtures {
            threads.spawn(|| {
                for step in SCRIPT {
                    let command = step(other);
                    other.run(&command);
                    sweep(other.inner()).unwrap();
                }
            });
        }
    });
    let expected: Vec<_> = fixtures.into_iter().map(|other| (other.scope, other.expected)).collect();
    for (scope, expected) in expected {
        (fixture.scope, fixture.expected) = (scope, expected);
        fixture.check();
    }
    assert!(!fixture.path("garbage.jsonl").exists());
}

#[tokio::test]
async fn verify_reports_missing_and_damaged_files_and_goes_on() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.new_session();
    fixture.say("two");
    let problems = async |fixture: &Fixture| {
        let store = fixture.files.as_ref().unwrap();
        verify(store, &fixture.scope).await.unwrap().problems
    };
    assert_eq!(problems(&fixture).await, Vec::<String>::new());
    fixture.close();
    let path = fixture.scope_path("000001.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fixture.reopen();
    assert!(problems(&fixture).await.join("\n").contains("000001.jsonl is missing"));
    for changed in [whole.replace("one", "won"), whole.replace("\"nth\":1", "\"nth\":0")] {
        fixture.close();
        fs::write(&path, changed).unwrap();
        fixture.reopen();
        assert_ne!(problems(&fixture).await, Vec::<String>::new());
    }
}
