//! What an import takes of long messages and large files (X-12; issue 16, row 19).

use crate::imports::{sessions, with_samples};
use crate::world::World;
use serde_json::{Value, json};

/// A result of many megabytes is cut, so that its call does not stand alone; so many sessions are kept as there are.
#[test]
fn x12_long_results_are_cut_and_no_session_is_pruned() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    for n in 0..30 {
        let line = |uuid: &str, role: &str, content: Value| {
            json!({
                "parentUuid": null, "sessionId": format!("s{n}"), "cwd": "/w", "type": role,
                "uuid": format!("{uuid}{n}"), "timestamp": format!("2026-03-01T10:{n:02}:00Z"),
                "message": { "role": role, "content": content },
            })
            .to_string()
        };
        let long = if n == 7 { "雪".repeat(1 << 20) } else { "ok".to_owned() };
        let lines = [
            line("a", "user", json!("go")),
            line("b", "assistant", json!([{ "type": "tool_use", "id": "c", "name": "f", "input": {} }])),
            line("c", "user", json!([{ "type": "tool_result", "tool_use_id": "c", "content": long }])),
        ];
        world.file(&format!("projects/-w/s{n}.jsonl"), lines.join("\n"));
    }
    let ran = world.run(&["import", "projects"]).expect_code(0);
    assert!(
        ran.out.ends_with(
            "30 transcripts: took 90 messages over, 0 had been there.\n90 records: 90 in 30 sessions.\n"
        ),
        "{}",
        ran.out
    );
    assert_eq!(sessions(&world).len(), 30);
    let eighth = world.run(&["export", "agent:main:claude-code:direct:-w#8"]).expect_code(0).out;
    assert!(eighth.contains("[segue: cut off here; the whole is in the file that was imported]"));
    world.run(&["verify"]).expect_code(0);
}

/// Issue 16, row 19: what would have to be in memory as a whole is bounded, and refused with the setting's name.
#[test]
fn what_does_not_fit_into_memory_is_refused() {
    let world = World::new()
        .variable("SEGUE_STORE_URL", "sqlite:log.db")
        .variable("SEGUE_LIMITS_IMPORT_BYTES_MAX", "2000");
    let message = |n: usize| format!(r#"{{"role":"user","content":"message {n}, which is not very long"}}"#);
    let list = (0..100).map(message).collect::<Vec<_>>();
    world.file("whole.json", format!("{{\n\"messages\": [\n{}\n]}}", list.join(",\n")));
    world.file("lines.jsonl", list.join("\n"));
    for args in [&["import", "whole.json", "--format", "openai"][..], &["import", "whole.json"]] {
        let refused = world.run(args).expect_code(2);
        assert!(refused.err.contains("limits.import_bytes_max"), "{}", refused.err);
    }
    let input = list.join("\n");
    let refused = world.run_with(&["import", "-", "--format", "openai"], input.as_bytes()).expect_code(2);
    assert!(refused.err.contains("limits.import_bytes_max"), "{}", refused.err);
    // Lines are read in parts, however many there are.
    let taken = world
        .run(&["import", "lines.jsonl", "--format", "openai", "--scope", "s", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(taken["taken"], 100);
}

/// An index that is too large for memory, and one that never ends, stop nothing.
#[cfg(unix)]
#[test]
fn what_stands_beside_transcripts_is_bounded() {
    let world = with_samples("openclaw", "sqlite:log.db").variable("SEGUE_LIMITS_IMPORT_BYTES_MAX", "30000");
    let folder = "openclaw/agents/main/sessions";
    world.file(&format!("{folder}/sessions.json"), format!("{{\"x\":\"{}\"}}", "y".repeat(40_000)));
    let ran = world.run(&["import", "openclaw"]).expect_code(0);
    assert_eq!(ran.err.matches("sessions.json is not looked at").count(), 1, "{}", ran.err);
    std::fs::remove_file(world.path(&format!("{folder}/sessions.json"))).unwrap();
    std::os::unix::fs::symlink("/dev/zero", world.path(&format!("{folder}/sessions.json"))).unwrap();
    let ran = world.run(&["import", "openclaw"]).expect_code(0);
    assert!(ran.err.contains("it is no ordinary file"), "{}", ran.err);
}
