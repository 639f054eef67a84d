//! the arbiter's answers, and that its weights are what the fit gives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::LazyLock;

use jiff::SignedDuration;
use segue_signals::arbiter::samples::{known, samples};
use segue_signals::arbiter::{Arbiter, Moment, WEIGHTS, fit::fit};
use segue_signals::eval::{Dataset, Meaning, Split};
use segue_signals::{Classifier, Probability, Profile, Remark, Role};

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(|| Classifier::builtin().unwrap());

/// Judges the last line; those before alternate between user and assistant.
fn shift_after(gap: Option<SignedDuration>, lines: &[&str]) -> Option<Probability> {
    let (text, before) = lines.split_last().unwrap();
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let mut profile = Profile::new();
    let mut recent = Vec::new();
    for (text, role) in before.iter().zip(roles) {
        CLASSIFIER.observe(&mut profile, role, text);
        recent.push(Remark::of(role, text));
    }
    let judgement = CLASSIFIER.judge(&profile, text, gap);
    Arbiter::shift(&judgement, &Moment { text, gap, recent: &recent })
}

fn shift(lines: &[&str]) -> f32 {
    shift_after(Some(SignedDuration::from_secs(40)), lines).expect("known").get()
}

const BIKE: [&str; 4] = [
    "The rear brake on my bike squeals when it's wet",
    "Clean the rim with alcohol and rough up the pads a little.",
    "did that, still loud",
    "Then the pads may be worn or set at a bad angle. Which kind of brake do you have?",
];
const RICE: [&str; 4] = [
    "电饭煲煮的饭总是太硬",
    "水加到米的一点三倍，煮之前泡二十分钟。",
    "泡了，还是硬",
    "那可能是陈米。你用的是什么米？",
];

fn with<'a>(talk: &[&'a str], text: &'a str) -> Vec<&'a str> {
    talk.iter().copied().chain([text]).collect()
}

#[test]
fn r1_an_answer_in_new_words_is_no_shift() {
    for (talk, text) in
        [(BIKE, "cantilevers, an old pair of Shimano from a flea market"), (RICE, "东北长粒香，超市买的散装")]
    {
        let p = shift(&with(&talk, text));
        assert!(p < 0.3, "{text}: {p}");
    }
}

#[test]
fn r1_a_message_that_leans_on_the_last_is_no_shift() {
    for (talk, text) in [
        (BIKE, "and what about the front one"),
        (BIKE, "it only does that going downhill"),
        (RICE, "那泡多久合适"),
        (RICE, "这个要不要放油"),
    ] {
        let p = shift(&with(&talk[..2], text));
        assert!(p < 0.3, "{text}: {p}");
    }
}

#[test]
fn r1_a_blunt_change_of_topic_is_a_shift() {
    for (talk, text) in [
        (BIKE, "can you write a toast for my sister's wedding in Lisbon?"),
        (BIKE, "How do I export a Postgres table as CSV from the command line?"),
        (RICE, "帮我写一封辞职信，语气客气一点"),
        (RICE, "请问去冰岛自驾需要办什么驾照"),
    ] {
        let p = shift(&with(&talk[..2], text));
        assert!(p > 0.7, "{text}: {p}");
    }
}

#[test]
fn r1_an_open_question_makes_a_shift_less_likely() {
    let text = "How do I export a Postgres table as CSV from the command line?";
    let asked = shift(&with(&BIKE, text));
    let settled = shift(&[BIKE[0], BIKE[1], BIKE[2], "Then the pads are worn. New ones cost little.", text]);
    assert!(asked < settled, "{asked} {settled}");
}

#[test]
fn r1_a_log_that_was_asked_for_is_no_shift() {
    let lines = [
        "the deploy fails at the last step",
        "Paste the end of the log, please.",
        "2026-03-02T10:11:12Z ERROR [worker-3] io::copy(/var/lib/app/cache): errno=28; retry={n:3}",
    ];
    assert!(shift(&lines) < 0.3, "{}", shift(&lines));
}

#[test]
fn r9_another_language_alone_is_no_shift() {
    assert!(shift(&with(&BIKE, "是 V 刹，夹器好像歪了")) < 0.3);
    assert!(shift(&with(&RICE, "short grain rice from the supermarket")) < 0.3);
}

#[test]
fn r1_unknown_stays_unknown() {
    assert_eq!(shift_after(None, &with(&BIKE, "ok")), None);
    assert_eq!(shift_after(None, &with(&RICE, "好的")), None);
    assert_eq!(shift_after(None, &["no history at all"]), None);
}

#[test]
fn r1_a_longer_silence_never_makes_a_shift_less_likely() {
    let lines = with(&BIKE, "which oven temperature for sourdough");
    let mut last = 0.0;
    for minutes in [0, 1, 5, 10, 60, 600, 6_000] {
        let p = shift_after(Some(SignedDuration::from_mins(minutes)), &lines).unwrap().get();
        assert!(p >= last, "{minutes} min: {p} after {last}");
        last = p;
    }
}

#[test]
fn r1_same_input_same_probability_and_any_input_has_one() {
    let long = "数 {}\n".repeat(20_000);
    for text in ["...", "🙂🙂 why", "\u{200b}", "a", &long] {
        let many = vec![long.as_str(); 40];
        for talk in [&BIKE[..], &many, &["", ""]] {
            let lines = with(talk, text);
            let gap = Some(SignedDuration::from_secs(-5));
            assert_eq!(shift_after(gap, &lines), shift_after(gap, &lines));
        }
    }
}

/// Only the last sixteen messages count, however many are given.
#[test]
fn r1_older_messages_are_not_read() {
    let judgement = CLASSIFIER.judge(&Profile::new(), "x", None);
    let mut judgement = judgement;
    judgement.session.probability = Some(Probability::new(0.5));
    judgement.task.probability = Some(Probability::new(0.5));
    let message = |text| Remark::of(Role::User, text);
    let mut recent = vec![message("sourdough oven temperature crust")];
    recent.resize(17, message("the bike again"));
    let text = "sourdough oven temperature";
    let all = Arbiter::shift(&judgement, &Moment { text, gap: None, recent: &recent });
    let last = Arbiter::shift(&judgement, &Moment { text, gap: None, recent: &recent[1..] });
    assert_eq!(all, last);
}

#[test]
fn the_weights_are_what_the_fit_gives_on_dev() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../eval/dev");
    let mut dialogues = Vec::new();
    for language in ["en", "zh"] {
        let text = std::fs::read_to_string(format!("{folder}/{language}/conversations.jsonl")).unwrap();
        dialogues.extend(Dataset::parse(language, Meaning::Session, Split::Dev, &text).unwrap().dialogues);
    }
    let fitted = fit(&known(&samples(&CLASSIFIER, &dialogues)));
    assert!((fitted.bias - WEIGHTS.bias).abs() < 1e-3, "{fitted:?}");
    for (fitted, shipped) in fitted.weights.iter().zip(WEIGHTS.weights) {
        assert!((fitted - shipped).abs() < 1e-3, "{fitted} {shipped}");
    }
}
