//! Answers that come piece by piece.

use super::endpoint::{Endpoint, Reply};
use super::small;
use segue_engine::models::{Client, Failure, Flaw, Message, Role, Usage};

async fn said(reply: Reply) -> (String, Option<Failure>, Usage) {
    let endpoint = Endpoint::new([reply]).await;
    let client = Client::new(&small(&endpoint, "").models["small"], None).unwrap();
    let mut deltas = match client.stream(&[Message::new(Role::User, "hello")]).await {
        Ok(deltas) => deltas,
        Err(failure) => return (String::new(), Some(failure), Usage::default()),
    };
    let (mut text, mut failure) = (String::new(), None);
    while let Some(delta) = deltas.next().await {
        match delta {
            Ok(delta) => text.push_str(&delta),
            Err(why) => failure = Some(why),
        }
    }
    assert!(deltas.next().await.is_none());
    let request: serde_json::Value = serde_json::from_str(&endpoint.requests()[0].body).unwrap();
    assert_eq!(request["stream"], true);
    (text, failure, deltas.usage())
}

fn events(chunks: &[&str]) -> Reply {
    Reply::Events(chunks.iter().map(|chunk| (*chunk).to_owned()).collect())
}

fn piece(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

#[tokio::test]
async fn an_answer_comes_piece_by_piece() {
    let (one, two) = (piece("Good "), piece("面包").replace('\n', "\r\n"));
    let (begin, end) = two.split_at(20);
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
    let last = format!("{usage}data: [DONE]\n\n{}", piece("never"));
    let (text, failure, usage) = said(events(&[": ping\n\n", &one, begin, end, &last])).await;
    assert_eq!((text.as_str(), failure), ("Good 面包", None));
    assert_eq!(usage, Usage { tokens_in: 3, tokens_out: 2 });
}

#[tokio::test]
async fn an_answer_may_end_without_done_but_not_in_its_midst() {
    let stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}";
    let (text, failure, _) = said(events(&[&piece("all"), stop])).await;
    assert_eq!((text.as_str(), failure), ("all", None));
    let (text, failure, _) = said(events(&[&piece("hal")])).await;
    assert_eq!((text.as_str(), failure), ("hal", Some(Failure::BrokenOff)));
}

/// An endpoint that cannot stream gives the answer at once, and it is taken.
#[tokio::test]
async fn an_answer_that_comes_at_once_is_taken() {
    let (text, failure, _) = said(Reply::Says("whole".into())).await;
    assert_eq!((text.as_str(), failure), ("whole", None));
}

#[tokio::test]
async fn what_is_no_stream_is_told() {
    let (_, failure, _) = said(Reply::Raw(200, "whole".into())).await;
    assert_eq!(failure, Some(Failure::Malformed(Flaw::NotACompletion)));
    let (_, failure, _) = said(events(&["data: {\"error\":{\"message\":\"overloaded\"}}\n\n"])).await;
    assert_eq!(failure, Some(Failure::Malformed(Flaw::Error)));
    let (_, failure, _) = said(Reply::Raw(401, String::new())).await;
    assert_eq!(failure, Some(Failure::Status(401)));
}

/// An answer that comes steadily and never ends has a deadline for the whole of it.
#[tokio::test]
async fn an_answer_that_never_ends_fails_at_its_deadline() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        // An answer before the question would be a broken connection.
        let mut request = [0; 4096];
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await;
        while tokio::io::AsyncWriteExt::write_all(&mut stream, piece("more").as_bytes()).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
    let endpoint = Endpoint::new([]).await;
    let mut model = small(&endpoint, "").models["small"].clone();
    model.base_url = format!("http://{address}/v1");
    let client = Client::new(&model, None).unwrap();
    let deadline = std::time::Duration::from_millis(300);
    let mut deltas = client.stream_within(&[Message::new(Role::User, "hello")], deadline).await.unwrap();
    let failure = loop {
        match deltas.next().await {
            Some(Ok(_)) => {}
            Some(Err(failure)) => break failure,
            None => panic!("it ended"),
        }
    };
    assert_eq!(failure, Failure::Timeout);
}
