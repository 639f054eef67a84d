//! nothing of what was erased is in any file, whatever a crash has left.

use super::fault::{Extent, Faulty, Then};
use super::{Fixture, folder, layout, message_seq, say, say_as};
use crate::files::{quarantined, sweep};
use crate::types::QuarantineCause;
use segue_core::decide::Command;
use segue_core::session::{Number, Title};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const SECRET: &str = "the SECRETPIN is 4711";

fn holders(dir: &Path) -> Vec<String> {
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("SECRETPIN");
    let files = layout::all_files(dir).into_iter().filter(|(_, bytes)| holds(bytes));
    files.map(|(path, _)| path.display().to_string()).collect()
}

/// A process is killed at any step of an append, the message is sent again, and then it is erased, or its session is
/// deleted.
#[test]
fn x17_what_a_crash_left_of_a_message_goes_when_it_is_erased() {
    for at in 0..12 {
        for (extent, deletes) in [(Extent::Half, false), (Extent::Whole, false), (Extent::Half, true)] {
            let dir = folder();
            let mut fixture = Fixture::new(dir.path());
            fixture.say("one");
            fixture.new_session();
            fixture.say("two");
            fixture.close();
            fixture.open(Arc::new(Faulty::new(at, extent, Then::Stop))).unwrap();
            let crashed = fixture.try_run(&say_as(SECRET, "77")).err().map(|(_, attempted)| attempted);
            fixture.reopen();
            super::crash::settle(&mut fixture, crashed);
            if !fixture.expected.log.values().any(|r| r.kind.role().is_some() && super::text(r) == SECRET) {
                fixture.run(&say_as(SECRET, "77"));
            }
            assert!(!holders(dir.path()).is_empty());
            if deletes {
                fixture.new_session();
                fixture.say("three");
                fixture.run(&Command::Delete { session: Number(2) });
            } else {
                let entries = vec![message_seq(&fixture, SECRET)];
                fixture.run(&Command::Erase { entries, along: Vec::new() });
            }
            sweep::purge(fixture.inner()).unwrap();
            assert_eq!(holders(dir.path()), Vec::<String>::new(), "{at} {extent:?}");
            fixture.close();
            assert_eq!(holders(dir.path()), Vec::<String>::new(), "{at} {extent:?}");
        }
    }
}

/// What was never acknowledged is listed before anybody has cut it off, and goes without a change to what was.
#[test]
fn x17_an_append_that_was_cut_off_is_listed_and_discarded() {
    let mut seen = 0;
    for at in 0..6 {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        fixture.say("one");
        fixture.new_session();
        let path = fixture.scope_path("000002.jsonl");
        fixture.close();
        let whole = fs::read(&path).unwrap_or_default();
        fixture.open(Arc::new(Faulty::new(at, Extent::Half, Then::Stop))).unwrap();
        // In two lines, so that the half that is written has all of the first.
        let title = Title::new("SECRETPIN").unwrap();
        if fixture.try_run(&Command::Rename { session: Number(2), title }).is_ok() {
            break;
        }
        fixture.reopen();
        let held = holders(dir.path());
        let listed = quarantined::list(fixture.inner(), Some(&fixture.scope)).unwrap().found;
        assert!(held.is_empty() || !listed.is_empty(), "{at}: {held:?}");
        for copy in &listed {
            seen += 1;
            assert_eq!(copy.cause, QuarantineCause::Unacknowledged);
            assert_eq!(holders(dir.path()), held, "looking changes nothing");
            quarantined::discard(fixture.inner(), copy).unwrap();
        }
        assert_eq!(holders(dir.path()), Vec::<String>::new(), "{at}");
        assert_eq!(fs::read(&path).unwrap_or_default(), whole);
        fixture.check();
    }
    assert!(seen > 0);
}

/// A damaged file that was moved away since it was listed is the one that is deleted.
#[test]
fn x17_a_damaged_file_that_was_moved_since_is_discarded_all_the_same() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.say(SECRET);
    fixture.say("two");
    fixture.close();
    let path = fixture.scope_path("000001.jsonl");
    let mut damaged = fs::read(&path).unwrap();
    damaged[3] ^= 0x40;
    fs::write(&path, &damaged).unwrap();
    fixture.reopen();
    let listed = quarantined::list(fixture.inner(), Some(&fixture.scope)).unwrap().found;
    assert_eq!(listed.len(), 1, "{listed:?}");
    fixture.expected.state = Some(fixture.state());
    fixture.run(&say("it goes on"));
    assert!(fixture.scope_path("000001.jsonl.damaged-1").exists());
    quarantined::discard(fixture.inner(), &listed[0]).unwrap();
    assert_eq!(holders(dir.path()), Vec::<String>::new());
    assert_eq!(fixture.texts(1), ["it goes on"]);
}
