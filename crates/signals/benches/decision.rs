//! What a decision costs: `cargo bench -p segue-signals`.
//!
//! Reads the streams of `SEGUE_DATA/assistant/streams.dev.jsonl` if `SEGUE_DATA` names their folder, else the project's own
//! conversations. Prints time and memory beside a bare loop that only cuts the same texts into words and hashes them, so that the
//! figures mean something on any machine. Nothing is asserted.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use segue_signals::eval::Dataset;
use segue_signals::judge::{self, Embedder, Stage};
use segue_signals::{KEPT_MAX, Remark, Role};

#[derive(Default)]
struct Times {
    read: Vec<Duration>,
    words: Vec<Duration>,
    clear: Vec<Duration>,
    meaning: Vec<Duration>,
    embed: Vec<Duration>,
    bare: Vec<Duration>,
}

fn main() {
    let sets = sets();
    let before = resident_kib();
    let begun = Instant::now();
    black_box(Embedder::default().embed("hello"));
    let load = begun.elapsed();
    let loaded = resident_kib();
    // The first round warms the caches up and is thrown away.
    let _ = round(&sets);
    let Times { read, words, clear, meaning, embed, bare } = round(&sets);
    println!("{} decisions, {} with the encoder", words.len(), meaning.len());
    let rows = [
        ("read a message", read),
        ("by words", words),
        ("clear: read, by words", clear),
        ("embed a message", embed),
        ("by words and meaning", meaning),
        ("bare tokenise and hash", bare),
    ];
    for (name, mut times) in rows {
        times.sort_unstable();
        let at =
            |share: usize| times.get(times.len() * share / 1000).map_or(0.0, |took| took.as_secs_f64() * 1e6);
        println!("{name:24} p50 {:8.1} us   p99 {:8.1} us   p99.9 {:8.1} us", at(500), at(990), at(999));
    }
    println!("load                     {:.2} ms", load.as_secs_f64() * 1e3);
    if let (Some(before), Some(after)) = (before, loaded) {
        println!(
            "resident memory          {:.1} MB more after loading",
            after.saturating_sub(before) as f64 / 1024.0
        );
    }
}

/// Judges each message by what was said before it, as an engine does that embeds each message once.
fn round(sets: &[Dataset]) -> Times {
    let mut times = Times::default();
    let embedder = Embedder::default();
    let timed = |into: &mut Vec<Duration>, begun: Instant| into.push(begun.elapsed());
    for dialogue in sets.iter().flat_map(|set| &set.dialogues) {
        let mut said: Vec<Remark> = Vec::new();
        for turn in &dialogue.turns {
            let begun = Instant::now();
            let remark = Remark::of(turn.role(), &turn.text);
            timed(&mut times.read, begun);
            if turn.role() == Role::User && !said.is_empty() {
                let words = Instant::now();
                let shift = black_box(judge::by_words(&said, &remark));
                timed(&mut times.words, words);
                match shift {
                    Some(shift) if shift.stage == Stage::Unsure => {
                        black_box(judge::by_meaning(&embedder, &said, &remark));
                        timed(&mut times.meaning, begun);
                    }
                    Some(_) | None => timed(&mut times.clear, begun),
                }
                let begun = Instant::now();
                black_box(tokenise_and_hash(&turn.text));
                timed(&mut times.bare, begun);
            }
            if turn.boundary == 1 {
                said.clear();
            }
            // The message of the person is embedded when it is judged, the answer when it is written.
            let begun = Instant::now();
            black_box(embedder.embed(&turn.text));
            if turn.role() == Role::Assistant {
                timed(&mut times.embed, begun);
            }
            said.push(remark);
            said.drain(..said.len().saturating_sub(KEPT_MAX));
        }
    }
    times
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
    let files: Vec<PathBuf> = match std::env::var_os("SEGUE_DATA") {
        Some(dir) => vec![Path::new(&dir).join("assistant/streams.dev.jsonl")],
        None => ["en", "zh"].map(|lang| own.join(lang).join("conversations.jsonl")).to_vec(),
    };
    let read = |file: &PathBuf| Dataset::parse("set", &std::fs::read_to_string(file).ok()?).ok();
    files.iter().filter_map(read).collect()
}

/// Resident memory of this process, where the system tells.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
