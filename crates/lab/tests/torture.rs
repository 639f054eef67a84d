//! A short torture: nodes are killed and paused, cut off from the database, the database crashes, and its disk fails.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use serde_json::Value;
use std::process::Command;

#[test]
fn n3_a_short_torture_finds_no_violation() {
    // The run starts a server of its own; where there is none, it is left out.
    if segue_testing::postgres::database().is_none() {
        return;
    }
    let faults = "kill,pause,partition,terminate,primary,clock,disk";
    let ran = Command::new(env!("CARGO_BIN_EXE_segue-lab"))
        .args(["torture", "--json", "--minutes", "0.5", "--clients", "6", "--faults", faults])
        .args(["--primary-every", "8", "--every", "1.5"])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["violations"], 0, "{told}");
    assert!(told["told"]["acknowledged"].as_u64().unwrap() > 0, "{told}");
    for fault in faults.split(',') {
        assert!(
            told["faults"][fault].as_u64().is_some_and(|count| count > 0),
            "{fault} never happened: {told}"
        );
    }
    for asked in ["messages", "commands", "replies", "tasks"] {
        assert!(told["asked"][asked].as_u64().is_some_and(|count| count > 0), "no {asked}: {told}");
    }
}
