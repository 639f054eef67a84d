//! Reasoning: a model is given back what it thought itself, and the log is never touched (L-7).

use crate::table::{CALM, Table};
use segue_core::message::{Message, Reasoning, ReasoningForm, Role};
use segue_engine::shapes::Shape;

fn models() -> String {
    let model =
        |name: &str, id: &str| format!("[models.{name}]\nbase_url = 'http://localhost/v1'\nmodel = '{id}'\n");
    format!("{CALM}{}{}", model("main", "thinker-4"), model("fast", "quick-1"))
}

fn thought(form: ReasoningForm, signature: &str, model: &str) -> Reasoning {
    let id = (form == ReasoningForm::Item).then(|| "rs_1".to_owned());
    Reasoning { form, text: "hm".into(), signature: signature.into(), id, model: model.into() }
}

/// L-7: foreign signatures are dropped when the model has changed, and are there again when it is back.
#[tokio::test]
async fn l7_foreign_signatures_are_dropped_when_the_model_changed() {
    let mut table = Table::new(&models()).await;
    table.say(Role::User, "why is the sky blue?").await;
    let mut said = Message::text("Rayleigh scattering.");
    said.reasoning = vec![
        thought(ReasoningForm::Thinking, "SIGNED", "thinker-4"),
        thought(ReasoningForm::Item, "SEALED", "thinker-4"),
        thought(ReasoningForm::Thinking, "FOREIGN", "quick-1"),
    ];
    table.take(Role::Assistant, said.clone()).await.unwrap();
    table.say(Role::User, "and at dusk?").await;
    let shown = async |table: &Table| {
        let context = table.context(100_000).await.unwrap();
        let of = |shape| context.project(shape).to_string();
        let marks = ["SIGNED", "SEALED", "FOREIGN"];
        let seen =
            |text: String| marks.iter().filter(|mark| text.contains(**mark)).copied().collect::<Vec<_>>();
        let [chat, responses, anthropic] = Shape::ALL.map(|shape| seen(of(shape)));
        assert_eq!(chat, Vec::<&str>::new());
        (responses, anthropic, context.tokens)
    };
    let (responses, anthropic, own) = shown(&table).await;
    assert_eq!((responses, anthropic), (vec!["SEALED"], vec!["SIGNED"]));
    table.say(Role::User, "/model fast").await;
    let (responses, anthropic, foreign) = shown(&table).await;
    assert_eq!((responses, anthropic), (vec![], vec!["FOREIGN"]));
    assert!(foreign < own, "what is not shown takes no room: {foreign} and {own}");
    let state = table.engine.state(&table.scope).await.unwrap();
    let told = table.engine.messages(&state, state.latest().unwrap(), 10).await.unwrap();
    assert_eq!(told[1].message.as_ref().unwrap().reasoning, said.reasoning, "the log keeps all of it");
    table.say(Role::User, "/model main").await;
    let (responses, anthropic, again) = shown(&table).await;
    assert_eq!((responses, anthropic, again), (vec!["SEALED"], vec!["SIGNED"], own));
}

/// L-7: reasoning is shown whole or not at all, since providers refuse what was changed; the budget holds either way.
#[tokio::test]
async fn l7_reasoning_that_does_not_fit_is_left_out_whole() {
    let mut table = Table::new(&models()).await;
    table.say(Role::User, "why is the sky blue?").await;
    let mut said = Message::text("Rayleigh scattering.");
    let long = format!("BEGIN{}END", "x7Kq".repeat(10_000));
    said.reasoning = vec![
        thought(ReasoningForm::Thinking, "SHORT", "thinker-4"),
        thought(ReasoningForm::Thinking, &long, "thinker-4"),
    ];
    table.take(Role::Assistant, said.clone()).await.unwrap();
    table.say(Role::User, "and at dusk?").await;
    let context = table.context(8_000).await.unwrap();
    assert!(context.tokens <= 7_000, "{}", context.tokens);
    let shown = context.project(Shape::Anthropic).to_string();
    assert!(shown.contains("Rayleigh scattering."), "{shown}");
    assert!(!shown.contains("SHORT") && !shown.contains("BEGIN"), "all of its blocks or none: {shown}");
    let why = "the model's own reasoning is too long here and left out: it is shown whole or not at all";
    let told: Vec<_> = context.sources.iter().filter(|source| source.why == why).collect();
    assert_eq!(told.iter().map(|source| source.messages).collect::<Vec<_>>(), [1]);
    // Where there is room it is there, and the log has it in any case.
    let context = table.context(1_000_000).await.unwrap();
    assert!(context.sources.iter().all(|source| source.why != why));
    let shown = context.project(Shape::Anthropic).to_string();
    assert!(shown.contains("SHORT") && shown.contains(&long));
    // It is the words that are clipped beside reasoning that fits.
    let mut said = Message::text(format!("It is {}.", "scattered ".repeat(20_000)));
    said.reasoning = vec![thought(ReasoningForm::Thinking, "FITS", "thinker-4")];
    table.take(Role::Assistant, said).await.unwrap();
    let context = table.context(8_000).await.unwrap();
    assert!(context.tokens <= 7_000, "{}", context.tokens);
    let shown = context.project(Shape::Anthropic).to_string();
    assert!(shown.contains("FITS") && shown.contains("characters are left out here"), "{shown}");
}

/// A limit on everything: what a model thought counts as part of its message.
#[tokio::test]
async fn l7_reasoning_counts_as_part_of_its_message() {
    let mut table = Table::new("[limits]\nmessage_bytes_max = 100\n").await;
    table.say(Role::User, "hello").await;
    let mut said = Message::text("hi");
    said.reasoning = vec![thought(ReasoningForm::Thinking, &"x".repeat(100), "main")];
    assert!(matches!(
        table.take(Role::Assistant, said).await,
        Err(segue_engine::Error::TooLong { bytes: 108, max: 100 })
    ));
}
