//! The examples are compiled, and run against a scripted model and a fake of Telegram's Bot API.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    missing_docs,
    reason = "a test that cannot go on has failed"
)]

#[path = "../examples/bot.rs"]
mod bot;
#[path = "../examples/telegram.rs"]
mod telegram;

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Serves requests with what a function says about their path and body.
fn serve(answer: impl Fn(&str, &Value) -> (u16, String) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (path, body) = read(&stream);
            let (status, text) = answer(&path, &body);
            let length = text.len();
            let head =
                format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            // The client may have gone, which is its right.
            _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes()));
        }
    });
    url
}

fn read(stream: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut path, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if path.is_empty() {
            path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (path, serde_json::from_slice(&body).unwrap_or_default())
}

/// A model that says how many messages it was given, and what the last one was.
fn model() -> String {
    serve(|_, body| {
        let messages = body["messages"].as_array().unwrap();
        let last = messages.last().unwrap()["content"].as_str().unwrap();
        let text = format!("{} messages, the last: {last}", messages.len());
        (200, json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] }).to_string())
    })
}

fn settings(model: &str) -> String {
    format!("[models.main]\nbase_url = '{model}/v1'\nmodel = 'm'\n")
}

#[tokio::test]
async fn the_bot_of_sixty_lines_talks() {
    assert!(include_str!("../examples/bot.rs").lines().count() < 60);
    let segue = segue::Segue::builder().config(settings(&model())).store("memory:").build().await.unwrap();
    let mut out = Vec::new();
    bot::chat(&segue, "hello\nhow are you?\n/new\nwhat is a monad?\n".as_bytes(), &mut out).await.unwrap();
    let out = String::from_utf8(out).unwrap();
    let said: Vec<&str> = out.lines().filter(|line| !line.starts_with('*')).collect();
    assert_eq!(
        said,
        [
            "1 messages, the last: hello",
            "3 messages, the last: how are you?",
            // A command is not answered by the model, and a new session knows nothing of the old one.
            "1 messages, the last: what is a monad?",
        ]
    );
    assert!(out.contains("* "), "the new session is announced: {out}");
}

/// What a fake of the Bot API has been told, and will say.
#[derive(Default)]
struct Telegram {
    updates: Vec<Value>,
    sent: Vec<Value>,
    /// How many messages it takes before it breaks off.
    takes: usize,
    /// What it refuses next, with the body of its answer.
    refuses: Vec<Value>,
}

fn bot_api(state: &Arc<Mutex<Telegram>>) -> String {
    let state = Arc::clone(state);
    serve(move |path, body| {
        let mut state = state.lock().unwrap();
        let ok = |result: Value| (200, json!({ "ok": true, "result": result }).to_string());
        match path.rsplit('/').next().unwrap() {
            "getUpdates" => {
                let offset = body["offset"].as_i64().unwrap();
                let waiting =
                    state.updates.iter().filter(|update| update["update_id"].as_i64() >= Some(offset));
                ok(waiting.cloned().collect())
            }
            "sendMessage" if !state.refuses.is_empty() => {
                let refusal = state.refuses.remove(0);
                (refusal["error_code"].as_u64().unwrap() as u16, refusal.to_string())
            }
            "sendMessage" if state.takes == 0 => {
                (500, json!({ "ok": false, "description": "try again" }).to_string())
            }
            "sendMessage" => {
                state.takes -= 1;
                state.sent.push(body.clone());
                ok(json!({}))
            }
            other => panic!("{other}"),
        }
    })
}

/// What was sent: to which chat, in which thread, and what.
fn sent(state: &Arc<Mutex<Telegram>>) -> Vec<(i64, Option<i64>, String)> {
    let one = |sent: &Value| {
        let text = sent["text"].as_str().unwrap().to_owned();
        (sent["chat_id"].as_i64().unwrap(), sent["message_thread_id"].as_i64(), text)
    };
    state.lock().unwrap().sent.iter().map(one).collect()
}

/// Messages are of today: a reply is written at the time of the machine, and an older message would be a return after months.
#[allow(clippy::disallowed_methods, reason = "a fake of a service that has a clock")]
fn update(n: i64, chat: Value, text: &str) -> Value {
    let now = segue::Timestamp::now().as_second();
    // A private chat has the number of its person.
    let from = if chat["type"] == "private" { chat["id"].clone() } else { json!(7) };
    json!({
        "update_id": n,
        "message": { "message_id": n, "date": now, "chat": chat, "from": { "id": from }, "text": text },
    })
}

/// Direct chats, groups and threads are kept apart; a restart loses nothing and answers nothing twice.
#[tokio::test]
async fn the_telegram_bot_answers_each_message_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bot.toml"), settings(&model())).unwrap();
    let private = json!({ "id": 7, "type": "private" });
    let group = json!({ "id": -100, "type": "supergroup" });
    let mut threaded = update(14, group.clone(), "in a thread");
    threaded["message"]["message_thread_id"] = json!(3);
    threaded["message"]["is_topic_message"] = json!(true);
    let state = Arc::new(Mutex::new(Telegram {
        updates: vec![
            update(11, private.clone(), "hello"),
            json!({ "update_id": 12, "message": { "chat": private.clone(), "photo": [] } }),
            update(13, group, "hello all"),
            threaded,
        ],
        takes: 2,
        ..Telegram::default()
    }));
    let api = bot_api(&state);
    let bot = telegram::Bot::new(folder.path(), &api, "token").await.unwrap();
    // The third message cannot be sent: the program ends there.
    assert!(bot.run(1).await.is_err());
    drop(bot);
    state.lock().unwrap().takes = 100;
    let bot = telegram::Bot::new(folder.path(), &api, "token").await.unwrap();
    bot.run(2).await.unwrap();
    state.lock().unwrap().updates.push(update(15, private.clone(), "again"));
    bot.run(1).await.unwrap();
    // A notice and a reply; only the notice can be sent, and it is not sent again.
    state.lock().unwrap().updates.push(update(16, private, "/new And now for Rome"));
    state.lock().unwrap().takes = 1;
    assert!(bot.run(1).await.is_err());
    state.lock().unwrap().takes = 100;
    bot.run(1).await.unwrap();
    assert_eq!(
        sent(&state),
        [
            (7, None, "1 messages, the last: hello".to_owned()),
            (-100, None, "1 messages, the last: hello all".to_owned()),
            (-100, Some(3), "1 messages, the last: in a thread".to_owned()),
            (7, None, "3 messages, the last: again".to_owned()),
            (7, None, "Started new session: #2".to_owned()),
            (7, None, "1 messages, the last: And now for Rome".to_owned()),
        ]
    );
}

/// What Telegram refuses concerns one chat and is not tried for ever; who is told to wait waits; a caption is a message; and a
/// long answer comes in parts, in the units that Telegram counts in.
#[tokio::test]
async fn the_telegram_bot_survives_refusals() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}\n{}", "one two three ".repeat(250), "🙂".repeat(3000));
    let answer = long.clone();
    let model = serve(move |_, body| {
        let last =
            body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        let text = if last == "at length" { answer.clone() } else { format!("re: {last}") };
        (200, json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] }).to_string())
    });
    std::fs::write(folder.path().join("bot.toml"), settings(&model)).unwrap();
    let chat = |id: i64| json!({ "id": id, "type": "private" });
    let mut picture = update(23, chat(7), "");
    picture["message"]["text"] = Value::Null;
    picture["message"]["caption"] = json!("what is this?");
    let refusal = |code: u64, why: &str| json!({ "ok": false, "error_code": code, "description": why });
    let mut wait = refusal(429, "Too Many Requests: retry after 0");
    wait["parameters"] = json!({ "retry_after": 0 });
    let state = Arc::new(Mutex::new(Telegram {
        updates: vec![
            update(21, chat(6), "who blocks the bot"),
            update(22, chat(7), "hello"),
            picture,
            update(24, chat(7), "at length"),
        ],
        takes: 100,
        refuses: vec![refusal(403, "Forbidden: bot was blocked by the user"), wait],
        ..Telegram::default()
    }));
    let bot = telegram::Bot::new(folder.path(), &bot_api(&state), "token").await.unwrap();
    bot.run(2).await.unwrap();
    let sent = sent(&state);
    let texts: Vec<&str> = sent.iter().map(|(_, _, text)| text.as_str()).collect();
    assert_eq!(texts[..2], ["re: hello", "re: what is this?"]);
    assert!(sent.iter().all(|(chat, _, _)| *chat == 7));
    assert!(texts[2..].iter().all(|text| text.encode_utf16().count() <= 4096), "{}", texts.len());
    let words = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(words(&texts[2..].concat()), words(&long));
    // What was refused is over: the next start sends none of it.
    let bot = telegram::Bot::new(folder.path(), &bot_api(&state), "token").await.unwrap();
    bot.run(1).await.unwrap();
    assert_eq!(self::sent(&state).len(), sent.len());
}

/// A model that fails holds up nobody: the person is told, and what got no answer is not given to the model again.
#[tokio::test]
async fn the_telegram_bot_survives_a_failing_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = serve(|_, body| {
        let messages = body["messages"].as_array().unwrap();
        match messages.last().unwrap()["content"].as_str().unwrap() {
            "fail" => (500, String::new()),
            last => {
                let text = format!("{} messages, the last: {last}", messages.len());
                (
                    200,
                    json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] })
                        .to_string(),
                )
            }
        }
    });
    std::fs::write(folder.path().join("bot.toml"), settings(&model)).unwrap();
    let chat = |id: i64| json!({ "id": id, "type": "private" });
    let state = Arc::new(Mutex::new(Telegram {
        updates: vec![
            update(31, chat(7), "fail"),
            update(32, chat(8), "hello"),
            update(33, chat(7), "again"),
        ],
        takes: 100,
        ..Telegram::default()
    }));
    let bot = telegram::Bot::new(folder.path(), &bot_api(&state), "token").await.unwrap();
    bot.run(1).await.unwrap();
    let texts: Vec<String> = sent(&state).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(
        texts,
        [
            "Sorry, the model gave no answer. Please send it again.",
            "1 messages, the last: hello",
            "1 messages, the last: again",
        ]
    );
}
