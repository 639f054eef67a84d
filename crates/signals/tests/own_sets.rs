//! The project's own sets in `eval/`: explicit intent at least 97 % right, task intent (C-9) at
//! least 92 %, in both languages; and that nothing of them was used for fitting.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use segue_signals::intent::explicit_intent;
use segue_signals::judge::Embedder;
use segue_signals::task_intent::{TaskContext, TaskState, message_intent};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lines(language: &str, name: &str) -> Vec<Value> {
    let path = root().join("eval").join(language).join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Compares, and shows what was wrong when too much was.
fn check(language: &str, name: &str, at_least: f64, right: impl Fn(&Value) -> bool) {
    let all = lines(language, name);
    let wrong: Vec<&Value> = all.iter().filter(|line| !right(line)).collect();
    let share = 1.0 - wrong.len() as f64 / all.len() as f64;
    println!("{language}/{name}: {:.1} % of {} right", share * 100.0, all.len());
    assert!(share >= at_least, "{language}/{name}: {share:.3} right, wrong are {wrong:#?}");
}

fn explicit(line: &Value) -> bool {
    let found = explicit_intent(line["text"].as_str().unwrap()).is_start_over();
    found == line["intent"].as_bool().unwrap()
}

#[test]
fn r3_explicit_intent_english() {
    check("en", "explicit_intent.jsonl", 0.97, explicit);
}

#[test]
fn r3_explicit_intent_chinese() {
    check("zh", "explicit_intent.jsonl", 0.97, explicit);
}

fn task(embedder: &Embedder, line: &Value) -> bool {
    let text = |key: &str| line[key].as_str();
    let state = match text("state").unwrap() {
        "none" => TaskState::None,
        "running" => TaskState::Running,
        "awaiting_user" => TaskState::AwaitingUser,
        "interrupted" => TaskState::Interrupted,
        "pending_complete" => TaskState::PendingComplete,
        other => panic!("unknown state {other}"),
    };
    let task = text("task").unwrap_or("");
    let context = TaskContext { state, task, question: text("question"), summary: text("summary") };
    let found = message_intent(embedder, &context, text("text").unwrap()).intent;
    Some(found.word()) == text("intent")
}

#[test]
fn c9_task_intent_english() {
    let embedder = Embedder::default();
    check("en", "task_intent.jsonl", 0.92, |line| task(&embedder, line));
}

#[test]
fn c9_task_intent_chinese() {
    let embedder = Embedder::default();
    check("zh", "task_intent.jsonl", 0.92, |line| task(&embedder, line));
}

/// A message that is fitted and tested proves nothing.
#[test]
fn nothing_of_eval_is_fitted() {
    let plain = |text: &str| {
        text.chars().filter(|ch| ch.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    for language in ["en", "zh"] {
        let mut tested: Vec<String> = Vec::new();
        for name in ["explicit_intent.jsonl", "task_intent.jsonl"] {
            tested.extend(lines(language, name).iter().map(|line| plain(line["text"].as_str().unwrap())));
        }
        for line in lines(language, "conversations.jsonl") {
            let turns = line["turns"].as_array().unwrap();
            tested.extend(turns.iter().map(|turn| plain(turn["text"].as_str().unwrap())));
        }
        for name in ["intents", "conversations"] {
            let path = root().join(format!("crates/lab/assets-src/{name}.{language}.txt"));
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let Some((_, text)) = line.split_once(": ") else { continue };
                let fitted = plain(text);
                // "ok" and "thanks" are in every conversation there is.
                let long = fitted.len() > 12;
                assert!(!(long && tested.contains(&fitted)), "{text:?} is in eval/{language} and is fitted");
            }
        }
    }
}
