//! Folders of earlier formats are opened, verified, read and written to.

use super::{Fixture, folder};
use crate::verify::verify;
use segue_core::scope::Key;
use std::fs;
use std::path::Path;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = fs::copy(entry.path(), target).unwrap(),
        }
    }
}

/// The folder has an erased message, a renamed session, a deleted one and a resumed one.
#[tokio::test]
async fn a_folder_of_format_1_goes_on_as_it_is() {
    let dir = folder();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/files-1"), dir.path());
    let mut fixture = Fixture::new(dir.path());
    let sound = async |fixture: &Fixture| {
        let store = fixture.files.as_ref().unwrap();
        for key in fixture.scopes() {
            let key: Key = key.parse().unwrap();
            assert_eq!(verify(store, &key).await.unwrap().problems, Vec::<String>::new());
        }
        assert_eq!(super::super::audit::store(fixture.inner()).unwrap(), Vec::<String>::new());
    };
    assert_eq!(fixture.scopes().len(), 2);
    sound(&fixture).await;
    fixture.scope = "agent:main:telegram:direct:111".parse().unwrap();
    assert_eq!(fixture.listed(), [2, 1]);
    assert_eq!(fixture.texts(2), ["Which train goes to Kyoto?"]);
    let journal =
        || fs::read_to_string(dir.path().join("sessions/agent_main_telegram_direct_111/journal.jsonl"));
    assert!(journal().unwrap().starts_with("{\"segue\":1,"), "who only looks changes nothing");
    let again = super::say_as("once more", "6");
    fixture.expected.state = Some(fixture.state());
    fixture.now = "2026-03-02T10:00:00Z".parse().unwrap();
    assert!(
        matches!(fixture.try_run(&again), Err((crate::Error::Duplicate { .. }, _))),
        "of a deleted session"
    );
    fixture.say("It goes on.");
    fixture.new_session();
    fixture.say("And on.");
    assert!(journal().unwrap().starts_with("{\"segue\":4,"), "an older Segue must not take it for damage");
    for _ in 0..2 {
        assert_eq!(fixture.load().unwrap(), fixture.expected.state);
        assert_eq!(fixture.texts(fixture.state().latest().unwrap().0), ["And on."]);
        sound(&fixture).await;
        fixture.reopen();
    }
}
