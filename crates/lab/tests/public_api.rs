//! How much the library crates show: what is public must be kept, so it stays small and grows only on purpose.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

/// How many public items a crate may have in its public modules, methods included. Lower one after removing items; raise
/// one only for something that another crate or a host needs.
const CEILINGS: [(&str, usize); 5] =
    [("segue", 53), ("core", 467), ("signals", 125), ("store", 174), ("engine", 369)];

const KINDS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro"];

fn source(crate_name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_name).join("src")
}

/// Counts the public items of a file and of the public modules below it.
fn count(file: &Path, folder: &Path) -> usize {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut items = 0;
    for line in text.lines().map(str::trim) {
        if let Some(module) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) {
            let (flat, nested) = (folder.join(format!("{module}.rs")), folder.join(module));
            let file = if flat.exists() { flat } else { nested.join("mod.rs") };
            items += count(&file, &nested);
            continue;
        }
        let Some(rest) = line.strip_prefix("pub ") else { continue };
        if rest.starts_with("use ") {
            // A module that is kept private shows what it names.
            items += rest.matches(',').count() + 1;
            continue;
        }
        let words = rest.split([' ', '<', '(']).filter(|word| !["async", "unsafe"].contains(word));
        let mut words = words.take(2);
        items += usize::from(words.next().is_some_and(|kind| KINDS.contains(&kind)));
    }
    items
}

#[test]
fn the_public_api_stays_small() {
    let mut all = 0;
    for (name, ceiling) in CEILINGS {
        let folder = source(name);
        let items = count(&folder.join("lib.rs"), &folder);
        println!("{name}: {items} public items");
        assert!(
            items <= ceiling,
            "{name} shows {items} items, {ceiling} are allowed: does a host need them all?"
        );
        all += items;
    }
    println!("{all} in all");
}
