//! Transcripts of Claude Code: a line for each block of a message, with a `uuid`, in a folder that is named after the
//! workspace. Results of tools come as messages of the user; what the program itself puts in is marked `isMeta`.

use super::blocks::{Content, join, text, time};
use super::branches::{Node, given_up};
use super::transcript::{Bad, Format, Home, Line, Transcript};
use segue_core::message::{Message, MessageId, Reasoning, Role};
use segue_core::session::Title;
use serde_json::Value;

pub(super) fn read(lines: &[Line]) -> Transcript {
    let mut all = Transcript::new(Format::ClaudeCode);
    let values = all.values(lines);
    let mut main = Reader::new(all);
    let mut side = Reader::new(Transcript::new(Format::ClaudeCode));
    let (mut folder, mut titles) = (None, [const { None }; 3]);
    let given_up =
        given_up(&values.iter().filter_map(|(line, value)| node(*line, value)).collect::<Vec<_>>());
    main.read.given_up = given_up.len();
    for (line, value) in values.iter().filter(|(line, _)| !given_up.contains(line)) {
        folder = folder.or(text(value, "cwd"));
        let is_side = value.get("isSidechain") == Some(&Value::Bool(true));
        let reader = if is_side { &mut side } else { &mut main };
        let session = text(value, "sessionId").map(str::to_owned);
        match text(value, "agentId").filter(|_| is_side) {
            // What a helper did is of the session that sent it.
            Some(agent) => {
                reader.read.id = Some(agent.to_owned());
                reader.read.parent = session.or(reader.read.parent.take());
            }
            None => reader.read.id = reader.read.id.take().or(session),
        }
        let title = |name| text(value, name).and_then(Title::new);
        match text(value, "type").unwrap_or_default() {
            "user" | "assistant" => reader.take(*line, value),
            // What a person called it comes before what the program did.
            "custom-title" => titles[0] = title("customTitle").or(titles[0].take()),
            "ai-title" => titles[1] = title("aiTitle").or(titles[1].take()),
            "summary" => titles[2] = title("summary").or(titles[2].take()),
            _ => reader.read.passed_over += 1,
        }
    }
    // What a helper did on the side is a conversation of its own, in a file of its own; in between it is none.
    let (mut read, other) = match main.read.messages.is_empty() {
        true => (side.read, main.read),
        false => (main.read, side.read),
    };
    read.passed_over += other.passed_over + other.messages.len();
    read.bad.extend(other.bad);
    read.bad.sort();
    read.home = Home::workspace("claude-code", folder);
    read.title = titles.into_iter().flatten().next();
    read.number_by_content();
    read
}

/// Returns a line as a link of the chain. Of a person's words there can be another version, and of an answer as a whole;
/// results of tools, and what the program puts in, have none.
fn node(line: usize, value: &Value) -> Option<Node> {
    let is = |name: &str| value.get(name) == Some(&Value::Bool(true));
    if is("isSidechain") {
        return None;
    }
    let (id, message) = (text(value, "uuid")?, value.get("message")?);
    let rival = match text(value, "type")? {
        "user" if is("isMeta") || is("isCompactSummary") => None,
        "user" => Content::of(message.get("content")).results.is_empty().then(|| ("user", id.to_owned())),
        "assistant" => text(message, "id").map(|message| ("assistant", message.to_owned())),
        _ => return None,
    };
    let parent = text(value, "parentUuid").map(str::to_owned);
    Some(Node { line, id: id.to_owned(), parent, rival })
}

struct Reader {
    read: Transcript,
    /// The message that the last lines were blocks of.
    open: Option<String>,
    /// What the model thought before it said something, and the message that it is a block of.
    thoughts: (Option<String>, Vec<Reasoning>),
}

impl Reader {
    fn new(read: Transcript) -> Self {
        Self { read, open: None, thoughts: (None, Vec::new()) }
    }

    /// Adds thoughts to those of the same message that nothing has come of yet.
    fn think(&mut self, of: Option<&str>, more: Vec<Reasoning>) -> Vec<Reasoning> {
        let (before, thoughts) = std::mem::take(&mut self.thoughts);
        self.thoughts.0 = of.map(str::to_owned);
        let same = of.is_some() && before.as_deref() == of;
        thoughts.into_iter().filter(|_| same).chain(more).collect()
    }

    fn take(&mut self, line: usize, value: &Value) {
        let Some(message) = value.get("message").filter(|message| message.is_object()) else {
            self.read.bad.push(Bad { line, why: "it has no message".to_owned() });
            return;
        };
        let at = time(value.get("timestamp"));
        let id = |part: &str| {
            text(value, "uuid").map(|uuid| MessageId(format!("import:claude-code:{uuid}{part}")))
        };
        let mut content = Content::of(message.get("content"));
        let model = text(message, "model").unwrap_or_default();
        let reasoning = std::mem::take(&mut content.reasoning).into_iter();
        let reasoning = reasoning.map(|one| Reasoning { model: model.to_owned(), ..one }).collect();
        let reasoning = self.think(text(message, "id"), reasoning);
        let is = |name: &str| value.get(name) == Some(&Value::Bool(true));
        let by_the_host = is("isMeta") || is("isCompactSummary") || is("isApiErrorMessage");
        let role = match text(value, "type") {
            _ if by_the_host => Role::System,
            Some("assistant") => Role::Assistant,
            _ => Role::User,
        };
        for ((of, said), part) in content.results.iter().zip(1..) {
            let message_id = id(&format!("/{part}"));
            let said = Message { message_id, tool_call_id: Some(of.clone()), ..Message::text(said.as_str()) };
            self.read.say(line, at, Role::Tool, said);
        }
        let is_result = !content.results.is_empty();
        let Some(said) = content.message() else {
            self.thoughts.1 = reasoning;
            self.read.passed_over += usize::from(!is_result);
            return;
        };
        let reasoning = if role == Role::Assistant { reasoning } else { Vec::new() };
        let said = Message { message_id: id(""), reasoning, ..said };
        let group = text(message, "id").filter(|_| role == Role::Assistant).map(str::to_owned);
        let goes_on = group.is_some() && group == self.open;
        self.open = group;
        match self.read.assistant().filter(|_| goes_on) {
            Some(taken) => {
                taken.line = line;
                join(&mut taken.message, said);
            }
            None => self.read.say(line, at, role, said),
        }
    }
}
