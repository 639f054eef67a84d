//! What people's eyes would say about a message must be right (J-1): mistakes that were made once are kept here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use jiff::SignedDuration;
use segue_signals::intent::{ExplicitIntent, explicit_intent};
use segue_signals::judge::{self, Embedder, Stage};
use segue_signals::{Remark, Role};

/// Above this the engine offers a session of its own.
const OFFERED: f32 = 0.45;

/// Above this it begins one.
const SPLIT: f32 = 0.65;
/// So many of the follow-ups are known to be split off.
const SPLIT_MAX: usize = 4;

fn new(talk: &[(Role, &str)], text: &str) -> f32 {
    let talk: Vec<Remark> = talk.iter().map(|&(role, text)| Remark::of(role, text)).collect();
    let message = Remark::of(Role::User, text);
    let Some(by_words) = judge::by_words(&talk, &message) else { return 0.0 };
    let shift = match by_words.stage {
        Stage::Words => by_words,
        Stage::Unsure | Stage::Meaning => judge::by_meaning(&Embedder::default(), &talk, &message).unwrap(),
    };
    shift.after(SignedDuration::ZERO).get()
}

#[test]
fn what_goes_on_goes_on() {
    use Role::{Assistant, User};
    let kitchen = [
        (User, "我家厨房想重新装修，大概六平方米，预算三万以内，应该先定橱柜还是先改水电？"),
        (Assistant, "先改水电。水电位置要按橱柜图纸来定，所以先请橱柜商家量尺出图，再开槽。"),
    ];
    let bread = [
        (User, "give me a simple recipe for focaccia"),
        (
            Assistant,
            "Mix 500 g flour, 400 ml water, yeast and salt in a large bowl. Let it rise for two hours, oil the pan, bake at 220 degrees for 25 minutes.",
        ),
    ];
    let paste =
        [(User, "can you summarise an article for me?"), (Assistant, "Of course. Please paste the article.")];
    let steps = [
        (User, "怎么给路由器刷固件？"),
        (Assistant, "第一步下载固件，第二步进入管理界面，第三步上传固件并重启，第四步恢复设置。"),
    ];
    let number = [
        (User, "calculate my monthly payment for a loan"),
        (Assistant, "What is the amount, the rate, and over how many years?"),
    ];
    let cases: [(&[(Role, &str)], &str); 7] = [
        (&kitchen, "明白了。台面用石英石还是岩板？"),
        (&bread, "how do I clean the bowl afterwards"),
        (
            &paste,
            "The city council voted on Tuesday to close the old harbour bridge for repairs that will take two years. Shop owners fear for their trade.",
        ),
        (&steps, "更多关于第三步"),
        (&number, "200000, 3.5 percent, 20 years"),
        (&number, "twenty thousand euros over five years"),
        (&bread, "make it shorter"),
    ];
    let wrong: Vec<_> =
        cases.iter().map(|(talk, text)| (new(talk, text), text)).filter(|(p, _)| *p > OFFERED).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_is_new_is_new() {
    use Role::{Assistant, User};
    let bread = [
        (User, "give me a simple recipe for focaccia"),
        (
            Assistant,
            "Mix 500 g flour, 400 ml water, yeast and salt in a large bowl. Let it rise for two hours and bake.",
        ),
    ];
    let texts = [
        "write a python function that parses a csv file",
        "What is the capital of Mongolia?",
        "帮我写一封请假邮件，明天要去医院。",
        "my laptop does not boot since the last kernel update",
    ];
    let wrong: Vec<_> =
        texts.iter().map(|text| (new(&bread, text), text)).filter(|(p, _)| *p < OFFERED).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Talk with its ordinary follow-ups, `+`, and what begins something after it, `*`. `@` is the person's first message, `<` an answer.
const TALKS: &str = include_str!("judgement.txt");

/// Of these follow-ups none may be split off, and few may be offered a session; few beginnings may be missed. They were written
/// by hand, and no model was fitted on them.
#[test]
fn ordinary_follow_ups_are_not_split_off() {
    let mut talk: Vec<(Role, &str)> = Vec::new();
    let (mut split, mut offered, mut missed, mut on, mut begins) = (vec![], vec![], vec![], 0, 0);
    for line in TALKS.lines().filter(|line| !line.is_empty()) {
        let (mark, text) = line.split_once(' ').unwrap();
        match mark {
            "@" => talk = vec![(Role::User, text)],
            "<" => talk.push((Role::Assistant, text)),
            "+" => {
                on += 1;
                let p = new(&talk, text);
                if p > SPLIT {
                    split.push((p, text));
                } else if p > OFFERED {
                    offered.push((p, text));
                }
                talk.push((Role::User, text));
            }
            "*" => {
                begins += 1;
                let p = new(&talk, text);
                if p < OFFERED {
                    missed.push((p, text));
                }
            }
            _ => panic!("{line}"),
        }
    }
    println!(
        "of {on} follow-ups {} split, {} offered; of {begins} beginnings {} missed",
        split.len(),
        offered.len(),
        missed.len()
    );
    println!("split {split:#?}, offered {offered:#?}, missed {missed:#?}");
    assert!(split.len() <= SPLIT_MAX && offered.len() * 10 <= on && missed.len() * 4 <= begins);
}

/// a mention is no wish: the words stand inside an instruction.
#[test]
fn r3_starting_over_inside_an_instruction_is_no_wish() {
    for text in [
        "服务器挂了之后自动重新开始任务，帮我写个脚本",
        "写一个循环，失败后重新开始下载",
        "把计时器改成每小时重新开始",
    ] {
        let intent = explicit_intent(text);
        assert!(!matches!(intent, ExplicitIntent::StartOver { .. }), "{text}: {intent:?}");
    }
    assert!(matches!(explicit_intent("重新开始"), ExplicitIntent::StartOver { .. }));
}

/// DESIGN, "Answers and ends": what follows a complete task begins something else unless it refers back.
#[test]
fn c14_what_refers_back_to_what_was_done() {
    let talk = [
        Remark::of(Role::User, "Add retry logic to the HTTP client"),
        Remark::of(Role::Assistant, "Done: three tries with exponential backoff and jitter, and a test."),
    ];
    let chinese = [
        Remark::of(Role::User, "给HTTP客户端加上重试逻辑"),
        Remark::of(Role::Assistant, "完成：重试三次，指数退避加抖动，并加了测试。"),
    ];
    let refers = |text: &str| {
        let talk = if text.is_ascii() { &talk } else { &chinese };
        judge::refers_back(talk, &Remark::of(Role::User, text))
    };
    for text in [
        "it still fails on Windows",
        "why does it need jitter?",
        "how many tries does the retry logic make?",
        "you forgot the timeout",
        "undo that please",
        "revert the change",
        "the new test doesn't work on my machine",
        "change the backoff to two seconds",
        "你刚才加的测试跑不过",
        "重试次数改成5",
        "为什么要加抖动？",
        "还是报错",
    ] {
        assert!(refers(text), "{text}");
    }
    for text in [
        "Now let's add connection pooling",
        "next: write the changelog",
        "please set up CI for the docs folder",
        "what's a good name for a grey kitten?",
        "translate the README into French",
        "接下来加上连接池",
        "帮我写一下更新日志",
        "明天天气怎么样？",
    ] {
        assert!(!refers(text), "{text}");
    }
}
