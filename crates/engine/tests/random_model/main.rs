//! Issue 16: random operations through two engines on one database, as two processes have it, beside the naive model:
//! archive, keep, delete, erase, import, undo, redo, and one person on two channels that number their messages alike.
//!
//! `SEGUE_CASES=20000 cargo test -p segue-engine --test random_model` runs more sequences than the check does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod faults;
mod operations;
mod world;

use operations::any_operations;
use proptest::test_runner::{Config, TestError, TestRunner};
use world::{Fault, World};

/// How many sequences the check runs; `SEGUE_CASES` says otherwise.
const CASES: u32 = 400;

/// Runs sequences, and returns the first that does what the model does not say.
fn run(cases: u32, fault: Option<Fault>) -> Result<(), String> {
    // A planted fault is to be found, and not to be made small.
    let max_shrink_iters = if fault.is_some() { 0 } else { 1_000 };
    let config = Config { cases, failure_persistence: None, max_shrink_iters, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = TestRunner::new(config).run(&any_operations(), |operations| {
        runtime.block_on(async {
            let mut world = World::new(fault).await;
            for operation in &operations {
                world.step(operation).await;
                world.check().await;
            }
            world.verify().await;
        });
        Ok(())
    });
    result.map_err(|error| match error {
        TestError::Fail(why, operations) => format!("{why}: {operations:?}"),
        TestError::Abort(why) => why.to_string(),
    })
}

#[test]
fn random_operations_of_two_processes_and_linked_channels_do_what_the_naive_model_says() {
    let asked = std::env::var("SEGUE_CASES").ok().and_then(|cases| cases.parse().ok());
    if let Err(found) = run(asked.unwrap_or(CASES), None) {
        panic!("{found}");
    }
}
