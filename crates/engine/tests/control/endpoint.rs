//! A scripted endpoint: it gives the replies it was told, one a request, the last one for ever.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A reply.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A chat completion with this text.
    Says(String),
    /// This status and body.
    Raw(u16, String),
    /// Server-sent events, in these chunks.
    Events(Vec<String>),
    /// Nothing, and the connection stays open.
    Silence,
    /// Half a reply.
    Half,
    /// A chat completion with this text, once the gate is opened.
    Held(Arc<Gate>, String),
}

/// Holds a reply back, so that a test can do something while a model thinks.
#[derive(Debug, Default)]
pub struct Gate {
    /// A request has come.
    pub asked: Notify,
    /// It may be answered.
    pub open: Notify,
}

impl Reply {
    /// A good answer.
    pub fn verdict(verdict: &str, confidence: f64) -> Self {
        Self::Says(format!(r#"{{"verdict":"{verdict}","confidence":{confidence}}}"#))
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// The first line and the headers.
    pub head: String,
    /// The body.
    pub body: String,
}

/// A scripted endpoint. It is gone when it is dropped.
pub struct Endpoint {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Endpoint {
    /// Begins to listen.
    pub async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (seen, replies) = (Arc::clone(&requests), replies.into_iter().collect::<Vec<_>>());
        let task = tokio::spawn(async move {
            let mut silent = Vec::new();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let Some(request) = read(&mut stream).await else { continue };
                let nth = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(request);
                    seen.len() - 1
                };
                match replies.get(nth).or(replies.last()).unwrap() {
                    Reply::Silence => silent.push(stream),
                    Reply::Held(gate, text) => {
                        gate.asked.notify_one();
                        gate.open.notified().await;
                        write(&mut stream, &Reply::Says(text.clone())).await;
                    }
                    reply => write(&mut stream, reply).await,
                }
            }
        });
        Self { port, requests, task }
    }

    /// Returns the address of an endpoint that refuses connections.
    pub async fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://127.0.0.1:{}/v1", listener.local_addr().unwrap().port())
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(Request { head: head.to_owned(), body: body.to_owned() });
            }
        }
    }
}

async fn write(stream: &mut TcpStream, reply: &Reply) {
    let (status, body) = match reply {
        Reply::Says(text) => {
            let body = serde_json::json!({
                "id": "x",
                "object": "chat.completion",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 200, "completion_tokens": 10, "total_tokens": 210},
            });
            (200, body.to_string())
        }
        Reply::Raw(status, body) => (*status, body.clone()),
        Reply::Half => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\"").await;
            return;
        }
        Reply::Events(chunks) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(head.as_bytes()).await;
            for chunk in chunks {
                let _ = stream.write_all(chunk.as_bytes()).await;
                let _ = stream.flush().await;
                tokio::task::yield_now().await;
            }
            return;
        }
        Reply::Silence | Reply::Held(..) => return,
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    // The client may have gone, which is its right.
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
}
