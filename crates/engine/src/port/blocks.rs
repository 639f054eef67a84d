//! Contents as other programs write them: a text, or a list of blocks.

use segue_core::Timestamp;
use segue_core::message::{Message, Reasoning, ReasoningForm, ToolCall};
use serde_json::Value;

pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// Reads a time: a text, or milliseconds since 1970.
pub(super) fn time(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => Timestamp::from_millisecond(number.as_i64()?).ok(),
        _ => None,
    }
}

/// What a content comes to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Content {
    /// What is said, block by block.
    pub texts: Vec<String>,
    /// What is there besides words, by its kind.
    pub others: Vec<String>,
    /// Calls of tools.
    pub calls: Vec<ToolCall>,
    /// Results: the call, and what came of it.
    pub results: Vec<(String, String)>,
    /// What the model thought, without which model that was.
    pub reasoning: Vec<Reasoning>,
}

impl Content {
    pub(super) fn of(value: Option<&Value>) -> Self {
        let mut content = Self::default();
        match value {
            Some(Value::String(text)) => content.texts.push(text.clone()),
            Some(Value::Array(blocks)) => blocks.iter().for_each(|block| content.take(block)),
            _ => {}
        }
        content
    }

    fn take(&mut self, block: &Value) {
        if let Value::String(text) = block {
            self.texts.push(text.clone());
            return;
        }
        match text(block, "type").unwrap_or_default() {
            // What a model thought was not said, and is signed for that model.
            "thinking" | "redacted_thinking" | "reasoning" => self.reasoning.extend(thought(block)),
            "tool_use" | "toolCall" => self.calls.extend(call(block)),
            "tool_result" | "toolResult" => {
                let of = text(block, "tool_use_id").or(text(block, "toolCallId")).unwrap_or_default();
                let said = Self::of(block.get("content").or(block.get("text")));
                self.results.push((of.to_owned(), said.text()));
            }
            kind => match text(block, "text") {
                Some(text) => self.texts.push(text.to_owned()),
                None if kind.is_empty() => {}
                None => self.others.push(other(kind, block)),
            },
        }
    }

    /// Returns the words, and what is there besides words.
    pub(super) fn text(&self) -> String {
        let words = self.texts.join("\n");
        match (words.trim().is_empty(), self.others.is_empty()) {
            (_, true) => words,
            (true, false) => self.others.join(" "),
            (false, false) => format!("{words}\n{}", self.others.join(" ")),
        }
    }

    /// Returns the message that it is, if it says or calls anything.
    pub(super) fn message(self) -> Option<Message> {
        let message = Message { text: self.text(), tool_calls: self.calls, ..Message::default() };
        let is_empty = message.text.trim().is_empty() && message.tool_calls.is_empty();
        (!is_empty).then_some(message)
    }
}

/// Names what is no text: an image, a document by its title.
fn other(kind: &str, block: &Value) -> String {
    let kind = kind.trim_start_matches("input_").trim_end_matches("_url");
    let name = ["title", "name", "filename", "file_name"].iter().find_map(|field| text(block, field));
    match name.filter(|name| !name.trim().is_empty()) {
        Some(name) => format!("[{kind}: {}]", name.trim()),
        None => format!("[{kind}]"),
    }
}

/// Reads what a model thought, if it is signed: without that no provider takes it back.
pub(super) fn thought(block: &Value) -> Option<Reasoning> {
    let (form, said, signed) = match text(block, "type")? {
        "thinking" => (ReasoningForm::Thinking, text(block, "thinking").map(str::to_owned), "signature"),
        "redacted_thinking" => (ReasoningForm::Redacted, None, "data"),
        "reasoning" => {
            let summary = block.get("summary").and_then(Value::as_array).into_iter().flatten();
            let parts: Vec<&str> = summary.filter_map(|part| text(part, "text")).collect();
            (ReasoningForm::Item, Some(parts.join("\n")), "encrypted_content")
        }
        _ => return None,
    };
    let signature = text(block, signed).filter(|signature| !signature.trim().is_empty())?;
    Some(Reasoning {
        form,
        text: said.unwrap_or_default(),
        signature: signature.to_owned(),
        id: text(block, "id").map(str::to_owned),
        model: String::new(),
    })
}

/// Reads a call of a tool: the arguments are a text, or what a text would say.
pub(super) fn call(block: &Value) -> Option<ToolCall> {
    let id = text(block, "call_id").or(text(block, "id"))?;
    let arguments = ["arguments", "input", "action"].iter().find_map(|name| block.get(name));
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let name = text(block, "name").or(text(block, "type"))?;
    Some(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments })
}

/// Adds what comes later in the same message.
pub(super) fn join(message: &mut Message, more: Message) {
    if !message.text.is_empty() && !more.text.is_empty() {
        message.text.push('\n');
    }
    message.text.push_str(&more.text);
    message.tool_calls.extend(more.tool_calls);
    message.reasoning.extend(more.reasoning);
    message.message_id = more.message_id;
}
