//! The last append is cut off at every single byte.

use super::crash::settle;
use super::{Fixture, folder, say};
use crate::files::name::folder as folder_of;
use segue_core::decide::Command;
use segue_core::message::Message;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn read_all(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    files.map(|f| (f.file_name().into_string().unwrap(), fs::read(f.path()).unwrap())).collect()
}

/// The states in which a crash can leave the files between two appends: each file in the order of
/// writing is as before, partly written, or as after.
fn states(
    before: &BTreeMap<String, Vec<u8>>,
    after: &BTreeMap<String, Vec<u8>>,
) -> Vec<BTreeMap<String, Vec<u8>>> {
    let mut names: Vec<&String> = after.keys().filter(|name| before.get(*name) != after.get(*name)).collect();
    // The journal sorts last, as it is written.
    names.sort_by_key(|name| (*name == "journal.jsonl", (*name).clone()));
    let mut now = before.clone();
    let mut states = Vec::new();
    for name in names {
        let old = before.get(name).map_or(0, Vec::len);
        for len in old..=after[name].len() {
            now.insert(name.clone(), after[name][..len].to_vec());
            states.push(now.clone());
        }
    }
    states
}

#[test]
fn p9_an_append_that_is_torn_anywhere_is_there_as_a_whole_or_not_at_all() {
    for command in [say("the last one"), Command::New { first: Some(Message::text("the last one")) }] {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        fixture.say("one");
        let (acknowledged, before) = (fixture.expected.clone(), read_all(&fixture.scope_path("")));
        fixture.run(&command);
        let (attempted, after) = (fixture.expected.clone(), read_all(&fixture.scope_path("")));
        let states = states(&before, &after);
        assert!(states.len() > 300);
        for (at, state) in states.iter().enumerate() {
            let dir = folder();
            let mut fixture = Fixture::closed(dir.path());
            fixture.now = "2026-03-01T12:00:00Z".parse().unwrap();
            let scope = dir.path().join("sessions").join(folder_of(&fixture.scope));
            fs::create_dir_all(&scope).unwrap();
            for (name, bytes) in state {
                fs::write(scope.join(name), bytes).unwrap();
            }
            fixture.expected = acknowledged.clone();
            fixture.reopen();
            settle(&mut fixture, Some(attempted.clone()));
            if at + 1 == states.len() {
                assert_eq!(fixture.expected, attempted, "the whole append counts");
            }
            fixture.say("and on it goes");
            fixture.check();
        }
    }
}
