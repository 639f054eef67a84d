//! Traces: a real collector's endpoint receives and decodes what the daemon sends.

use crate::harness::{Script, World};
use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// What came to the collector: bodies as they were sent.
#[derive(Clone, Default)]
struct Collector {
    bodies: Arc<Mutex<Vec<Bytes>>>,
    heads: Arc<Mutex<Vec<HeaderMap>>>,
}

impl Collector {
    async fn start(&self) -> String {
        let (bodies, heads) = (Arc::clone(&self.bodies), Arc::clone(&self.heads));
        let take = async move |headers: HeaderMap, body: Bytes| {
            bodies.lock().unwrap().push(body);
            heads.lock().unwrap().push(headers);
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/traces", post(take));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        url
    }

    fn spans(&self) -> Vec<Span> {
        let bodies = self.bodies.lock().unwrap().clone();
        let requests = bodies.into_iter().map(|body| ExportTraceServiceRequest::decode(body).unwrap());
        let resources = requests.flat_map(|request| request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }
}

fn attributes(span: &Span) -> BTreeMap<String, Value> {
    let read = |value: Any| match value {
        Any::StringValue(text) => json!(text),
        Any::IntValue(number) => json!(number),
        Any::ArrayValue(list) => {
            let text = |one: opentelemetry_proto::tonic::common::v1::AnyValue| match one.value {
                Some(Any::StringValue(text)) => json!(text),
                _ => Value::Null,
            };
            list.values.into_iter().map(text).collect()
        }
        _ => Value::Null,
    };
    let pair = |pair: opentelemetry_proto::tonic::common::v1::KeyValue| {
        (pair.key, pair.value.and_then(|value| value.value).map_or(Value::Null, read))
    };
    span.attributes.clone().into_iter().map(pair).collect()
}

fn chat(text: &str, stream: bool) -> Value {
    json!({ "model": "main", "user": "heron", "stream": stream, "messages": [{ "role": "user", "content": text }] })
}

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn a_collector_is_told_of_requests_turns_and_models_without_a_word() {
    let collector = Collector::default();
    let settings = format!(
        "[serve]\ntraces_url = \"{}\"\ntraces_key_env = \"TEST_SIGNING_KEY\"",
        collector.start().await
    );
    let mut world = World::with(&settings).await;
    world.model.next(Script::Say("kingfisher one"));
    let path = "/v1/chat/completions";
    let parent = [("traceparent", PARENT)];
    assert_eq!(
        world.call("POST", path, Some(&chat("the word is kingfisher", false)), &parent).await.status,
        200
    );
    world.model.next(Script::Say("kingfisher two"));
    assert_eq!(world.post(path, chat("and the kingfisher?", true)).await.streamed(), "kingfisher two");
    world.model.next(Script::Status(400, "{\"error\":{\"message\":\"kingfisher\"}}"));
    assert_eq!(world.post(path, chat("a kingfisher", false)).await.status, 400);
    world.model.next(Script::Say("kingfisher three"));
    let body = json!({ "model": "main", "user": "heron", "input": "kingfisher", "stream": true });
    assert_eq!(world.post("/v1/responses", body).await.status, 200);
    let session = world.say("heron", "kingfisher").await["session_id"].as_str().unwrap().to_owned();
    world.get("/api/v1/scopes/heron/sessions").await;
    world.stop().await;

    let spans = collector.spans();
    let named = |name: &str| -> Vec<&Span> { spans.iter().filter(|span| span.name == name).collect() };
    let request = named("POST /v1/chat/completions")[0];
    assert_eq!(
        hexadecimal(&request.trace_id),
        "0af7651916cd43dd8448eb211c80319c",
        "the caller's trace goes on"
    );
    assert_eq!((hexadecimal(&request.parent_span_id), request.kind), ("b7ad6b7169203331".to_owned(), 2));
    let told = attributes(request);
    assert_eq!((&told["http.route"], &told["http.response.status_code"]), (&json!(path), &json!(200)));

    let turns = named("segue.turn");
    let turn =
        turns.iter().find(|turn| turn.parent_span_id == request.span_id).expect("a turn of the request");
    assert_eq!(attributes(turn)["gen_ai.conversation.id"], json!(session));
    assert!(attributes(turn)["segue.action"].is_string());

    let calls = named("chat main");
    assert_eq!(calls.len(), 4, "{spans:?}");
    let told = attributes(calls[0]);
    assert_eq!((&calls[0].trace_id, &calls[0].parent_span_id), (&request.trace_id, &request.span_id));
    for (key, value) in [
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.request.model", json!("main")),
        ("gen_ai.response.model", json!("scripted")),
        ("gen_ai.response.finish_reasons", json!(["stop"])),
        ("gen_ai.usage.input_tokens", json!(7)),
        ("gen_ai.usage.output_tokens", json!(2)),
        ("gen_ai.conversation.id", json!(session)),
    ] {
        assert_eq!(told.get(key), Some(&value), "{key}: {told:?}");
    }
    assert!(calls.iter().all(|call| attributes(call)["gen_ai.conversation.id"] == json!(session)));
    assert!(calls[0].end_time_unix_nano > calls[0].start_time_unix_nano);
    let failed =
        calls.iter().find(|call| attributes(call).contains_key("error.type")).expect("a call that failed");
    assert_eq!(attributes(failed)["error.type"], json!("400"));
    let given = world.model.traceparents.lock().unwrap().clone();
    assert!(
        given[0].contains("0af7651916cd43dd8448eb211c80319c"),
        "the endpoint is told of the trace: {given:?}"
    );

    for body in collector.bodies.lock().unwrap().iter() {
        let text = String::from_utf8_lossy(body);
        assert!(!text.contains("kingfisher") && !text.contains("heron"), "no words, no people: {text}");
    }
    let heads = collector.heads.lock().unwrap();
    assert_eq!(heads[0]["content-type"], "application/x-protobuf");
    assert_eq!(heads[0]["authorization"], format!("Bearer {}", "07".repeat(32)));
}

/// A collector that is not there or never answers harms nobody, and holds the end up no longer than the setting says.
#[tokio::test]
async fn a_collector_that_does_not_answer_harms_nobody() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for address in [silent.local_addr().unwrap(), closed] {
        let settings = format!(
            "[serve]\ntraces_url = \"http://{address}\"\ntraces_timeout = \"1s\"\ntraces_queue_max = 4"
        );
        let mut world = World::with(&settings).await;
        for n in 0..20 {
            world.say("s", &format!("note {n}")).await;
        }
        world.stop().await;
        world.restart_stopped().await;
        assert_eq!(world.told("s", 1).await.len(), 20);
    }
}

#[tokio::test]
async fn without_the_setting_nothing_is_sent() {
    let world = World::new().await;
    assert_eq!(world.post("/v1/chat/completions", chat("hi", false)).await.status, 200);
    assert_eq!(*world.model.traceparents.lock().unwrap(), [String::new()]);
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
