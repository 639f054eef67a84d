//! The index is not written as a whole at each boundary, and heals.

use super::fault::{Extent, Faulty, Then};
use super::power::Recorder;
use super::{Fixture, ME, folder};
use crate::files::lock;
use std::fs;
use std::sync::Arc;

#[test]
fn p9_a_boundary_does_not_write_the_whole_index() {
    let dir = folder();
    let mut fixture = Fixture::closed(dir.path());
    let disk = Arc::new(Recorder::new(dir.path()));
    fixture.open(disk.clone()).unwrap();
    fixture.policy.backlog = segue_core::policy::Backlog::new(1_000).unwrap();
    fixture.say("one");
    let mut written = 0;
    for _ in 0..200 {
        let before = fs::metadata(fixture.path("index.json")).ok().map(|meta| meta.len());
        fixture.new_session();
        written +=
            usize::from(fs::metadata(fixture.path("index.json")).ok().map(|meta| meta.len()) != before);
    }
    assert!((1..=10).contains(&written), "{written}");
    let changes = fs::read_to_string(fixture.path("index.changes.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(changes.lines().last().unwrap()).unwrap();
    assert_eq!(
        (last["scope"].as_str(), last["active_session_key"].as_str()),
        (Some(ME), Some(&*format!("{ME}#201")))
    );
    fixture.close();
    assert!(!fixture.path("index.changes.jsonl").exists());
    fixture.reopen();
    assert_eq!(fixture.indexed().len(), 201);
    fixture.check();
}

/// The process dies before the changes are folded in, and the file of changes is whole, torn, nonsense or gone.
#[test]
fn p9_changes_of_the_index_that_were_not_folded_in_are_found() {
    let spoils: [fn(String) -> String; 4] =
        [|text| text, |text| text[..text.len() / 2].to_owned(), |_| "\0\0\n{".to_owned(), |_| String::new()];
    for spoil in spoils {
        let dir = folder();
        let mut fixture = Fixture::closed(dir.path());
        let disk = Arc::new(Recorder::new(dir.path()));
        fixture.open(disk.clone()).unwrap();
        for _ in 0..5 {
            fixture.new_session();
        }
        disk.die_after(0);
        fixture.close();
        let path = fixture.path("index.changes.jsonl");
        let changes = fs::read_to_string(&path).unwrap();
        fs::write(&path, spoil(changes)).unwrap();
        fixture.reopen();
        assert_eq!(fixture.indexed().len(), 5);
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), "");
        fixture.check();
    }
}

/// The corrupt index is set aside, and the disk fails right behind that: there is nothing left to be set aside again.
#[test]
fn p9_a_disk_that_fails_while_the_index_is_set_aside_is_in_the_way_once() {
    // Before the new name is there, when it is to be made durable, and behind that.
    for at in 0..6 {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        fixture.say("one");
        fixture.new_session();
        fixture.close();
        fs::write(fixture.path("index.json"), "{").unwrap();
        let disk = Arc::new(Faulty::new(at, Extent::Half, Then::GoOn));
        fixture.open(disk.clone()).unwrap();
        assert_eq!(disk.steps(), 0, "who only opens it changes nothing");
        assert!(lock(&fixture.inner().index).fold().is_err(), "step {at}");
        lock(&fixture.inner().index).fold().unwrap();
        assert_eq!(fs::read_to_string(fixture.path("index.json.corrupt-1")).unwrap(), "{");
        assert_eq!(fixture.indexed().len(), 2);
        fixture.check();
    }
}
