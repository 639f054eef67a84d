//! Pinned sessions from the outside: what `sessions show`, `context`, `export` and `replay` make of them.

use crate::world::{DURABLE, ME, World, check};
use serde_json::Value;

const SETTINGS: &str = "
[agents.work]
description = 'Looks after the day job'
instructions = 'You are a careful colleague.'
[models.main]
base_url = 'http://localhost:1/v1'
model = 'qwen3'
temperature = 0.7
[models.fast]
base_url = 'http://localhost:1/v1'
model = 'tiny'
thinking = 'low'
";

/// A home with a skill, a broken one, a persona and two models.
fn home(store: &str) -> World {
    let world = World::new().variable("SEGUE_STORE_URL", store);
    world.file("segue.toml", SETTINGS);
    world.file("skills/tides/SKILL.md", "---\nname: tides\ndescription: Reads tide tables\n---\nOpen it.\n");
    world.file("skills/broken/SKILL.md", "nothing\n");
    world.file("SOUL.md", "Be kind.\n");
    say(&world, store, &["hello"]);
    world
}

/// Says lines at times of their own.
fn say(world: &World, store: &str, lines: &[&str]) -> Vec<Value> {
    let line = |(n, text): (usize, &&str)| {
        serde_json::json!({ "at": format!("2026-03-01T10:{n:02}:00Z"), "scope": ME, "text": text })
            .to_string()
    };
    let talk: Vec<String> = lines.iter().enumerate().map(line).collect();
    world.file("talk.jsonl", talk.join("\n"));
    let ran = world.run(&["replay", "talk.jsonl", "--store", store, "--json"]).expect_code(0);
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn shown(world: &World, key: &str) -> Value {
    let ran = world.run(&["sessions", "show", key, "--json"]).expect_code(0);
    serde_json::from_str(&ran.out).unwrap()
}

fn disturb(world: &World) {
    world.file("skills/tides/SKILL.md", "---\nname: tides\ndescription: Guesses\n---\nGuess.\n");
    world.file("SOUL.md", "Be rude.\n");
    world.file("segue.toml", SETTINGS.replace("[agents.work]", "[agents.play]"));
}

#[test]
fn l1_l11_show_tells_what_a_session_is_pinned_to_and_what_drifted() {
    for store in DURABLE {
        let world = home(store);
        world.run(&["sessions", "agent", ME, "work"]).expect_code(0);
        world.run(&["sessions", "model", ME, "fast"]).expect_code(0);
        let before = shown(&world, ME);
        assert_eq!(before["active_agent"], "work");
        assert_eq!(before["skill_snapshot"]["skills"][0]["source"]["path"], "tides/SKILL.md");
        assert_eq!(before["skill_snapshot"]["diagnostics"][0]["problem"]["kind"], "malformed");
        assert_eq!(before["persona"]["parts"][0]["text"], "Be kind.\n");
        assert_eq!(before["model_config"]["model"], "fast");
        assert_eq!(before["model_config"]["thinking_level"], "low");
        assert_eq!(before["drift"], serde_json::json!([]));
        disturb(&world);
        let mut after = shown(&world, ME);
        let drift: Vec<&str> =
            after["drift"].as_array().unwrap().iter().map(|drift| drift["field"].as_str().unwrap()).collect();
        assert_eq!(drift, ["active_agent", "skill_snapshot", "persona"]);
        after["drift"] = before["drift"].clone();
        assert_eq!(after, before, "{store}");
    }
}

#[test]
fn l4_every_verb_about_pins() {
    let world = home("sqlite:log.db");
    let seen = world.script(
        "sessions agent agent:main:cli:direct:me
         sessions agent agent:main:cli:direct:me --json
         sessions agent agent:main:cli:direct:me work
         sessions agent agent:main:cli:direct:me nobody
         sessions model agent:main:cli:direct:me
         sessions model agent:main:cli:direct:me fast --json
         sessions model agent:main:cli:direct:me --json
         sessions skills agent:main:cli:direct:me
         sessions skills agent:main:cli:direct:me TIDES
         sessions skills agent:main:cli:direct:me tides --json
         sessions skills agent:main:cli:direct:me tidse
         sessions skills agent:main:cli:direct:me#2",
    );
    disturb(&world);
    let later = world.script(
        "sessions show agent:main:cli:direct:me
         context agent:main:cli:direct:me
         sessions reload-skills agent:main:cli:direct:me
         sessions reload-skills agent:main:cli:direct:me
         sessions reload-persona agent:main:cli:direct:me
         context agent:main:cli:direct:me
         verify",
    );
    check!(format!("{seen}... files and configuration change ...\n{later}"));
}

#[test]
fn l6_a_replay_knows_the_commands() {
    let world = home("memory:");
    let told = say(
        &world,
        "memory:",
        &[
            "hello",
            "/skills",
            "/skill tides",
            "/agent use work",
            "/agent",
            "/model fast",
            "/model",
            "/reload_skills",
        ],
    );
    let replies: Vec<&str> = told.iter().filter_map(|line| line["reply"].as_str()).collect();
    check!(replies.join("\n---\n"));
}

#[test]
fn l9_an_export_takes_the_pins_along() {
    let world = home("sqlite:log.db");
    world.run(&["sessions", "agent", ME, "work"]).expect_code(0);
    let exported = world.run(&["export", ME]).expect_code(0).out;
    world.file("session.jsonl", &exported);
    disturb(&world);
    let other = "agent:main:cli:direct:you";
    world.run(&["import", "session.jsonl", "--scope", other]).expect_code(0);
    let (here, there) = (shown(&world, ME), shown(&world, other));
    for field in ["active_agent", "instructions", "skill_snapshot", "persona", "model_config"] {
        assert_eq!(here[field], there[field], "{field}");
    }
    let skill = |key: &str| world.run(&["sessions", "skills", key, "tides"]).expect_code(0).out;
    assert_eq!(skill(ME), skill(other));
    let known = world.run(&["import", "session.jsonl", "--scope", other]).expect_code(0).out;
    assert!(known.contains("nothing was changed"), "{known}");

    // L-1: a field that is not known is named, and a text that was changed is found.
    world.file("strange.jsonl", exported.replacen("\"persona\":{", "\"mood\":1,\"persona\":{", 1));
    let ran = world.run(&["import", "strange.jsonl", "--scope", "agent:main:cli:direct:x"]).expect_code(2);
    assert!(ran.err.contains("unknown field `mood`"), "{}", ran.err);
    world.file("changed.jsonl", exported.replacen("Be kind.", "Be rude.", 1));
    let ran = world.run(&["import", "changed.jsonl", "--scope", "agent:main:cli:direct:x"]).expect_code(2);
    assert!(ran.err.contains("its persona is not what its version says"), "{}", ran.err);
}
