//! Asking: good answers, bad answers, no answers. X-5: none of it blocks, and none of it moves a session.

use super::endpoint::{Endpoint, Reply};
use super::{ask, at, case, chain_of, config, model, small};
use rstest::rstest;
use segue_engine::config::ControlModel;
use segue_engine::control::breaker::REST_MS;
use segue_engine::control::{Consulted, Control, Failure, NamedBy, prompt};
use segue_engine::models;
use segue_engine::models::Usage;

fn failures(consulted: &Consulted) -> Vec<Failure> {
    consulted.attempts.iter().map(|attempt| attempt.failure).collect()
}

/// Checks that nobody answered: the built-in evidence stands.
fn assert_builtin(consulted: &Consulted) {
    assert_eq!(consulted.belongs, None);
    assert_eq!(consulted.answered_by.model, ControlModel::Builtin);
    assert_eq!(consulted.source(), NamedBy::Builtin);
}

#[rstest]
#[case("same", 0.8, Some(0.9))]
#[case("new", 0.8, Some(0.1))]
#[case("unsure", 0.8, None)]
#[tokio::test]
async fn a_good_answer_counts(#[case] verdict: &str, #[case] confidence: f64, #[case] belongs: Option<f64>) {
    let endpoint = Endpoint::new([Reply::verdict(verdict, confidence)]).await;
    let config = small(&endpoint, "price_in = 0.5\nprice_out = 2");
    let consulted = ask(&config).await;
    match (consulted.belongs, belongs) {
        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-9, "{a}"),
        (a, b) => assert_eq!(a, b),
    }
    // "Unsure" is an answer too: nobody else is asked.
    assert_eq!(consulted.answered_by.model, ControlModel::Named("small".into()));
    assert_eq!(consulted.source(), NamedBy::Defaults);
    assert!(consulted.attempts.is_empty());
    assert_eq!(consulted.usage, Usage { tokens_in: 200, tokens_out: 10 });
    assert!((consulted.cost.unwrap() - 0.00012).abs() < 1e-12);
    assert_eq!(endpoint.requests().len(), 1);
}

/// The hash on record is that of the bytes that went over the wire.
#[tokio::test]
async fn the_hash_is_that_of_the_bytes_that_were_sent() {
    let endpoint = Endpoint::new([Reply::verdict("same", 0.8)]).await;
    let consulted = ask(&small(&endpoint, "")).await;
    let request = endpoint.requests().remove(0);
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1"));
    let begin = request.body.find("\"messages\":").unwrap() + "\"messages\":".len();
    let end = request.body.find(",\"temperature\"").unwrap();
    assert_eq!(consulted.prompt_hash, Some(prompt::hash(&request.body.as_bytes()[begin..end])));
    assert_eq!(consulted.prompt_version, Some(prompt::VERSION));
    assert!(request.body.starts_with("{\"model\":\"small-1\",") && request.body.contains("Baking bread."));
    // The record is plain data, and holds nothing of what was said.
    let record = serde_json::to_string(&consulted).unwrap();
    assert_eq!(serde_json::from_str::<Consulted>(&record).unwrap(), consulted);
    assert!(record.starts_with(r#"{"answered_by":{"model":"small","source":"defaults"},"belongs":0.9"#));
    assert!(!record.contains("bread") && !record.contains("oven"));
}

/// Everything that can go wrong, twice, ends at the built-in judgement.
#[rstest]
#[case::broken_json(Reply::Says("{\"verdict\":".into()), "answer")]
#[case::wrong_schema(Reply::Says("{\"answer\":\"new\"}".into()), "answer")]
#[case::wrong_word(Reply::Says("{\"verdict\":\"rotate\",\"confidence\":1}".into()), "answer")]
#[case::too_sure(Reply::verdict("new", 1.5), "answer")]
#[case::extra_text(Reply::Says("Sure! {\"verdict\":\"new\",\"confidence\":1}".into()), "answer")]
#[case::fence(Reply::Says("```json\n{\"verdict\":\"new\",\"confidence\":1}\n```".into()), "answer")]
#[case::extra_field(Reply::Says("{\"verdict\":\"new\",\"confidence\":1,\"why\":\"x\"}".into()), "answer")]
#[case::no_completion(Reply::Raw(200, "<html>".into()), "malformed")]
#[case::no_text(Reply::Raw(200, "{\"choices\":[]}".into()), "malformed")]
#[case::half(Reply::Half, "broken_off")]
#[case::error(Reply::Raw(500, "{\"verdict\":\"new\",\"confidence\":1}".into()), "status")]
#[case::flood(Reply::Says("x".repeat(2 << 20)), "too_long")]
#[tokio::test]
async fn x5_a_bad_answer_is_tried_once_more_and_then_nobody_answers(
    #[case] reply: Reply,
    #[case] kind: &str,
) {
    let endpoint = Endpoint::new([reply]).await;
    let consulted = ask(&small(&endpoint, "")).await;
    assert_builtin(&consulted);
    let kinds: Vec<&str> = failures(&consulted).into_iter().map(Failure::kind).collect();
    assert_eq!(kinds, [kind, kind]);
    assert_eq!(endpoint.requests().len(), 2);
    assert!(consulted.prompt_hash.is_some());
}

#[tokio::test]
async fn x5_a_slow_model_is_not_waited_for() {
    let endpoint = Endpoint::new([Reply::Silence]).await;
    let consulted = ask(&small(&endpoint, "timeout = '50ms'")).await;
    assert_builtin(&consulted);
    assert_eq!(failures(&consulted), [Failure::Call(models::Failure::Timeout); 2]);
}

#[tokio::test]
async fn x5_a_model_that_is_not_there_is_no_trouble() {
    let base_url = Endpoint::nobody().await;
    let defaults = "agents.defaults.control_model = 'small'\n";
    let consulted = ask(&config(&format!("{defaults}{}", model("small", &base_url, "")))).await;
    assert_builtin(&consulted);
    assert_eq!(failures(&consulted), [Failure::Call(models::Failure::Unreachable); 2]);
}

/// TLS is really spoken: with an endpoint that speaks none there is no answer, and no word is sent in clear.
#[tokio::test]
async fn x5_https_is_never_answered_in_clear() {
    let endpoint = Endpoint::new([Reply::verdict("new", 1.0)]).await;
    let base_url = endpoint.base_url().replace("http://", "https://");
    let defaults = "agents.defaults.control_model = 'small'\n";
    let consulted =
        ask(&config(&format!("{defaults}{}", model("small", &base_url, "timeout = '200ms'")))).await;
    assert_builtin(&consulted);
    // A machine without certificates cannot even begin.
    let no_certificates = Failure::Call(models::Failure::Unusable(models::Unusable::Tls));
    let (no_tls, late) =
        (Failure::Call(models::Failure::Unreachable), Failure::Call(models::Failure::Timeout));
    assert!(failures(&consulted).iter().all(|failure| [no_certificates, no_tls, late].contains(failure)));
    assert!(endpoint.requests().is_empty());
}

/// To ask again does not help against these, nor does a redirect lead anywhere.
#[rstest]
#[case(401)]
#[case(404)]
#[case(429)]
#[case(302)]
#[tokio::test]
async fn x5_a_refusal_is_not_repeated(#[case] status: u16) {
    let endpoint = Endpoint::new([Reply::Raw(status, String::new())]).await;
    let consulted = ask(&small(&endpoint, "")).await;
    assert_builtin(&consulted);
    assert_eq!(failures(&consulted), [Failure::Call(models::Failure::Status(status))]);
    assert_eq!(endpoint.requests().len(), 1);
}

#[tokio::test]
async fn a_passing_failure_is_overcome() {
    let endpoint = Endpoint::new([Reply::Raw(500, String::new()), Reply::verdict("same", 1.0)]).await;
    let consulted = ask(&small(&endpoint, "")).await;
    assert_eq!(consulted.belongs, Some(1.0));
    assert_eq!(failures(&consulted), [Failure::Call(models::Failure::Status(500))]);
}

/// Some endpoints refuse the options: they are asked without, and that is remembered.
#[tokio::test]
async fn an_endpoint_that_refuses_options_is_asked_without() {
    let endpoint = Endpoint::new([Reply::Raw(400, String::new()), Reply::verdict("same", 1.0)]).await;
    let config = small(&endpoint, "");
    let control = Control::new(&config, &|_| None);
    for _ in 0..2 {
        let consulted = control.consult(&chain_of(&config), &case("And then?"), at(0)).await;
        assert_eq!(consulted.belongs, Some(1.0));
    }
    let with_options: Vec<bool> =
        endpoint.requests().iter().map(|request| request.body.contains("temperature")).collect();
    assert_eq!(with_options, [true, false, false]);
}

/// M-C3: the next link answers, always the same one.
#[tokio::test]
async fn m_c3_the_next_model_answers_when_the_first_fails() {
    let broken = Endpoint::new([Reply::Raw(503, String::new())]).await;
    let good = Endpoint::new([Reply::verdict("new", 0.6)]).await;
    let config = config(&format!(
        "agents.defaults.control_model = 'a'\nagents.defaults.control_fallback = ['lost', 'b']\n{}{}",
        model("a", &broken.base_url(), ""),
        model("b", &good.base_url(), ""),
    ));
    let consulted = ask(&config).await;
    assert_eq!(consulted.belongs, Some(0.2));
    assert_eq!(consulted.answered_by.model, ControlModel::Named("b".into()));
    assert_eq!(consulted.source(), NamedBy::Fallback);
    let status = Failure::Call(models::Failure::Status(503));
    assert_eq!(failures(&consulted), [Failure::NotThere, status, status]);
}

#[tokio::test]
async fn x5_a_model_that_keeps_failing_is_left_alone_for_a_while() {
    let bad = Reply::Raw(500, String::new());
    let endpoint =
        Endpoint::new([bad.clone(), bad.clone(), bad.clone(), bad, Reply::verdict("same", 1.0)]).await;
    let config = small(&endpoint, "");
    let (control, chain) = (Control::new(&config, &|_| None), chain_of(&config));
    let asked = async |ms: i64| {
        let consulted = control.consult(&chain, &case("And then?"), at(ms)).await;
        (consulted, endpoint.requests().len())
    };
    assert_eq!(asked(0).await.1, 2);
    // The third failure in a row: it is not tried once more.
    assert_eq!(asked(1000).await.1, 3);
    let (resting, requests) = asked(1000 + REST_MS - 1).await;
    assert_builtin(&resting);
    assert_eq!(
        (failures(&resting), resting.prompt_hash.clone(), requests),
        (vec![Failure::Resting], None, 3)
    );
    // One trial, which fails, then a rest again, and one that does not.
    assert_eq!(asked(1000 + REST_MS).await.1, 4);
    assert_eq!(asked(2000 + REST_MS).await.1, 4);
    let (back, requests) = asked(1000 + 2 * REST_MS).await;
    assert_eq!((back.belongs, requests), (Some(1.0), 5));
    assert_eq!(asked(1000 + 2 * REST_MS).await.1, 6);
}

#[tokio::test]
async fn calls_failures_tokens_and_cost_are_counted() {
    let replies = [Reply::Raw(500, String::new()), Reply::Says("?".into()), Reply::verdict("unsure", 0.1)];
    let endpoint = Endpoint::new(replies).await;
    let config = small(&endpoint, "price_in = 1.0");
    let control = Control::new(&config, &|_| None);
    for _ in 0..2 {
        control.consult(&chain_of(&config), &case("And then?"), at(0)).await;
    }
    let counters = control.counters();
    let tally = &counters.models["small"];
    assert_eq!((tally.calls, tally.verdicts, tally.unsure), (3, 1, 1));
    assert_eq!(tally.failures, [("answer", 1), ("status", 1)].into());
    // An answer that is none costs too.
    assert_eq!(tally.usage, Usage { tokens_in: 400, tokens_out: 20 });
    assert!((tally.cost - 0.0004).abs() < 1e-12);
}

#[tokio::test]
async fn the_key_is_sent_and_never_shown() {
    let endpoint = Endpoint::new([Reply::Raw(401, "sk-secret is wrong".into())]).await;
    let config = small(&endpoint, "api_key_env = 'SMALL_KEY'");
    let control = Control::new(&config, &|name| (name == "SMALL_KEY").then(|| "sk-secret\n".to_owned()));
    let consulted = control.consult(&chain_of(&config), &case("And then?"), at(0)).await;
    let head = endpoint.requests()[0].head.to_lowercase();
    assert!(head.contains("authorization: bearer sk-secret\r\n"), "{head}");
    let attempt = &consulted.attempts[0];
    let shown = format!("{control:?} {consulted:?} {} {:?}", attempt.failure, control.counters());
    assert!(!shown.contains("secret"), "{shown}");
    assert!(!serde_json::to_string(&consulted).unwrap().contains("secret"));
}

/// A key that is not set is no reason to send the message without it.
#[tokio::test]
async fn x5_a_missing_key_falls_to_the_next_link() {
    let endpoint = Endpoint::new([Reply::verdict("same", 1.0)]).await;
    let consulted = ask(&small(&endpoint, "api_key_env = 'SMALL_KEY'")).await;
    assert_builtin(&consulted);
    let missing = models::Failure::Unusable(models::Unusable::KeyMissing);
    assert_eq!(failures(&consulted), [Failure::Call(missing)]);
    assert!(endpoint.requests().is_empty());
}

/// Many at once: each gets its own verdict, and nobody waits for another's breaker.
#[tokio::test]
async fn many_can_ask_at_once() {
    let endpoint = Endpoint::new([Reply::verdict("same", 1.0)]).await;
    let config = small(&endpoint, "");
    let (control, chain) = (Control::new(&config, &|_| None), chain_of(&config));
    let control = std::sync::Arc::new(control);
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (control, chain) = (std::sync::Arc::clone(&control), chain.clone());
            tokio::spawn(async move { control.consult(&chain, &case("And then?"), at(0)).await.belongs })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Some(1.0));
    }
    assert_eq!(control.counters().models["small"].calls, 20);
}
