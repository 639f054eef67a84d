//! P-11: what is remembered, through the real binary.

use crate::world::{DURABLE, World, check};
use std::fs;

const TALK: &str = r#"{"at":"2026-03-01T10:00:00Z","scope":"agent:main:cli:direct:me","text":"My name is Ann and I live in Graz."}
{"at":"2026-03-01T10:01:00Z","scope":"agent:main:cli:direct:me","role":"assistant","text":"Hello Ann! What can I do?"}
{"at":"2026-03-01T10:02:00Z","scope":"agent:main:cli:direct:me","text":"I'm allergic to nuts. Which cake can I take?"}
{"at":"2026-03-01T10:03:00Z","scope":"agent:main:cli:direct:me","text":"/new"}
{"at":"2026-03-01T10:04:00Z","scope":"agent:main:cli:direct:me","text":"我不吃香菜。"}
"#;

#[test]
fn p11_memory_from_end_to_end() {
    for store in DURABLE {
        let world = World::new();
        world.file("talk.jsonl", TALK);
        world.file("segue.toml", format!("[store]\nurl = \"{store}\"\n[memory]\ndir = \"memory\"\n"));
        world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
        let seen = world.script(
            "memory list
             memory work
             memory work --json
             memory list agent:main:cli:direct:me",
        );
        let listed = world.run(&["memory", "list", "--json"]).json();
        let number = listed[1]["number"].to_string();
        let file = fs::read_to_string(world.path("memory/MEMORY.md")).unwrap();
        let forgotten = world.script(&format!(
            "memory show agent:main:cli:direct:me {number}
             memory forget agent:main:cli:direct:me {number}
             memory forget agent:main:cli:direct:me {number}
             memory list
             verify"
        ));
        check!("memory", format!("{seen}\n--- MEMORY.md\n{file}---\n{forgotten}"));
        let left = fs::read_to_string(world.path("memory/MEMORY.md")).unwrap();
        assert!(left.contains("Graz") && !left.contains("nuts"));
    }
}

/// What is forgotten goes from the file, also where somebody edited its line.
#[test]
fn p11_an_edited_line_goes_with_what_is_forgotten() {
    let world = World::new();
    world.file("talk.jsonl", TALK);
    world.file("segue.toml", "[store]\nurl = \"sqlite:log.db\"\n[memory]\ndir = \"memory\"\n");
    world.run(&["replay", "talk.jsonl", "--store", "sqlite:log.db"]).expect_code(0);
    world.run(&["memory", "work"]).expect_code(0);
    let file = fs::read_to_string(world.path("memory/MEMORY.md")).unwrap();
    fs::write(world.path("memory/MEMORY.md"), file.replace("allergic to nuts", "allergic to NUTS, badly"))
        .unwrap();
    let listed = world.run(&["memory", "list", "--json"]).json();
    let number = listed[1]["number"].to_string();
    world.run(&["memory", "forget", "agent:main:cli:direct:me", &number]).expect_code(0);
    let left = fs::read_to_string(world.path("memory/MEMORY.md")).unwrap();
    assert!(left.contains("Graz") && !left.contains("NUTS"), "{left}");
}

/// X-17: what is in the way of `MEMORY.md` ends no erasure, and the same command makes it good.
#[test]
fn x17_erase_goes_on_where_the_file_is_in_the_way_and_repairs_it() {
    let world = World::new();
    world.file("talk.jsonl", TALK);
    world.file("segue.toml", "[store]\nurl = \"sqlite:log.db\"\n[memory]\ndir = \"memory\"\n");
    world.run(&["replay", "talk.jsonl", "--store", "sqlite:log.db"]).expect_code(0);
    world.run(&["memory", "work"]).expect_code(0);
    let in_the_way = world.path("memory/MEMORY.tmp");
    fs::create_dir_all(in_the_way.join("x")).unwrap();
    let erase = ["erase", "agent:main:cli:direct:me", "--session", "1"];
    world.run(&erase).expect_code(1);
    let holds = |file: &str| String::from_utf8_lossy(&fs::read(world.path(file)).unwrap()).contains("Graz");
    assert!(!holds("log.db") && holds("memory/MEMORY.md"), "the store is purged");
    fs::remove_dir_all(&in_the_way).unwrap();
    world.run(&erase);
    assert!(!holds("memory/MEMORY.md"));
}
