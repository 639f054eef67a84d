//! The rules of 003, seen from outside.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use jiff::SignedDuration;
use segue_signals::health::{Finding, HealthState, Symptoms, judge_health};
use segue_signals::intent::{ExplicitIntent, Match, MentionKind, explicit_intent};
use segue_signals::judge::{self, Embedder};
use segue_signals::methods::{BuiltIn, EmbeddingSimilarity, KeywordOverlap, SummaryComparison};
use segue_signals::semantic::{Band, Relevance, RelevanceMethod};
use segue_signals::{Remark, Role};

fn session(turns: &[(Role, &str)]) -> Vec<Remark> {
    turns.iter().map(|(role, text)| Remark::of(*role, text)).collect()
}

fn judged(turns: &[(Role, &str)], text: &str) -> Relevance {
    BuiltIn(&Embedder::default()).relevance(&session(turns), &Remark::of(Role::User, text))
}

const PARSER: [(Role, &str); 4] = [
    (Role::User, "My CSV parser crashes on empty input. Can you help me fix the parser?"),
    (Role::Assistant, "Sure: the parser takes the first row as a header. Check that the input has rows."),
    (Role::User, "It also fails when a row has quotes in it."),
    (
        Role::Assistant,
        "Then the parser splits inside the quoted field. Use a proper CSV reader for the rows.",
    ),
];

#[test]
fn r1_the_session_is_compared_as_a_whole_and_evidence_says_what_was_found() {
    let near = judged(&PARSER, "does the parser handle empty rows with quotes now?");
    assert_eq!(near.band, Band::High, "{near:?}");
    assert!(near.evidence.contains("parser") && near.evidence.contains("words new"), "{}", near.evidence);
    let far = judged(&PARSER, "What should I cook tonight with leeks, potatoes and salmon?");
    assert_eq!(far.band, Band::Low, "{far:?}");
}

#[test]
fn r1_unknown_where_there_is_no_history_or_too_little_text() {
    assert_eq!(judged(&[], "My CSV parser crashes on empty input.").band, Band::Unknown);
    for text in ["ok", "", "👍", "42", "  ", "嗯", "?!"] {
        assert_eq!(judged(&PARSER, text).band, Band::Unknown, "{text:?}");
    }
}

#[test]
fn r2_every_method_is_replaceable_and_agrees_on_the_easy_case() {
    let (embedder, talk) = (Embedder::default(), session(&PARSER));
    let summary = "Fixing a CSV parser that crashes on empty input and quoted rows.";
    let methods: [&dyn RelevanceMethod; 4] = [
        &BuiltIn(&embedder),
        &KeywordOverlap,
        &EmbeddingSimilarity(&embedder),
        &SummaryComparison { embedder: &embedder, summary },
    ];
    for method in methods {
        let score = |text| method.relevance(&talk, &Remark::of(Role::User, text)).score.unwrap().get();
        let (near, far) =
            (score("the parser still fails on an empty row"), score("recommend a hotel on Crete for June"));
        assert!(near > 0.5 && near > far, "{}: {near} and {far}", method.name());
    }
}

#[test]
fn r9_a_change_of_language_alone_is_no_trigger() {
    let (embedder, talk) = (Embedder::default(), session(&PARSER));
    let new = |text| {
        let shift = judge::by_meaning(&embedder, &talk, &Remark::of(Role::User, text)).unwrap();
        shift.after(SignedDuration::ZERO).get()
    };
    let same = new("那解析器遇到空的输入文件应该返回什么？");
    let other = new("周末想去杭州玩两天，推荐几家西湖边的酒店");
    assert!(same < 0.45 && same < other, "{same} and {other}");
    // Words cannot be compared across scripts, and that is not the same as sharing none.
    let message = Remark::of(Role::User, "解析器遇到空行");
    assert_eq!(KeywordOverlap.relevance(&talk, &message).band, Band::Unknown);
}

#[test]
fn r3_every_phrase_of_003_is_an_intent_by_itself() {
    let chinese = "新对话 新会话 换个话题 重新开始 新的问题 开始新的 不说这个了 换一个 从头开始 另一个话题";
    let english = "new chat|new conversation|new topic|start over|fresh start|different subject|switch topic|\
        let's talk about something else|change the subject|unrelated question";
    for phrase in chinese.split(' ').chain(english.split('|')) {
        let found = explicit_intent(phrase);
        assert!(matches!(found, ExplicitIntent::StartOver { how: Match::Exact, .. }), "{phrase}: {found:?}");
        assert!(explicit_intent(&phrase.to_uppercase()).is_start_over(), "{phrase}");
    }
}

#[test]
fn r3_typos_are_scaled_by_length_and_real_words_are_no_typos() {
    for typo in [
        "strat over",
        "new converstaion",
        "chnage the subject",
        "newchat",
        "unrelatd question",
        "从新开始",
        "换个画题",
    ] {
        let found = explicit_intent(typo);
        assert!(
            matches!(found, ExplicitIntent::StartOver { how: Match::Typo { distance: 1..=2 }, .. }),
            "{typo}: {found:?}"
        );
    }
    for other in [
        "new cat",
        "new coat",
        "stare over",
        "new conversion",
        "related question",
        "new chart",
        "新电话",
        "换个标题",
    ] {
        assert!(!explicit_intent(other).is_start_over(), "{other}");
    }
}

#[test]
fn r3_a_mention_is_not_an_intent() {
    let cases = [
        ("the button says \"new chat\", what does it do?", MentionKind::Quoted),
        ("run `new chat` in the shell", MentionKind::Code),
        ("don't start over, just fix the last step", MentionKind::Negated),
        ("how do I start over in Elden Ring?", MentionKind::Question),
        ("she wants a fresh start in Lisbon", MentionKind::Inside),
        ("别换个话题，继续说", MentionKind::Negated),
        ("他说的“换个话题”是什么意思", MentionKind::Quoted),
        ("这个游戏怎么重新开始？", MentionKind::Question),
    ];
    for (text, kind) in cases {
        let found = explicit_intent(text);
        assert!(
            matches!(&found, ExplicitIntent::Mention { kind: got, .. } if *got == kind),
            "{text}: {found:?}"
        );
    }
    assert_eq!(explicit_intent("what time is it?"), ExplicitIntent::Absent);
}

fn health(turns: &[(Role, &str)]) -> Vec<Finding> {
    let messages: Vec<Symptoms> = turns.iter().map(|&(role, text)| Symptoms::of(role, text)).collect();
    let health = judge_health(&messages);
    assert_eq!(health.state == HealthState::Bad, !health.findings.is_empty());
    health.findings
}

#[test]
fn r7_the_same_error_three_times_is_a_loop_and_twice_is_not() {
    let error = |line: u32| format!("error: connection refused at db.rs:{line}");
    let (a, b, c) = (error(10), error(11), error(12));
    fn turn(text: &str) -> (Role, &str) {
        (Role::Tool, text)
    }
    assert!(matches!(health(&[turn(&a), turn(&b), turn(&c)])[..], [Finding::ErrorLoop { times: 3, .. }]));
    assert!(health(&[turn(&a), turn(&b)]).is_empty());
    let chinese = "保存失败：磁盘已满";
    assert_eq!(health(&[turn(chinese), turn(chinese), turn(chinese)]).len(), 1);
}

#[test]
fn r7_short_negatives_in_a_row_are_frustration_and_a_no_to_a_question_is_not() {
    use Role::{Assistant, User};
    let stuck = [(Assistant, "Try this."), (User, "no"), (Assistant, "Then this."), (User, "still wrong")];
    assert_eq!(health(&stuck), [Finding::Frustration { messages: 2 }]);
    let asked = [(Assistant, "More sugar?"), (User, "no"), (Assistant, "Milk?"), (User, "no")];
    assert!(health(&asked).is_empty());
    let chinese = [(Assistant, "试试这个。"), (User, "不对"), (Assistant, "那这样。"), (User, "还是不行")];
    assert_eq!(health(&chinese), [Finding::Frustration { messages: 2 }]);
}

#[test]
fn r7_a_statement_and_its_opposite_within_five_messages_contradict() {
    use Role::{Assistant, User};
    let says = "The free plan supports webhooks.";
    let denies = "The free plan does not support webhooks.";
    let close = [(Assistant, says), (User, "really?"), (Assistant, denies)];
    assert!(matches!(health(&close)[..], [Finding::Contradiction { .. }]));
    let far = [
        (Assistant, says),
        (User, "a b"),
        (Assistant, "c d"),
        (User, "e f"),
        (Assistant, "g h"),
        (Assistant, denies),
    ];
    assert!(health(&far).is_empty());
    let same = [(Assistant, says), (User, "sure?"), (Assistant, says)];
    assert!(health(&same).is_empty());
}

#[test]
fn r7_no_next_step_is_a_dead_end() {
    let end = |text| health(&[(Role::User, "help"), (Role::Assistant, text)]);
    assert_eq!(end("I'm unable to do that."), [Finding::DeadEnd]);
    assert_eq!(end("很抱歉，我没有办法。"), [Finding::DeadEnd]);
    assert!(end("I'm unable to do that, but you could try the settings page.").is_empty());
    assert!(end("Here is the table.").is_empty());
    assert!(health(&[]).is_empty());
}

#[test]
fn r3_a_bare_wish_for_another_topic_is_nothing_to_compare_with() {
    use Role::{Assistant, User};
    let bare = [
        "let's talk about something else",
        "ok, new topic please",
        "can we strat over?",
        "我们换个话题吧",
        "好的，换个话题",
    ];
    for wish in bare {
        for reply in ["Sure! What would you like to talk about?", "好的，您想聊什么？"] {
            let talk = [(User, wish), (Assistant, reply)];
            assert_eq!(
                judged(&talk, "how do I prune old rose bushes in spring?").band,
                Band::Unknown,
                "{wish}"
            );
        }
    }
    let told = [
        "new topic: how do I prune old rose bushes?",
        "let's talk about something else: my bike squeals",
        "换个话题，北京的天气怎么样",
    ];
    for wish in told {
        assert_ne!(
            judged(&[(User, wish)], "which bank gives the best rate on a mortgage?").band,
            Band::Unknown,
            "{wish}"
        );
    }
}
