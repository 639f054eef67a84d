//! What a decision costs: `cargo bench -p segue-signals`.
//!
//! Reads the texts of labelled dialogues if `SEGUE_DATA` names their folder, else the project's own
//! conversations. Prints time and memory beside a bare loop that only cuts the same texts into words
//! and hashes them, so that the figures mean something on any machine. Nothing is asserted.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use segue_signals::eval::{Dataset, Meaning, Split};
use segue_signals::{Classifier, Profile, Role};

fn main() {
    let sets = sets();
    let before = resident_kib();
    let begun = Instant::now();
    let classifier = match Classifier::builtin() {
        Ok(classifier) => classifier,
        Err(error) => {
            eprintln!("error: {error}");
            return;
        }
    };
    let load = begun.elapsed();

    let mut judge = Vec::new();
    let mut observe = Vec::new();
    let mut both = Vec::new();
    let mut bare = Vec::new();
    // The first round warms the caches up and is thrown away.
    for round in 0..3 {
        if round == 1 {
            for times in [&mut judge, &mut observe, &mut both, &mut bare] {
                times.clear();
            }
        }
        for dialogue in sets.iter().flat_map(|set| &set.dialogues) {
            let mut profile = Profile::new();
            for turn in &dialogue.turns {
                let role = turn.role();
                let start = Instant::now();
                if role == Role::User {
                    black_box(classifier.judge(&profile, &turn.text, None));
                }
                let judged = start.elapsed();
                classifier.observe(&mut profile, role, &turn.text);
                let all = start.elapsed();
                if role == Role::User {
                    judge.push(judged.as_nanos() as u64);
                    both.push(all.as_nanos() as u64);
                    let start = Instant::now();
                    black_box(tokenise_and_hash(&turn.text));
                    bare.push(start.elapsed().as_nanos() as u64);
                }
                observe.push((all - judged).as_nanos() as u64);
            }
        }
    }
    let after = resident_kib();
    println!("{} decisions on texts of {}", judge.len(), names(&sets));
    for (name, times) in [
        ("decision (judge)", &mut judge),
        ("observe a message", &mut observe),
        ("judge and observe", &mut both),
        ("bare tokenise and hash", &mut bare),
    ] {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 1000).map_or(0.0, |ns| *ns as f64 / 1e3);
        println!("{name:24} p50 {:8.2} µs   p99 {:8.2} µs   p99.9 {:8.2} µs", at(500), at(990), at(999));
    }
    println!("load                     {:.2} ms", load.as_secs_f64() * 1e3);
    if let (Some(before), Some(after)) = (before, after) {
        println!(
            "resident memory          {:.1} MB more than before loading",
            (after.saturating_sub(before)) as f64 / 1024.0
        );
    }
}

/// The floor: words of the same text, lower-cased and hashed, nothing else.
fn tokenise_and_hash(text: &str) -> u64 {
    let mut sum = 0_u64;
    for word in text.split(|ch: char| !ch.is_alphanumeric()) {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for ch in word.chars().flat_map(char::to_lowercase) {
            hash = (hash ^ u64::from(ch as u32)).wrapping_mul(0x0100_0000_01b3);
        }
        sum = sum.wrapping_add(hash);
    }
    sum
}

fn sets() -> Vec<Dataset> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval");
    let files: Vec<(PathBuf, Meaning)> = match std::env::var_os("SEGUE_DATA") {
        Some(dir) => [("session", Meaning::Session), ("task", Meaning::Task), ("topic", Meaning::Topic)]
            .into_iter()
            .flat_map(|(folder, meaning)| {
                let mut files: Vec<PathBuf> = std::fs::read_dir(Path::new(&dir).join(folder))
                    .map(|entries| entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
                    .unwrap_or_default();
                files.sort();
                files.retain(|file| file.to_string_lossy().ends_with(".dev.jsonl"));
                files.into_iter().map(move |file| (file, meaning))
            })
            .collect(),
        None => {
            ["en", "zh"].map(|lang| (own.join(lang).join("conversations.jsonl"), Meaning::Session)).to_vec()
        }
    };
    files
        .iter()
        .filter_map(|(file, meaning)| {
            let text = std::fs::read_to_string(file).ok()?;
            let name = file.file_stem()?.to_str()?.to_owned();
            Dataset::parse(&name, *meaning, Split::Dev, &text).ok()
        })
        .collect()
}

fn names(sets: &[Dataset]) -> String {
    sets.iter().map(|set| set.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Resident memory of this process, where the system tells.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
