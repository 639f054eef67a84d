//! `verify` says of a sound store that it is sound, also while it is written to.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_core::decide::Command;
use segue_core::session::Number;
use segue_store::conformance::World;
use segue_store::verify::verify;
use segue_store::{Location, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes all kinds of things, until it is done.
async fn write(mut world: World) {
    for n in 0..150 {
        _ = world.say_as(&"text ".repeat(n % 40), &format!("id {n}")).await;
        if n % 10 == 9 {
            _ = world.run(&Command::New { first: None }).await;
        }
        if n % 25 == 24 {
            let oldest = world.state().await.sessions.keys().next().copied();
            _ = world.run(&Command::Delete { session: oldest.unwrap_or(Number::FIRST) }).await;
            world.store.sweep().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sound_store_that_is_written_to_is_sound() {
    for url in ["sqlite:DIR/segue.db", "files:DIR", "memory:"] {
        let folder = tempfile::tempdir().unwrap();
        let location: Location = url.replace("DIR", &folder.path().display().to_string()).parse().unwrap();
        let store: Arc<dyn Store> = location.open().unwrap();
        let world = World::new(Arc::clone(&store));
        let scope = world.scope.clone();
        let is_done = Arc::new(AtomicBool::new(false));
        let writer = tokio::spawn({
            let is_done = Arc::clone(&is_done);
            async move {
                write(world).await;
                is_done.store(true, Ordering::SeqCst);
            }
        });
        let mut checks = 0;
        while !is_done.load(Ordering::SeqCst) {
            let report = match verify(store.as_ref(), &scope).await {
                // A store without snapshots may say that it cannot tell.
                Err(segue_store::Error::Unavailable { .. }) if url == "memory:" => continue,
                report => report.unwrap(),
            };
            assert_eq!(report.problems, Vec::<String>::new(), "{url}");
            assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new(), "{url}");
            checks += 1;
        }
        writer.await.unwrap();
        assert_eq!(verify(store.as_ref(), &scope).await.unwrap().problems, Vec::<String>::new());
        assert!(checks > 0 || url == "memory:", "{url}: it was checked while it was written to");
    }
}
