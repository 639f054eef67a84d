//! The example agent, from its crash to its end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../examples/coding_agent.rs"]
mod agent;

use std::process::Command;

/// The agent's side: does nothing in an ordinary test run.
#[test]
fn works_where_it_is_told_to() {
    if std::env::var_os(agent::WORKSPACE).is_some() {
        agent::main();
    }
}

/// C-2, C-4, C-5 and C-12 in one: it crashes while it waits, finds its question again, is interrupted, and finishes.
#[test]
fn c12_the_example_agent_crashes_and_goes_on() {
    let workspace = tempfile::tempdir().unwrap();
    let run = || {
        let mut agent = Command::new(std::env::current_exe().unwrap());
        agent.args(["works_where_it_is_told_to", "--exact", "--nocapture"]);
        agent.env(agent::WORKSPACE, workspace.path()).output().unwrap()
    };
    assert!(!run().status.success(), "it should have crashed");
    let second = run();
    let told = String::from_utf8(second.stdout).unwrap();
    assert!(second.status.success(), "{told}{}", String::from_utf8_lossy(&second.stderr));
    for line in [
        "agent: Continuing from where we left off. I had asked:\n\nFixed delay, or exponential backoff?",
        "person, meanwhile: make it 5 retries instead of 3",
        "(the task is complete)",
        "kept: Retries with exponential backoff, 5 at most; tests pass (2 decisions, 1 files)",
    ] {
        assert!(told.contains(line), "{line}\n---\n{told}");
    }
    let file = std::fs::read_to_string(workspace.path().join("src/net.rs")).unwrap();
    assert!(file.contains("0..5"));
}
