//! Bad input: an answer, bounded time, no panic.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use proptest::prelude::*;
use segue_signals::content::{Content, reduce};
use segue_signals::eval::Dataset;
use segue_signals::health::{Symptoms, judge_health};
use segue_signals::intent::explicit_intent;
use segue_signals::judge::{self, Embedder};
use segue_signals::task_intent::{TaskContext, TaskState, message_intent};
use segue_signals::{Remark, Role};
use std::sync::LazyLock;

static EMBEDDER: LazyLock<Embedder> = LazyLock::new(Embedder::default);

/// Puts a text through everything that reads text.
fn read_everywhere(text: &str) {
    let mut talk = vec![Remark::of(Role::User, "My parser crashes on empty input.")];
    let message = Remark::of(Role::User, text);
    for _ in 0..2 {
        let by_words = judge::by_words(&talk, &message);
        assert_eq!(by_words.is_some(), judge::by_meaning(&EMBEDDER, &talk, &message).is_some());
        talk.push(Remark::of(Role::Assistant, text));
    }
    let _ = explicit_intent(text);
    for state in [TaskState::None, TaskState::AwaitingUser, TaskState::PendingComplete] {
        let context = TaskContext { state, task: text, question: Some(text), summary: Some(text) };
        let _ = message_intent(&EMBEDDER, &context, text);
    }
    let _ = judge_health(&[Symptoms::of(Role::Assistant, text), Symptoms::of(Role::User, text)]);
    let _ = reduce(&[Content::Text(text), Content::File { name: text, media_type: Some(text) }]);
}

#[test]
fn odd_texts_get_an_answer() {
    let base64 = "aGVsbG8gd29ybGQh".repeat(400);
    let odd = [
        "",
        " ",
        "\n\n\n",
        "😀😀👍🏽",
        "\u{200b}\u{200d}\u{feff}",
        "مرحبا، أريد حجز فندق",
        "שלום עולם",
        "Hello 世界 مرحبا мир",
        "fn main() { println!(\"{}\", 1); }",
        "```\n```",
        "'''''",
        "\"\"\"",
        "“",
        "`",
        ">>>>",
        "a\u{0301}\u{0301}\u{0301}",
        "\u{202e}tahc wen",
        "新\u{200b}对\u{200b}话",
        "\0\u{1}\u{7f}",
        "𠀀𠀁𪜀",
        "ﷺ",
        "…",
        "?",
        "换",
        base64.as_str(),
    ];
    for text in odd {
        read_everywhere(text);
    }
    // Invisible characters do not hide a wish.
    assert!(explicit_intent("新\u{200b}对\u{200b}话").is_start_over());
    assert!(explicit_intent("n\u{200b}ew chat").is_start_over());
}

#[test]
fn a_megabyte_is_read_at_its_ends() {
    for unit in ["word ", "换个话题", "a", "\n", "\"", "new chat, ", "error: x\n", "😀", "'a "] {
        read_everywhere(&unit.repeat(1_000_000 / unit.len()));
    }
}

#[test]
fn damaged_data_are_refused() {
    let wrong = Dataset::parse("x", "{\"id\":\"1\",\"turns\":[]}\nnot json").unwrap_err();
    assert!(wrong.to_string().starts_with("line 2 is not a labelled dialogue"), "{wrong}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gets_an_answer(text in any::<String>()) {
        read_everywhere(&text);
    }

    #[test]
    fn any_mixture_of_hard_pieces_gets_an_answer(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "new chat", "换个话题", "don't", "\"", "'", "`", "```", "\n", ",", "不", "了", "?", "。", " ", "算了", "ok", "\u{200b}", "1", "error",
        ]), 0..60),
    ) {
        read_everywhere(&pieces.concat());
    }
}
