//! The examples of the repository, as people and programs see them.

use crate::world::{World, check};

fn run(name: &str, more: &str) -> String {
    let world = World::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    for name in [name, "segue.toml"] {
        world.file(&format!("examples/{name}"), std::fs::read(format!("{folder}/{name}")).unwrap());
    }
    let seen = world.script(&format!("replay examples/{name}{more} --strict"));
    assert!(!seen.contains("[exit"), "{seen}");
    seen
}

#[test]
fn lisbon() {
    check!(run("lisbon.jsonl", ""));
}

#[test]
fn lisbon_json() {
    check!(run("lisbon.jsonl", " --json"));
}

#[test]
fn office() {
    check!(run("office.jsonl", ""));
}

#[test]
fn office_json() {
    check!(run("office.jsonl", " --json"));
}

#[test]
fn kitchen_zh() {
    check!(run("kitchen-zh.jsonl", " --config examples/segue.toml"));
}

#[test]
fn kitchen_zh_json() {
    check!(run("kitchen-zh.jsonl", " --config examples/segue.toml --json"));
}
