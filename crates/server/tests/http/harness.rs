//! A server, a scripted model behind it, and a client in front.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use jiff::tz::TimeZone;
use segue_engine::Engine;
use segue_engine::config::{Config, Layer, Origin};
use segue_server::{Handle, Options, Server};
use segue_store::Location;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What the scripted model does next.
#[derive(Debug, Clone)]
pub enum Script {
    /// Answers with a text, in the form that is asked for.
    Say(&'static str),
    /// Calls a tool: id, name, arguments.
    Call(&'static str, &'static str, &'static str),
    /// Answers with these bytes as an event stream, and ends.
    Bytes(&'static [u8]),
    /// Answers with a status and a body.
    Status(u16, &'static str),
    /// Answers with a status, one more header and a body.
    Head(u16, (&'static str, &'static str), &'static str),
    /// Answers a request for a response with this one.
    Response(&'static str),
    /// Answers once it is told to.
    Wait(&'static str),
    /// Begins an event stream with the first bytes, and ends it with the others once it is told to.
    Pause(&'static str, &'static str),
    /// Begins an event stream with these bytes, and never goes on.
    Half(&'static str),
    /// Sends these bytes as an event stream again and again, and never ends.
    Drip(&'static str),
    /// Never answers.
    Hang,
}

#[derive(Default)]
pub struct Model {
    pub scripts: Mutex<VecDeque<Script>>,
    pub requests: Mutex<Vec<Value>>,
    /// The path and the headers of each request.
    pub heads: Mutex<Vec<(String, axum::http::HeaderMap)>>,
    /// The trace that each request says it is part of.
    pub traceparents: Mutex<Vec<String>>,
    /// How many requests that hung were given up by who asked.
    pub given_up: std::sync::atomic::AtomicUsize,
    /// Lets a model that waits go on.
    pub go: tokio::sync::Notify,
}

impl Model {
    pub fn next(&self, script: Script) {
        self.scripts.lock().unwrap().push_back(script);
    }

    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }

    /// The texts of the messages that the model was given last.
    pub fn given(&self) -> Vec<String> {
        let last = self.requests().last().cloned().unwrap_or_default();
        let messages = last["messages"].as_array().cloned().unwrap_or_default();
        messages.iter().map(|m| m["content"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// Counts a request that was given up.
struct GivenUp(Arc<Model>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.given_up.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

async fn model(State(model): State<Arc<Model>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let parent = request.headers().get("traceparent").map(|value| value.to_str().unwrap().to_owned());
    model.traceparents.lock().unwrap().push(parent.unwrap_or_default());
    model.heads.lock().unwrap().push((path.clone(), request.headers().clone()));
    let bytes = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    if path != "/v1/chat/completions" && path != "/v1/responses" {
        return Response::builder().status(404).body(Body::from("{}")).unwrap();
    }
    let fields: Value = serde_json::from_slice(&bytes).unwrap();
    let streams = fields["stream"] == json!(true);
    model.requests.lock().unwrap().push(fields);
    let script = model.scripts.lock().unwrap().pop_front().unwrap_or(Script::Say("ok"));
    let message = match script {
        Script::Say(text) => json!({ "role": "assistant", "content": text }),
        Script::Call(id, name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments });
            let call = json!({ "id": id, "type": "function", "index": 0, "function": function });
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        }
        Script::Bytes(bytes) => return stream(Body::from(bytes)),
        Script::Status(status, body) => {
            let builder = Response::builder().status(status).header("content-type", "application/json");
            return builder.body(Body::from(body)).unwrap();
        }
        Script::Head(status, (name, value), body) => {
            let builder = Response::builder().status(status).header("content-type", "application/json");
            return builder.header(name, value).body(Body::from(body)).unwrap();
        }
        Script::Response(body) if streams => return stream(Body::from(body)),
        Script::Response(body) => {
            let builder = Response::builder().header("content-type", "application/json");
            return builder.body(Body::from(body)).unwrap();
        }
        Script::Wait(text) => {
            model.go.notified().await;
            json!({ "role": "assistant", "content": text })
        }
        Script::Pause(first, rest) => {
            let first =
                futures_util::stream::once(async move { Ok::<_, std::io::Error>(Bytes::from(first)) });
            let rest = futures_util::stream::once(async move {
                model.go.notified().await;
                Ok(Bytes::from(rest))
            });
            return stream(Body::from_stream(futures_util::StreamExt::chain(first, rest)));
        }
        Script::Hang => {
            let _guard = GivenUp(Arc::clone(&model));
            std::future::pending().await
        }
        Script::Drip(bytes) => {
            let drops = futures_util::stream::unfold((), move |()| async move {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                Some((Ok::<_, std::io::Error>(Bytes::from(bytes)), ()))
            });
            return stream(Body::from_stream(drops));
        }
        Script::Half(bytes) => {
            let guard = GivenUp(Arc::clone(&model));
            let first =
                futures_util::stream::once(async move { Ok::<_, std::io::Error>(Bytes::from(bytes)) });
            let never = futures_util::stream::once(async move {
                let _guard = guard;
                std::future::pending().await
            });
            return stream(Body::from_stream(futures_util::StreamExt::chain(first, never)));
        }
    };
    let finish = if message["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    if streams {
        let piece = |delta: Value, finish: Value| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
            let chunk = json!({ "id": "c1", "object": "chat.completion.chunk", "choices": [choice] });
            format!("data: {chunk}\n\n")
        };
        let mut text = String::new();
        match message["content"].as_str() {
            // Word by word.
            Some(content) => {
                for word in content.split_inclusive(' ') {
                    text += &piece(json!({ "content": word }), Value::Null);
                }
            }
            None => text += &piece(message, Value::Null),
        }
        text += &piece(json!({}), finish.into());
        return stream(Body::from(text + "data: [DONE]\n\n"));
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9 });
    let whole = json!({ "id": "c1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [choice], "usage": usage });
    let builder = Response::builder().header("content-type", "application/json");
    builder.body(Body::from(whole.to_string())).unwrap()
}

fn stream(body: Body) -> Response {
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

/// A running server.
pub struct World {
    _folder: TempDir,
    store: Location,
    pub model: Arc<Model>,
    pub url: String,
    upstream: String,
    settings: String,
    handle: Handle,
    running: JoinHandle<()>,
    pub token: Option<String>,
    http: reqwest::Client,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The data of an event stream.
    pub fn data(&self) -> Vec<String> {
        self.text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
    }

    /// The names of an event stream's events.
    pub fn events(&self) -> Vec<String> {
        self.text.lines().filter_map(|line| line.strip_prefix("event: ")).map(str::to_owned).collect()
    }

    /// The text of a streamed chat completion.
    pub fn streamed(&self) -> String {
        let pieces = self.data().into_iter().filter_map(|data| serde_json::from_str::<Value>(&data).ok());
        pieces.map(|v| v["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

pub async fn engine(store: &Location, settings: &str) -> Arc<Engine> {
    let layer = Layer::toml(Origin::File("test.toml".into()), settings.to_owned());
    let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
    let store = store.open().unwrap();
    Arc::new(Engine::open(store, config).await.unwrap())
}

impl World {
    pub async fn new() -> Self {
        Self::with("").await
    }

    /// A server with more settings.
    pub async fn with(more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Location::Sqlite(folder.path().join("segue.db"));
        Self::on(store, folder, more).await
    }

    /// A server on a store that others use, too.
    pub async fn node(store: Location, more: &str) -> Self {
        Self::on(store, tempfile::tempdir().unwrap(), more).await
    }

    async fn on(store: Location, folder: TempDir, more: &str) -> Self {
        let model = Arc::new(Model::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().fallback(self::model).with_state(Arc::clone(&model));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let model_of = |name: &str, wire: &str| {
            format!("[models.{name}]\nbase_url = \"{upstream}\"\nmodel = \"scripted\"\nwire = \"{wire}\"\n")
        };
        let models = [("main", "chat"), ("native", "responses"), ("open", "auto")];
        let models: String = models.iter().map(|(name, wire)| model_of(name, wire)).collect();
        let settings = format!("{more}\n{models}");
        let (url, handle, running) = start(&store, &settings).await;
        let http = crate::harness::http_client();
        Self { _folder: folder, store, model, url, upstream, settings, handle, running, token: None, http }
    }

    /// Stops the server and starts another one on the same store.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.restart_stopped().await;
    }

    pub async fn restart_stopped(&mut self) {
        let (url, handle, running) = start(&self.store, &self.settings).await;
        (self.url, self.handle, self.running) = (url, handle, running);
    }

    pub async fn stop(&mut self) {
        self.handle.stop();
        (&mut self.running).await.unwrap();
        // A store of which there is one at a time is free once the last connection is gone.
        while self.store.open().is_err() {
            tokio::task::yield_now().await;
        }
    }

    pub fn upstream(&self) -> &str {
        &self.upstream
    }

    pub async fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let bytes = body.map(|body| body.to_string().into_bytes());
        self.send(method, path, bytes, headers).await
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<Vec<u8>>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let method = method.parse().unwrap();
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(body) = body {
            request = request.body(body);
            if !headers.iter().any(|(name, _)| *name == "content-type") {
                request = request.header("content-type", "application/json");
            }
        }
        if let Some(token) =
            self.token.as_ref().filter(|_| !headers.iter().any(|(n, _)| *n == "authorization"))
        {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes: Bytes = response.bytes().await.unwrap_or_default();
        Answer { status, headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// Sends a request, and returns its answer as it begins.
    pub async fn open(&self, path: &str, body: Value) -> reqwest::Response {
        let request =
            self.http.post(format!("{}{path}", self.url)).header("content-type", "application/json");
        request.body(body.to_string()).send().await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None, &[]).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, Some(&body), &[]).await
    }

    /// Sends a message, and returns the turn.
    pub async fn say(&self, scope: &str, text: &str) -> Value {
        let answer = self.post("/api/v1/messages", json!({ "scope": scope, "text": text })).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// The roles and texts of a session.
    pub async fn told(&self, scope: &str, session: u32) -> Vec<String> {
        let answer = self.get(&format!("/api/v1/scopes/{scope}/sessions/{session}/messages?limit=500")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let line = |m: &Value| {
            let calls = m["tool_calls"].as_array().map(Vec::len).unwrap_or_default();
            let calls = if calls > 0 { format!(" +{calls}") } else { String::new() };
            format!("{} {}{calls}", m["role"].as_str().unwrap(), m["text"].as_str().unwrap())
        };
        answer.json()["items"].as_array().unwrap().iter().map(line).collect()
    }

    /// Everything that the store's files hold.
    pub fn files(&self) -> Vec<u8> {
        let folder = std::fs::read_dir(self._folder.path()).unwrap();
        folder.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }

    /// Opens the store beside the server, as `segue token` does.
    pub async fn engine(&self) -> Arc<Engine> {
        engine(&self.store, &self.settings).await
    }
}

async fn start(store: &Location, settings: &str) -> (String, Handle, JoinHandle<()>) {
    let engine = engine(store, settings).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let key = |name: &str| (name == "TEST_SIGNING_KEY").then(|| "07".repeat(32));
    let server = Server::new(Options { engine, keys: Arc::new(key) }, address).await.unwrap();
    let handle = server.handle();
    let running = tokio::spawn(async move { server.run(listener).await.unwrap() });
    (format!("http://{address}"), handle, running)
}

/// Makes a client that speaks plain HTTP to this machine. It wants a provider of cryptography all the same.
pub fn http_client() -> reqwest::Client {
    // A second one is refused, and not needed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}
