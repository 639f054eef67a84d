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

/// How many public items a host sees that adds `segue`: its own, and the methods of all types that it re-exports.
const HOST_CEILING: usize = 251;

/// What a file re-exports from other crates of ours, each with its crate: types, and modules with all that is in them.
fn re_exported(text: &str) -> Vec<(String, String)> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut all = Vec::new();
    for path in flat.split("pub use segue_").skip(1).filter_map(|rest| rest.split(';').next()) {
        let (_, names) = path.rsplit_once("::{").or_else(|| path.rsplit_once("::")).unwrap();
        let names = names.trim_end_matches('}').split(',');
        let names =
            names.map(|name| name.split(" as ").next().unwrap().trim()).filter(|name| !name.is_empty());
        all.extend(names.map(|name| (path.split("::").next().unwrap().to_owned(), name.to_owned())));
    }
    all
}

/// Counts the public methods of a type in a file, or the methods of a trait.
fn methods(text: &str, name: &str) -> usize {
    let (mut of_type, mut of_trait, mut count) = (false, false, 0);
    for line in text.split("#[cfg(test)]\nmod tests {").next().unwrap().lines() {
        if line.starts_with('}') {
            (of_type, of_trait) = (false, false);
        } else if line.starts_with("impl") && !line.contains(" for ") {
            let subject =
                line.rsplit_once("impl").unwrap().1.split(['>', ' ']).rfind(|word| !["", "{"].contains(word));
            of_type = subject.is_some_and(|subject| subject.split('<').next() == Some(name));
        } else if line.starts_with(&format!("pub trait {name}")) {
            of_trait = true;
        }
        let line = line.trim();
        let is_method = |head: &str| line.starts_with(head);
        count +=
            usize::from(of_type && ["pub fn", "pub async fn", "pub const fn"].into_iter().any(is_method));
        count += usize::from(of_trait && ["fn", "async fn"].into_iter().any(is_method));
    }
    count
}

#[test]
fn a_host_sees_a_few_hundred_items() {
    let lib = fs::read_to_string(source("segue").join("lib.rs")).unwrap();
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = ["core", "signals", "store", "engine"].map(source).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(fs::read_to_string(path).unwrap()),
            }
        }
    }
    let mut items = count(&source("segue").join("lib.rs"), &source("segue"));
    for (of_crate, name) in re_exported(&lib) {
        let (flat, nested) = (source(&of_crate).join(format!("{name}.rs")), source(&of_crate).join(&name));
        let of = match name.starts_with(char::is_lowercase) {
            true if flat.exists() => count(&flat, &nested),
            true => count(&nested.join("mod.rs"), &nested),
            false => files.iter().map(|text| methods(text, &name)).sum(),
        };
        println!("{name}: {of}");
        items += of;
    }
    println!("{items} items in all");
    assert!(items <= HOST_CEILING, "a host sees {items} items, {HOST_CEILING} are allowed");
}
