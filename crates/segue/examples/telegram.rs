//! A Telegram bot: long polling, direct chats, groups and their threads. It can be stopped at any time: the next start
//! answers what was not answered, and nothing twice; when Telegram cannot be reached, it tries again. What Telegram refuses
//! (a person has blocked the bot, say) is given up, and the other chats go on. `bot.toml` names the model, as for the
//! example `bot`.
//!
//! ```text
//! TELEGRAM_TOKEN=... cargo run -p segue --example telegram
//! ```
//!
//! How that holds: Telegram hands an update out again until the next request confirms it, and it is confirmed only after it
//! was answered. A second delivery is known by the message's id; its reply is in the log already, or is made now. How many texts
//! of the last update were sent is kept in a file. Only a crash between Telegram's answer and that file sends a text again.

use segue::models::{Client, Message as Said};
use segue::{Address, Delivery, Inbound, Message, MessageId, Outcome, Role, Segue, Target};
use serde_json::{Value, json};
use std::env::var;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long Telegram may wait for something to happen, in seconds.
const POLL_SECONDS: u64 = 30;

/// How long it waits before it tries again, in seconds.
const PAUSE_SECONDS: u64 = 5;

/// How long a message may be, in UTF-16 code units: Telegram refuses longer ones.
const TEXT_UNITS_MAX: usize = 4096;

/// What a person is told whom the model gave no answer.
const NO_ANSWER: &str = "Sorry, the model gave no answer. Please send it again.";

/// The bot.
pub struct Bot {
    segue: Segue,
    model: Client,
    http: reqwest::Client,
    /// The address of the Bot API, with the token.
    api: String,
    /// Where it is kept what was sent last: the number of an update, and how many of its texts if not all were.
    sent: PathBuf,
}

/// A message of an update.
struct Heard {
    update: i64,
    chat: i64,
    thread: Option<i64>,
    inbound: Inbound,
}

/// What Telegram says no to. Sent again, it would be refused again.
#[derive(Debug)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Refused {}

impl Bot {
    /// Calls a method; as soon as Telegram wants it, where it has had too much.
    async fn call(&self, method: &str, body: Value) -> Result<Value, Box<dyn Error>> {
        loop {
            let request =
                self.http.post(format!("{}/{method}", self.api)).header("content-type", "application/json");
            // The address holds the token.
            let answer = request.body(body.to_string()).send().await.map_err(reqwest::Error::without_url)?;
            let answer: Value = serde_json::from_str(&answer.text().await?)?;
            if answer["ok"] == true {
                return Ok(answer["result"].clone());
            }
            let why = format!("Telegram refused {method}: {}", answer["description"]);
            match (answer["error_code"].as_u64(), answer["parameters"]["retry_after"].as_u64()) {
                (_, Some(seconds)) => tokio::time::sleep(Duration::from_secs(seconds)).await,
                (Some(400 | 403), None) => return Err(Refused(why).into()),
                _ => return Err(why.into()),
            }
        }
    }

    /// Reads an update: whose chat it is, and what was said, also below a picture. What has no words is passed over.
    fn heard(&self, update: &Value) -> Option<Heard> {
        let message = &update["message"];
        let (chat, from) = (message["chat"]["id"].as_i64()?, message["from"]["id"].as_i64()?);
        let mut address = match message["chat"]["type"].as_str()? {
            "private" => Address::direct("telegram", from.to_string()),
            _ => Address::group("telegram", chat.to_string()),
        };
        let thread = message["message_thread_id"].as_i64().filter(|_| message["is_topic_message"] == true);
        address.thread = thread.map(|thread| thread.to_string());
        let text = message["text"].as_str().or(message["caption"].as_str())?;
        let said = Message {
            message_id: Some(MessageId(format!("{chat}:{}", message["message_id"].as_i64()?))),
            sender: Some(format!("telegram:{from}")),
            ..Message::text(text)
        };
        let at = segue::Timestamp::from_second(message["date"].as_i64()?).unwrap_or(self.segue.now());
        let to = Target::Address(address);
        let inbound = Inbound { at, to, role: Role::User, message: said, session: None };
        Some(Heard { update: update["update_id"].as_i64()?, chat, thread, inbound })
    }

    async fn answer(&self, heard: Heard) -> Result<(), Box<dyn Error>> {
        let Heard { update, chat, thread, inbound } = heard;
        let outcome = self.segue.receive(inbound).await?;
        let mut texts: Vec<String> = outcome.say().into_iter().collect();
        match self.kept(&outcome).await? {
            Some(kept) => texts.push(kept),
            None if outcome.wants_reply() => texts.push(self.reply(&outcome).await?),
            None => {}
        }
        let (last, count) = self.sent();
        let count = count.filter(|_| last == Some(update)).unwrap_or(0);
        for (n, text) in texts.iter().flat_map(|text| parts(text)).enumerate().skip(count) {
            let mut body = json!({ "chat_id": chat, "text": text });
            if let Some(thread) = thread {
                body["message_thread_id"] = thread.into();
            }
            match self.call("sendMessage", body).await {
                Ok(_) => std::fs::write(&self.sent, format!("{update} {}", n + 1))?,
                // Nobody else has to wait for it. The reply is in the log.
                Err(error) if error.is::<Refused>() => {
                    eprintln!("update {update} is given up: {error}");
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(std::fs::write(&self.sent, update.to_string())?)
    }

    /// Reads what was sent last.
    fn sent(&self) -> (Option<i64>, Option<usize>) {
        let text = std::fs::read_to_string(&self.sent).unwrap_or_default();
        let mut numbers = text.split_whitespace();
        let update = numbers.next().and_then(|update| update.parse().ok());
        (update, numbers.next().and_then(|count| count.parse().ok()))
    }

    /// Finds the reply that was kept before the program was stopped.
    async fn kept(&self, outcome: &Outcome) -> Result<Option<String>, Box<dyn Error>> {
        if outcome.delivery != Delivery::Again {
            return Ok(None);
        }
        let engine = self.segue.engine();
        let state = engine.state(&outcome.scope).await?;
        let said = engine.messages(&state, outcome.session, 50).await?;
        let after = said.into_iter().filter(|told| Some(told.seq) > outcome.seq);
        Ok(after
            .take_while(|told| told.role != Role::User)
            .find(|told| told.role == Role::Assistant && !told.text.is_empty())
            .map(|told| told.text))
    }

    /// Has the model answer. Where it fails, that is what the person is told, and they can send it again.
    async fn reply(&self, outcome: &Outcome) -> Result<String, Box<dyn Error>> {
        let said = self.segue.context(&outcome.scope).await?.said();
        let messages: Vec<Said> =
            said.into_iter().map(|(role, message)| Said::new(role, message.text)).collect();
        match self.ask(&messages).await {
            // Kept before it is sent: what a person has read is never missing from the log.
            Ok(answer) => {
                self.segue.reply(outcome, answer.as_str()).await?;
                Ok(answer)
            }
            Err(error) => {
                eprintln!("the model gave no answer: {error}");
                self.segue.no_reply(outcome).await?;
                Ok(NO_ANSWER.to_owned())
            }
        }
    }

    async fn ask(&self, messages: &[Said]) -> Result<String, Box<dyn Error>> {
        let (mut pieces, mut answer) = (self.model.stream(messages).await?, String::new());
        while let Some(piece) = pieces.next().await.transpose()? {
            answer.push_str(&piece);
        }
        if answer.trim().is_empty() { Err("it said nothing".into()) } else { Ok(answer) }
    }

    /// Asks for updates so many times, and answers them.
    pub async fn run(&self, rounds: u64) -> Result<(), Box<dyn Error>> {
        let (last, count) = self.sent();
        let mut offset = last.map_or(0, |last| if count.is_some() { last } else { last + 1 });
        for _ in 0..rounds {
            let ask = json!({ "offset": offset, "timeout": POLL_SECONDS, "allowed_updates": ["message"] });
            let updates = self.call("getUpdates", ask).await?;
            for update in updates.as_array().into_iter().flatten() {
                if let Some(heard) = self.heard(update) {
                    self.answer(heard).await?;
                }
                offset = update["update_id"].as_i64().unwrap_or(offset) + 1;
            }
        }
        Ok(())
    }
}

/// Cuts a text into parts that Telegram takes: at the end of a line, else between words, else where it is full.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text.trim());
    while rest.encode_utf16().count() > TEXT_UNITS_MAX {
        let mut units = 0;
        let fits = |(_, c): &(usize, char)| {
            units += c.len_utf16();
            units <= TEXT_UNITS_MAX
        };
        let end = rest.char_indices().take_while(fits).last().map_or(0, |(at, c)| at + c.len_utf8());
        let full = &rest[..end];
        let at = full.rfind('\n').or_else(|| full.rfind(' ')).filter(|at| *at > 0).unwrap_or(end);
        let (part, more) = rest.split_at(at);
        parts.push(part.trim_end());
        rest = more.trim_start();
    }
    parts.push(rest);
    parts.retain(|part| !part.is_empty());
    parts
}

impl Bot {
    /// Makes a bot whose files are in a folder, on the Bot API at an address.
    pub async fn new(folder: &Path, api: &str, token: &str) -> Result<Self, Box<dyn Error>> {
        let store = format!("sqlite:{}", folder.join("telegram.db").display());
        let segue = Segue::builder().config(folder.join("bot.toml")).store(&store).build().await?;
        // reqwest is built without one.
        _ = rustls::crypto::ring::default_provider().install_default();
        let main = segue.engine().config().models.get("main").ok_or("bot.toml has no [models.main]")?;
        let model = Client::with_keys(main, &|name| var(name).ok())?;
        let (api, sent) = (format!("{api}/bot{token}"), folder.join("telegram.sent"));
        Ok(Self { segue, model, http: reqwest::Client::new(), api, sent })
    }
}

/// Runs until it is stopped. What fails is tried again: nothing was confirmed.
#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let api = var("TELEGRAM_API").unwrap_or("https://api.telegram.org".to_owned());
    let bot = Bot::new(Path::new("."), &api, &var("TELEGRAM_TOKEN")?).await?;
    while let Err(error) = bot.run(u64::MAX).await {
        eprintln!("{error}; trying again in {PAUSE_SECONDS} s");
        tokio::time::sleep(Duration::from_secs(PAUSE_SECONDS)).await;
    }
    Ok(())
}
