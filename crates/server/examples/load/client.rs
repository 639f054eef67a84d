//! A small client: one request after the other on a connection, and streams of events.

use crate::Result;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A connection.
pub struct Client {
    stream: BufReader<TcpStream>,
    line: String,
    /// A header with a token, if there is one.
    authorization: String,
}

impl Client {
    /// Connects to an address.
    pub async fn connect(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let stream = BufReader::with_capacity(4096, stream);
        Ok(Self { stream, line: String::new(), authorization: String::new() })
    }

    /// Comes with a token from now on.
    pub fn with_token(mut self, secret: &str) -> Self {
        self.authorization = format!("authorization: Bearer {secret}\r\n");
        self
    }

    /// Sends a request, and returns status and body.
    pub async fn call(&mut self, method: &str, path: &str, body: &str) -> Result<(u16, Vec<u8>)> {
        let (length, token) = (body.len(), &self.authorization);
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: load\r\ncontent-type: application/json\r\n{token}content-length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).await?;
        let (status, length) = self.head().await?;
        let mut bytes = vec![0; length.ok_or("an answer without a length")?];
        self.stream.read_exact(&mut bytes).await?;
        Ok((status, bytes))
    }

    /// Sends a request that has to succeed, and returns the JSON.
    pub async fn json(&mut self, method: &str, path: &str, body: &str) -> Result<Value> {
        let (status, bytes) = self.call(method, path, body).await?;
        match status {
            200 => Ok(serde_json::from_slice(&bytes)?),
            _ => Err(format!("{method} {path}: {status} {}", String::from_utf8_lossy(&bytes)).into()),
        }
    }

    async fn next_line(&mut self) -> Result<&str> {
        self.line.clear();
        match self.stream.read_line(&mut self.line).await? {
            0 => Err("the connection ended".into()),
            _ => Ok(self.line.trim_end()),
        }
    }

    async fn head(&mut self) -> Result<(u16, Option<usize>)> {
        let first = self.next_line().await?;
        let status = first.split(' ').nth(1).ok_or("no status")?.parse()?;
        let mut length = None;
        loop {
            let line = self.next_line().await?;
            if line.is_empty() {
                return Ok((status, length));
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = Some(value.trim().parse()?);
            }
        }
    }

    /// Begins to watch events behind an id, or from now on.
    pub async fn watch(&mut self, path: &str, last: Option<&str>) -> Result<()> {
        let last = last.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        let request = format!("GET {path} HTTP/1.1\r\nhost: load\r\n{last}\r\n");
        self.stream.get_mut().write_all(request.as_bytes()).await?;
        match self.head().await? {
            (200, _) => Ok(()),
            (status, _) => Err(format!("GET {path}: {status}").into()),
        }
    }

    /// Waits for the next event: its id and its data.
    pub async fn event(&mut self) -> Result<(String, Value)> {
        let mut id = String::new();
        loop {
            // Each event is a chunk of its own, so that no line is cut.
            let line = self.next_line().await?;
            if let Some(text) = line.strip_prefix("id: ") {
                text.clone_into(&mut id);
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Ok((id, serde_json::from_str(data)?));
            }
        }
    }
}
