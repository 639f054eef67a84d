//! Databases of older formats open, are sound, and are searched: `tests/fixtures/stores/sqlite-N.db` has format N.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_store::conformance::{World, text};
use segue_store::search::{Query, Reach, Sight, find};
use segue_store::{Location, Page, Position};
use std::path::Path;
use std::sync::Arc;

#[tokio::test]
async fn a_database_of_format_9_opens_and_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/sqlite-9.db");
    std::fs::copy(fixture, &path).unwrap();
    let store = Location::Sqlite(path).open().unwrap();
    assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
    let scopes = store.scopes(&Page::first(10)).await.unwrap().rows;
    assert_eq!(scopes.len(), 2);
    for (scope, words, expected) in [
        ("agent:main:telegram:direct:ann", "hotel in Lisbon", "Lisbon"),
        ("agent:main:wechat:direct:小林", "厨房", "厨房"),
    ] {
        let mut world = World::at(store.clone(), scope);
        world.verify().await;
        let sight = Arc::new(Sight::of(&*world.state().await, Reach::Everything));
        let query = Query { text: words.into(), sight, limit: 5 };
        let hits = find(store.as_ref(), &world.scope, &query).await.unwrap();
        assert!(hits.iter().any(|hit| text(&hit.record).contains(expected)), "{scope}: {hits:?}");
        // It goes on as any other.
        world.now = world.state().await.clock;
        world.say("and it goes on").await;
        world.verify().await;
    }
    // Each scope is there for those who watch: what it had, and what was said now.
    let commits = store.commits(Position::START, 10).await.unwrap();
    assert_eq!(commits.len(), 4);
    assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
}
