//! `segue doctor`, and a scope that cannot be read any more (L-10), through the real binary.

use crate::world::{ME, World, check};
use std::fs;

/// What is fine is said to be fine, and what is not is said and makes the exit code 1.
#[test]
fn doctor_says_what_is_to_be_done() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let nothing = world.script("doctor");
    world.file("talk.jsonl", crate::world::TALK.trim_start());
    world.run(&["replay", "talk.jsonl", "--store", "sqlite:log.db"]).expect_code(0);
    let fine = world.script("doctor\ndoctor --json");
    world.file("skills/broken/SKILL.md", "no front matter");
    let model = "base_url = \"http://localhost:1/v1\"\nmodel = \"m\"\napi_key_env = \"NO_SUCH_KEY\"\n";
    world.file("segue.toml", format!("agents.defaults.control_model = \"small\"\n[models.small]\n{model}"));
    let odd = world.script("doctor");
    world.file("segue.toml", "langauge = \"en\"");
    let wrong = world.script("doctor\ndoctor --json");
    world.file("segue.toml", "");
    world.file("log.db", "this is no database, and never was one: it is some text instead of it");
    let broken = world.script("doctor");
    check!("doctor", format!("{nothing}---\n{fine}---\n{odd}---\n{wrong}---\n{broken}"));
}

/// L-10: the scope goes on, says so, and everything else is as it was; the bytes are all there.
#[test]
fn l10_a_scope_that_cannot_be_read_goes_on_and_says_so() {
    let world = World::with_talk("files:log");
    let other = r#"{"at":"2026-03-01T11:00:00Z","scope":"agent:main:cli:direct:you","text":"hello"}"#;
    world.file("other.jsonl", other);
    world.run(&["replay", "other.jsonl", "--store", "files:log"]).expect_code(0);
    let folder = world.path("log/sessions/agent_main_cli_direct_me");
    let journal = folder.join("journal.jsonl");
    let whole = fs::read_to_string(&journal).unwrap();
    let damaged = whole.replacen("\"kind\":\"sealed\"", "\"kind\":\"sealed", 1);
    assert_ne!(whole, damaged);
    fs::write(&journal, &damaged).unwrap();
    let before = world.run(&["doctor"]).expect_code(1).out;
    assert!(before.contains("BAD   store: ") && before.contains("journal.jsonl, line "), "{before}");
    let said = "hello again\n/status\n/session list\n";
    let chat = world.run_with(&["chat", "--scope", ME], said.as_bytes()).expect_code(0);
    assert!(chat.out.contains("What was said here before cannot be read."), "{}", chat.seen());
    assert!(chat.out.contains("Set aside, because it cannot be read: 1"), "{}", chat.seen());
    let aside = folder.with_file_name("agent_main_cli_direct_me.damaged-1");
    assert_eq!(fs::read_to_string(aside.join("journal.jsonl")).unwrap(), damaged, "every byte");
    // P-3: no number is used again.
    let listed = world.run(&["sessions", "list", ME, "--json"]).expect_code(0).json();
    let number: u32 = listed[0]["key"].as_str().unwrap().rsplit('#').next().unwrap().parse().unwrap();
    assert!(number > 2 && listed.as_array().unwrap().len() == 1, "{listed}");
    let after = world.run(&["doctor", "--json"]).expect_code(1).json();
    let told = after["checks"].as_array().unwrap().iter().find(|check| check["what"] == "set aside").unwrap();
    assert!(told["told"][0].as_str().unwrap().contains(".damaged-1 holds what could not be read"), "{told}");
    world.run(&["verify", "agent:main:cli:direct:you"]).expect_code(0);
    // It is told once.
    let again = world.run_with(&["chat", "--scope", ME], b"and again\n").expect_code(0);
    assert!(!again.out.contains("cannot be read"), "{}", again.seen());
}
