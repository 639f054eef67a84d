//! What people said is its owner's to read, and nobody else's on the machine.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_core::decide::Command;
use segue_core::session::Number;
use segue_store::conformance::World;
use segue_store::{Location, private};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Finds all that is below a folder.
fn below(path: &Path) -> Vec<(std::path::PathBuf, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        found.push((path.clone(), std::fs::metadata(&path).unwrap().permissions().mode() & 0o777));
        if path.is_dir() {
            found.extend(below(&path));
        }
    }
    found
}

#[tokio::test]
async fn every_file_and_folder_of_a_store_is_its_owners_alone() {
    for url in ["sqlite:DIR/deep/segue.db", "files:DIR/deep"] {
        let folder = tempfile::tempdir().unwrap();
        let location: Location = url.replace("DIR", &folder.path().display().to_string()).parse().unwrap();
        let mut world = World::new(location.open().unwrap());
        for _ in 0..3 {
            world.say_as("one", "77").await.ok();
            world.run(&Command::New { first: None }).await.unwrap();
        }
        world.run(&Command::Delete { session: Number(2) }).await.unwrap();
        world.store.sweep().await.unwrap();
        let found = below(folder.path());
        assert!(found.len() > 2, "{found:?}");
        for (path, mode) in found {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(format!("{mode:o}"), format!("{expected:o}"), "{}", path.display());
        }
        let place = folder.path().join("deep");
        assert_eq!(private::wider(&place, 9), []);
        let some = below(&place).into_iter().find(|(path, _)| path.is_file()).unwrap().0;
        std::fs::set_permissions(&some, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(private::wider(&place, 9), [(some, 0o644)]);
    }
}
