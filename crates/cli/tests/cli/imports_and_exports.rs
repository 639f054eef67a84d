//! What was imported goes out again, and comes in elsewhere.

use crate::imports::{FORMS, code_of, sessions, with_samples};
use crate::world::World;
use serde_json::{Value, json};

/// What came from elsewhere goes out and comes in again: in our own form with everything, in OpenAI's with what was said.
#[test]
fn x12_exports_come_back() {
    for form in FORMS {
        let world = with_samples(form, "sqlite:log.db");
        world.run(&["import", form]).expect_code(code_of(form));
        for key in sessions(&world) {
            let own = world.run(&["export", &key]).expect_code(0).out;
            let chat = world.run(&["export", &key, "--format", "openai"]).expect_code(0).out;
            let page = world.run(&["export", &key, "--format", "markdown"]).expect_code(0).out;
            assert!(page.starts_with("# "), "{page}");
            let there = World::new().variable("SEGUE_STORE_URL", "files:log");
            there.file("own.segue", &own);
            there.file("chat.json", &chat);
            let back = there.run(&["import", "own.segue", "--json"]).expect_code(0).json();
            let again = there.run(&["export", back["session"].as_str().unwrap()]).expect_code(0).out;
            let said = |own: &str| -> Vec<Value> {
                let lines = own.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
                lines
                    .map(|mut line| {
                        line.as_object_mut().unwrap().remove("seq");
                        line
                    })
                    .collect()
            };
            assert_eq!(said(&again), said(&own), "{key}");
            there.run(&["import", "chat.json", "--scope", "s"]).expect_code(0);
            assert_eq!(there.run(&["export", "s", "--format", "openai"]).expect_code(0).out, chat, "{key}");
        }
    }
}

/// A conversation goes from one tool to another and back: what was said, called and answered is the same.
#[test]
fn x18_a_conversation_goes_to_another_tool_and_back() {
    let said = |world: &World, key: &str| -> Vec<Value> {
        let own = world.run(&["export", key]).expect_code(0).out;
        let lines = own.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
        let part = |line: Value| {
            let calls = line["tool_calls"].as_array().cloned().unwrap_or_default();
            let calls = calls.into_iter().map(|call| {
                let arguments = call["arguments"].as_str().unwrap_or_default();
                // What is no JSON object goes through Claude Code as the field `arguments`, and that is said.
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
                let alone = arguments.get("arguments").cloned();
                json!([call["id"], call["name"], alone.unwrap_or(arguments)])
            });
            json!([
                line["role"],
                line["text"],
                line["tool_call_id"],
                calls.collect::<Vec<Value>>(),
                line["at"]
            ])
        };
        lines.map(part).collect()
    };
    for form in ["claude-code", "codex"] {
        let world = with_samples(form, "sqlite:log.db");
        world.run(&["import", form]).expect_code(code_of(form));
        for key in sessions(&world) {
            let mut here = (said(&world, &key), key.clone());
            let mut from = world.run(&["export", &key, "--format", "codex"]).expect_code(0).out;
            for (n, other) in ["claude-code", "codex", "claude-code"].into_iter().enumerate() {
                let there = World::new().variable("SEGUE_STORE_URL", "files:log");
                let path = format!("step-{n}.jsonl");
                there.file(&path, &from);
                let back = there.run(&["import", &path, "--scope", "s", "--json"]).expect_code(0).json();
                assert_eq!(back["records"]["bad"], json!(0), "{back}");
                let session = back["session"].as_str().unwrap().to_owned();
                let now = said(&there, &session);
                assert_eq!(now, here.0, "{key} as {other}");
                from = there.run(&["export", &session, "--format", other]).expect_code(0).out;
                here = (now, session);
            }
        }
    }
    // What has no place in the other form is said, not dropped in silence.
    let world = with_samples("claude-code", "sqlite:log.db");
    world.run(&["import", "claude-code"]).expect_code(0);
    let lost: Vec<String> = sessions(&world)
        .iter()
        .map(|key| world.run(&["export", key, "--format", "codex"]).expect_code(0).err)
        .filter(|err| err.contains("signed for another provider"))
        .collect();
    assert!(!lost.is_empty());
}
