//! The house rules that a machine can check.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const LINES_MAX: usize = 500;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push((path.clone(), fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn files_are_about_one_thing() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= LINES_MAX, "{}: {lines} lines. What is this file really about?", path.display());
    }
}

/// The contract's rules, so that none is forgotten.
fn rules() -> Vec<String> {
    let numbered =
        |letter: &str, last: u32| (1..=last).map(move |n| format!("{letter}-{n}")).collect::<Vec<_>>();
    let m = "A1 A2 B1 B2 B3 B4 B5 C1 C2 C3 C4 C5 D1 D2 D3 E1 E2 F1 F2";
    let mut rules: Vec<String> = m.split(' ').map(|rule| format!("M-{rule}")).collect();
    for (letter, last) in
        [("C", 15), ("L", 11), ("R", 14), ("P", 11), ("X", 18), ("S", 7), ("N", 4), ("J", 4)]
    {
        rules.extend(numbered(letter, last));
    }
    rules
}

/// `docs/conformance.md` names every rule once, and only tests that are there.
#[test]
fn conformance_is_true() {
    let doc = fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    let code: String = sources().into_iter().map(|(_, text)| text).collect();
    let mut named = BTreeSet::new();
    for row in doc.lines().filter(|line| line.starts_with("| ") && line.contains('-')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [rule, .., tests] = cells.as_slice() else { continue };
        if rule.starts_with("--") || *rule == "rule" {
            continue;
        }
        assert!(named.insert((*rule).to_owned()), "{rule} is there twice");
        for test in tests.split('`').skip(1).step_by(2) {
            let name = test.rsplit("::").next().unwrap();
            let found = code.contains(&format!("fn {name}(")) || code.contains(&format!(" {name},\n"));
            assert!(found, "{rule}: there is no test {test}");
        }
        assert!(tests.contains('`') || tests.starts_with("open"), "{rule}: neither a test nor open");
    }
    for rule in rules() {
        assert!(named.contains(&rule), "{rule} is missing in docs/conformance.md");
    }
}

/// ARCHITECTURE.md names every effect of a decision.
#[test]
fn every_effect_is_named() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let text = fs::read_to_string(root().join("crates/core/src/effect.rs")).unwrap();
    let (_, effects) = text.split_once("pub enum Effect {\n").unwrap();
    let variants = effects.lines().take_while(|line| *line != "}").filter_map(|line| {
        let name = line.strip_prefix("    ")?.split([',', '(', ' ']).next()?;
        name.starts_with(char::is_uppercase).then_some(name)
    });
    let mut count = 0;
    for name in variants {
        assert!(page.contains(&format!("`{name}`")), "ARCHITECTURE.md does not name the effect {name}");
        count += 1;
    }
    assert!(count > 5, "{count}");
}

/// The most files and functions that a plain message may pass.
const ROAD_FILES_MAX: usize = 15;
const ROAD_FUNCTIONS_MAX: usize = 40;

/// The road of a message is listed in ARCHITECTURE.md: every file and function of it exists, and there are not too many.
#[test]
fn the_road_of_a_message_is_short_and_true() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, road) = page.split_once("## The road of a message\n").unwrap();
    let (road, _) = road.split_once("\n## ").unwrap();
    let (mut files, mut functions) = (0, 0);
    for row in road.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let path = cells[1].trim_matches('`');
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        files += 1;
        for name in cells[2].split(',').map(|name| name.trim().trim_matches('`')) {
            let is_there = ["(", "<"].iter().any(|end| text.contains(&format!("fn {name}{end}")));
            assert!(is_there, "{path} has no function {name}");
            functions += 1;
        }
    }
    assert!(files > 5 && files <= ROAD_FILES_MAX, "{files} files");
    assert!(functions > 15 && functions <= ROAD_FUNCTIONS_MAX, "{functions} functions");
}
