//! N-2: a store that loses acknowledgements, and is away when it is asked.

use super::script::stage_on;
use segue_engine::Error;
use segue_store::conformance::{Call, Hook, Hooked};
use segue_store::memory::Memory;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Loses the acknowledgement of the next append, and is away from then on until it is mended.
#[derive(Default)]
struct Losing {
    is_due: AtomicBool,
    is_away: AtomicBool,
}

impl Hook for Losing {
    fn before(&self, call: Call) -> Result<(), segue_store::Error> {
        match self.is_away.load(SeqCst) && matches!(call, Call::Append | Call::Appended) {
            true => Err(segue_store::Error::unavailable("the store", "it is away")),
            false => Ok(()),
        }
    }

    fn after(&self, call: Call, _: usize) -> Result<(), segue_store::Error> {
        if call == Call::Append && self.is_due.swap(false, SeqCst) {
            self.is_away.store(true, SeqCst);
            return Err(segue_store::Error::Unknown {
                what: "an append".into(),
                why: "the line was cut".into(),
            });
        }
        Ok(())
    }
}

/// What was committed and not acknowledged is never told as refused; sent again it is there once, and the engine goes on where the
/// log is.
#[tokio::test]
async fn n2_an_unknown_outcome_is_told_as_unknown_and_settled_by_the_next_delivery() {
    let store = Arc::new(Hooked::new(Arc::new(Memory::default()), Losing::default()));
    let mut stage = stage_on(store.clone(), "").await;
    stage.play("10:00 user: before").await;
    for (minute, said) in [("10:01", "hello"), ("10:02", "/new")] {
        store.hook.is_due.store(true, SeqCst);
        let line = format!("{minute} user @{minute}: {said}");
        let told = stage.engine.receive(stage.inbound(&line)).await;
        match said.starts_with('/') {
            // A command that fails is a sentence (P-10), and that one claims nothing.
            true => assert!(told.unwrap().say().unwrap().contains("it is not known whether that was done")),
            false => {
                assert!(matches!(told, Err(Error::Store(segue_store::Error::Unknown { .. }))), "{told:?}");
            }
        }
        store.hook.is_away.store(false, SeqCst);
        stage.say(&line).await;
    }
    stage.play("10:03 user: after => continue #2").await;
    assert_eq!(stage.texts(1).await, ["before", "hello"]);
    assert_eq!(stage.texts(2).await, ["after"]);
    stage.verify().await;
}
