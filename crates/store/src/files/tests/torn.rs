//! The last append is cut off at every single byte.

use super::crash::settle;
use super::{Desk, folder, say};
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
        let mut desk = Desk::new(dir.path());
        desk.say("one");
        let (acknowledged, before) = (desk.expected.clone(), read_all(&desk.scope_path("")));
        desk.run(&command);
        let (attempted, after) = (desk.expected.clone(), read_all(&desk.scope_path("")));
        let states = states(&before, &after);
        assert!(states.len() > 300);
        for (at, state) in states.iter().enumerate() {
            let dir = folder();
            let mut desk = Desk::closed(dir.path());
            desk.now = "2026-03-01T12:00:00Z".parse().unwrap();
            let scope = dir.path().join("sessions").join(folder_of(&desk.scope));
            fs::create_dir_all(&scope).unwrap();
            for (name, bytes) in state {
                fs::write(scope.join(name), bytes).unwrap();
            }
            desk.expected = acknowledged.clone();
            desk.reopen();
            settle(&mut desk, Some(attempted.clone()));
            if at + 1 == states.len() {
                assert_eq!(desk.expected, attempted, "the whole append counts");
            }
            desk.say("and on it goes");
            desk.check();
        }
    }
}
