//! The reply of a model, put together from a chat completion or its pieces.

use segue_core::message::{Message, Reasoning, ToolCall, Usage};
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads the usage of a chat completion.
pub(crate) fn usage_of_chat(value: &Value) -> Option<Usage> {
    let usage = value.get("usage").filter(|usage| usage.is_object())?;
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    Some(Usage {
        tokens_in: number("/prompt_tokens"),
        tokens_cached: number("/prompt_tokens_details/cached_tokens"),
        tokens_out: number("/completion_tokens"),
        tokens_reasoning: number("/completion_tokens_details/reasoning_tokens"),
    })
}

/// Reads the usage of a response.
pub(crate) fn usage_of_response(value: &Value) -> Option<Usage> {
    let usage = value.get("usage").filter(|usage| usage.is_object())?;
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    Some(Usage {
        tokens_in: number("/input_tokens"),
        tokens_cached: number("/input_tokens_details/cached_tokens"),
        tokens_out: number("/output_tokens"),
        tokens_reasoning: number("/output_tokens_details/reasoning_tokens"),
    })
}

/// Reads the model that an answer comes from.
pub(crate) fn model_of(value: &Value) -> Option<String> {
    value.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()).map(str::to_owned)
}

/// What a piece of a chat completion adds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Delta {
    /// Text.
    pub(crate) text: String,
    /// Calls of tools: which one, its id and name where they are new, and more of its arguments.
    pub(crate) calls: Vec<(u64, Option<String>, Option<String>, String)>,
}

impl Delta {
    /// Makes the piece that is a whole call of a tool.
    pub(crate) fn of_call(at: usize, call: &ToolCall) -> Self {
        let call = (at as u64, Some(call.id.clone()), Some(call.name.clone()), call.arguments.clone());
        Self { text: String::new(), calls: vec![call] }
    }
}

/// A reply that is put together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    /// What was said so far.
    pub(crate) text: String,
    calls: BTreeMap<u64, ToolCall>,
    /// What was thought before.
    reasoning: Vec<Reasoning>,
    /// Why it ended, once it has.
    pub(crate) finish: Option<String>,
    /// What it took, if the endpoint said so.
    pub(crate) usage: Option<Usage>,
    /// The model that said it, as the endpoint calls it.
    pub(crate) model: Option<String>,
}

impl Reply {
    /// Reads a whole chat completion; nothing if it is none.
    pub(crate) fn of_chat(value: &Value) -> Option<Self> {
        let choice = value.get("choices")?.as_array()?.first()?;
        let message = choice.get("message")?;
        let mut reply = Self {
            text: text_of(message.get("content")),
            finish: Some(finish_of(choice).unwrap_or("stop").to_owned()),
            usage: usage_of_chat(value),
            model: model_of(value),
            ..Self::default()
        };
        if let Some(refusal) = message.get("refusal").and_then(Value::as_str)
            && reply.text.is_empty()
        {
            refusal.clone_into(&mut reply.text);
        }
        let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice);
        for (at, call) in calls.unwrap_or_default().iter().enumerate() {
            let text = |path: &str| call.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
            let call = ToolCall {
                id: text("/id"),
                name: text("/function/name"),
                arguments: text("/function/arguments"),
            };
            reply.calls.insert(at as u64, call);
        }
        Some(reply)
    }

    /// Takes a piece of a chat completion; nothing if it is none.
    pub(crate) fn take(&mut self, value: &Value) -> Option<Delta> {
        if let Some(usage) = usage_of_chat(value) {
            self.usage = Some(usage);
        }
        if self.model.is_none() {
            self.model = model_of(value);
        }
        let choices = value.get("choices")?.as_array()?;
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.iter().find(first) else { return Some(Delta::default()) };
        if let Some(finish) = finish_of(choice) {
            self.finish = Some(finish.to_owned());
        }
        let mut delta = Delta::default();
        let Some(piece) = choice.get("delta") else { return Some(delta) };
        delta.text = text_of(piece.get("content"));
        if delta.text.is_empty() {
            delta.text = text_of(piece.get("refusal"));
        }
        self.text += &delta.text;
        let calls = piece.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice);
        for (place, call) in calls.unwrap_or_default().iter().enumerate() {
            let at = call.get("index").and_then(Value::as_u64).unwrap_or(place as u64);
            let text =
                |path: &str| call.pointer(path).and_then(Value::as_str).filter(|text| !text.is_empty());
            let arguments = text("/function/arguments").unwrap_or_default();
            let known = self.calls.entry(at).or_insert_with(|| ToolCall {
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
            });
            let (id, name) = (text("/id"), text("/function/name"));
            if let Some(id) = id.filter(|_| known.id.is_empty()) {
                id.clone_into(&mut known.id);
            }
            if let Some(name) = name.filter(|_| known.name.is_empty()) {
                name.clone_into(&mut known.name);
            }
            known.arguments += arguments;
            delta.calls.push((at, id.map(str::to_owned), name.map(str::to_owned), arguments.to_owned()));
        }
        Some(delta)
    }

    /// Takes a part of the reply.
    pub(crate) fn add(&mut self, message: &Message) {
        if !message.text.is_empty() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text += &message.text;
        }
        for call in &message.tool_calls {
            self.calls.insert(self.calls.len() as u64, call.clone());
        }
        self.reasoning.extend(message.reasoning.iter().cloned());
    }

    /// Returns how long it is so far, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let call = |call: &ToolCall| call.id.len() + call.name.len() + call.arguments.len();
        self.text.len() + self.calls.values().map(call).sum::<usize>()
    }

    /// Tells whether the model has said that it is done.
    pub(crate) fn is_whole(&self) -> bool {
        self.finish.is_some()
    }

    /// Returns the calls of tools, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.calls.values()
    }

    /// Returns the reply as a message; nothing if nothing was said.
    pub(crate) fn message(&self) -> Option<Message> {
        let tool_calls: Vec<ToolCall> =
            self.calls.values().filter(|call| !call.id.is_empty()).cloned().collect();
        let says_nothing = self.text.trim().is_empty() && tool_calls.is_empty();
        (!says_nothing).then(|| Message {
            text: self.text.clone(),
            tool_calls,
            reasoning: self.reasoning.clone(),
            model: self.model.clone(),
            usage: self.usage,
            ..Message::default()
        })
    }
}

/// Reads why a reply ended. Some endpoints say "" as long as it has not.
fn finish_of(choice: &Value) -> Option<&str> {
    choice.get("finish_reason").and_then(Value::as_str).filter(|finish| !finish.is_empty())
}

fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}
