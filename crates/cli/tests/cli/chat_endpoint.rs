//! A scripted model: it listens on a port of this machine and gives the replies it was told, one a request.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A reply.
pub enum Reply {
    /// This text, piece by piece.
    Says(&'static [&'static str]),
    /// This text, piece by piece, and then the connection is lost.
    BreaksOff(&'static [&'static str]),
    /// This text, piece by piece, and then nothing, for ever.
    Hangs(&'static [&'static str]),
    /// This text, at once.
    Whole(&'static str),
    /// This status, and no text.
    Status(u16),
    /// This status, with a message in the body.
    Refuses(u16, &'static str),
}

/// A scripted model.
pub struct Endpoint {
    url: String,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Endpoint {
    /// Begins to listen. A request for which there is no reply is refused.
    pub fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                let request = read(&stream);
                seen.lock().unwrap().push(request);
                // The client may have gone, which is its right.
                _ = write(&mut stream, &reply);
                if matches!(reply, Reply::Hangs(_)) {
                    silent.push(stream);
                }
            }
            // Whoever was told nothing more waits as long as the test runs.
            std::mem::forget(silent);
        });
        Self { url, requests }
    }

    /// Returns the address of an endpoint that nobody listens at.
    pub fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// What was asked: the head of each request and what it says.
    pub fn requests(&self) -> Vec<(String, Value)> {
        self.requests.lock().unwrap().clone()
    }

    /// What the model was given, request by request, each message as `role: text`.
    pub fn given(&self) -> Vec<Vec<String>> {
        let text = |message: &Value| {
            format!("{}: {}", message["role"].as_str().unwrap(), message["content"].as_str().unwrap())
        };
        let messages =
            |(_, body): (String, Value)| body["messages"].as_array().unwrap().iter().map(text).collect();
        self.requests().into_iter().map(messages).collect()
    }
}

fn read(stream: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

fn write(stream: &mut TcpStream, reply: &Reply) -> std::io::Result<()> {
    let pieces = match reply {
        Reply::Whole(text) => {
            let body =
                json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] }).to_string();
            let length = body.len();
            return write!(
                stream,
                "HTTP/1.1 200 X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
        Reply::Status(status) => {
            return write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
        Reply::Refuses(status, why) => {
            let body = json!({ "error": { "message": why, "type": "invalid_request_error" } }).to_string();
            let length = body.len();
            return write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
        Reply::Says(pieces) | Reply::BreaksOff(pieces) | Reply::Hangs(pieces) => pieces,
    };
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for piece in *pieces {
        write!(
            stream,
            "data: {}\n\n",
            json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] })
        )?;
        stream.flush()?;
    }
    match reply {
        Reply::Says(_) => write!(stream, "data: [DONE]\n\n"),
        _ => stream.flush(),
    }
}
