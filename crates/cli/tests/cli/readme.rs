//! The README's commands, in the order in which a newcomer types them.

use crate::world::World;

/// Splits a line at spaces outside of double quotes.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    parts
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn every_command_of_the_readme_runs() {
    let readme = include_str!("../../../../README.md");
    assert!(readme.lines().count() <= 80, "the README is one page");
    let world = World::new();
    let lisbon = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lisbon.jsonl");
    world.file("examples/lisbon.jsonl", std::fs::read(lisbon).unwrap());
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("segue ")).collect();
    for command in &commands {
        let args = words(command);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = world.run(&args).expect_code(0);
        assert!(!ran.out.is_empty() && ran.err.is_empty(), "{command}: {}", ran.seen());
    }
    assert!(commands.len() >= 5);
}
