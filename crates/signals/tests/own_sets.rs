//! The project's own sets in `eval/`: explicit intent at least 97 % right, task intent (C-9) at
//! least 92 %, answers to our questions, to the agent's and what memory keeps (P-11), in both languages; and that
//! nothing of them was used for fitting.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use segue_signals::answer::{Answer, Offered, Reading, read_answer};
use segue_signals::intent::explicit_intent;
use segue_signals::judge::{self, Embedder, Stage};
use segue_signals::memory_extraction::extract;
use segue_signals::naming::About;
use segue_signals::task_intent::{TaskContext, TaskState, message_intent};
use segue_signals::{Remark, Role};
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
fn j1_nothing_of_eval_is_fitted() {
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

/// What two sessions are about, as the answers of `answers.jsonl` have it: one about a script, and an older one about a trip.
fn sessions(language: &str) -> [About; 2] {
    match language {
        "en" => [
            About::of(["My Python script reads a CSV of orders with pandas and takes four minutes"]),
            About::of(["Plan a trip to Japan in April, two weeks", "we like food and hiking"]),
        ],
        _ => [
            About::of(["我的脚本用pandas读取订单CSV要四分钟", "只需要订单号和日期两列"]),
            About::of(["帮我计划四月去日本旅行，两个星期", "我们喜欢美食和爬山"]),
        ],
    }
}

/// Answers to "continue in #2, start fresh, or go back to #1?", and messages that are none.
fn answer(language: &str, line: &Value) -> bool {
    let [here, older] = sessions(language);
    let older = line["older"].as_bool().unwrap().then_some(&older);
    let offered = Offered { here: Some(2), older: older.map(|_| 1) };
    let answer = match read_answer(line["text"].as_str().unwrap(), offered) {
        Reading::Answer(answer) => Some(answer),
        Reading::Names(choice) => choice.of(&here, older),
        Reading::Other => None,
    };
    let word = match answer {
        Some(Answer::Continue) => "continue",
        Some(Answer::Fresh) => "fresh",
        Some(Answer::Older) => "older",
        None => "none",
    };
    line["answer"] == word
}

#[test]
fn x14_answers_english() {
    check("en", "answers.jsonl", 0.95, |line| answer("en", line));
}

#[test]
fn x14_answers_chinese() {
    check("zh", "answers.jsonl", 0.95, |line| answer("zh", line));
}

fn memory(line: &Value) -> bool {
    let kept = extract([((), Role::User, line["text"].as_str().unwrap())]);
    kept.is_empty() != line["kept"].as_bool().unwrap()
}

#[test]
fn p11_memory_english() {
    check("en", "memory.jsonl", 0.95, memory);
}

#[test]
fn p11_memory_chinese() {
    check("zh", "memory.jsonl", 0.95, memory);
}

/// Messages after a question of the agent, of which some answer it.
fn agent_question(embedder: &Embedder, line: &Value) -> bool {
    let of = |role, key: &str| Remark::of(role, line[key].as_str().unwrap());
    let recent = [of(Role::User, "said"), of(Role::Assistant, "question")];
    let message = of(Role::User, "text");
    let shift = judge::by_words(&recent, &message).map(|shift| match shift.stage {
        Stage::Words => shift,
        _ => judge::by_meaning(embedder, &recent, &message).unwrap_or(shift),
    });
    line["answers"] == judge::answers(&recent, &message, shift)
}

#[test]
fn x13_answers_to_the_agent_english() {
    let embedder = Embedder::default();
    check("en", "agent_questions.jsonl", 0.92, |line| agent_question(&embedder, line));
}

#[test]
fn x13_answers_to_the_agent_chinese() {
    let embedder = Embedder::default();
    check("zh", "agent_questions.jsonl", 0.92, |line| agent_question(&embedder, line));
}
