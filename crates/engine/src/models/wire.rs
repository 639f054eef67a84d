//! What goes over the wire, as OpenAI-compatible endpoints have it.

use super::client::SamplingOptions;
use super::failure::{Failure, Flaw};
use super::types::{Completion, Format, Message, Options, Usage};
use segue_core::pins::{Temperature, Thinking, Verbosity};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question.
#[derive(Serialize)]
pub(super) struct Request<'a> {
    model: &'a str,
    messages: &'a [Message],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Serialize)]
struct ResponseFormat {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl<'a> Request<'a> {
    pub fn whole(model: &'a str, messages: &'a [Message], options: &Options) -> Self {
        let response_format = match options.format {
            Format::Text => None,
            Format::JsonObject => Some(ResponseFormat { kind: "json_object" }),
        };
        let (temperature, max_tokens) = (options.temperature, options.tokens_max);
        let (reasoning_effort, verbosity) = (None, None);
        Self {
            model,
            messages,
            temperature,
            reasoning_effort,
            verbosity,
            max_tokens,
            response_format,
            stream: None,
        }
    }

    pub(crate) fn piecewise(model: &'a str, messages: &'a [Message], manner: &SamplingOptions) -> Self {
        // What others call off, these endpoints call none.
        let effort = |thinking: Thinking| if thinking == Thinking::Off { "none" } else { thinking.name() };
        Self {
            model,
            messages,
            temperature: manner.temperature.map(Temperature::value),
            reasoning_effort: manner.thinking.map(effort),
            verbosity: manner.verbosity.map(Verbosity::name),
            max_tokens: None,
            response_format: None,
            stream: Some(true),
        }
    }
}

/// Reads a whole answer.
pub(super) fn completion(bytes: &[u8]) -> Result<Completion, Failure> {
    let answer: Whole =
        serde_json::from_slice(bytes).map_err(|_| Failure::Malformed(Flaw::NotACompletion))?;
    let text = answer.choices.into_iter().next().and_then(|choice| choice.message.content);
    let text = text.filter(|text| !text.trim().is_empty()).ok_or(Failure::Malformed(Flaw::NoText))?;
    Ok(Completion { text, usage: answer.usage.unwrap_or_default().into() })
}

/// How many characters of what an endpoint says about a failure are shown.
const REFUSAL_CHARS_MAX: usize = 500;

/// Reads what an endpoint says about a failure, in any of the usual shapes.
pub(super) fn refusal(bytes: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let first = value.get(0).unwrap_or(&value);
    let error = first.get("error").unwrap_or(first);
    let said = match error {
        Value::String(said) => Some(said.as_str()),
        error => ["message", "detail", "error"].iter().find_map(|name| error.get(name)?.as_str()),
    };
    let said: Vec<&str> = said?.split_whitespace().collect();
    let said: String = said.join(" ").chars().take(REFUSAL_CHARS_MAX).collect();
    (!said.is_empty()).then_some(said)
}

/// A piece of an answer.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Piece {
    pub text: String,
    pub is_last: bool,
    pub usage: Option<Usage>,
}

/// Reads a piece of an answer.
pub(super) fn piece(data: &str) -> Result<Piece, Failure> {
    let part: Part = serde_json::from_str(data).map_err(|_| Failure::Malformed(Flaw::NotACompletion))?;
    if part.error.is_some() {
        return Err(Failure::Malformed(Flaw::Error));
    }
    let usage = part.usage.map(Usage::from);
    let Some(choice) = part.choices.into_iter().next() else {
        return Ok(Piece { usage, ..Piece::default() });
    };
    let text = choice.delta.and_then(|delta| delta.content).unwrap_or_default();
    Ok(Piece { text, is_last: choice.finish_reason.is_some(), usage })
}

#[derive(Deserialize)]
struct Whole {
    choices: Vec<Choice>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Content,
}

#[derive(Deserialize)]
struct Content {
    content: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    choices: Vec<PartChoice>,
    usage: Option<Tokens>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct PartChoice {
    delta: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Self { tokens_in: tokens.prompt_tokens, tokens_out: tokens.completion_tokens }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_answers() {
        let read = |text: &str| completion(text.as_bytes());
        let good = r#"{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"yes"}}],
            "usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}"#;
        let usage = Usage { tokens_in: 7, tokens_out: 1 };
        assert_eq!(read(good), Ok(Completion { text: "yes".into(), usage }));
        for no_text in [
            r#"{"choices":[]}"#,
            r#"{"choices":[{"message":{"content":null}}]}"#,
            r#"{"choices":[{"message":{"content":" "}}]}"#,
        ] {
            assert_eq!(read(no_text), Err(Failure::Malformed(Flaw::NoText)), "{no_text}");
        }
        for other in ["", "yes", "[]", "{}", r#"{"error":{"message":"no"}}"#, r#"{"choices":[{"text":"a"}]}"#]
        {
            assert_eq!(read(other), Err(Failure::Malformed(Flaw::NotACompletion)), "{other}");
        }
    }

    #[test]
    fn reads_what_an_endpoint_says_about_a_failure() {
        let read = |text: &str| refusal(text.as_bytes());
        let full = Some("maximum context length is 8192 tokens".to_owned());
        for body in [
            r#"{"error":{"message":"maximum context length\n is 8192 tokens","type":"x"}}"#,
            r#"{"error":"maximum context length is 8192 tokens"}"#,
            r#"{"message":"maximum context length is 8192 tokens"}"#,
            r#"{"detail":"maximum context length is 8192 tokens"}"#,
            r#"[{"error":{"message":"maximum context length is 8192 tokens"}}]"#,
        ] {
            assert_eq!(read(body), full, "{body}");
        }
        assert_eq!((read(""), read("<html>"), read("{}")), (None, None, None));
    }

    #[test]
    fn reads_pieces() {
        let text = |data: &str| piece(data).map(|piece| (piece.text, piece.is_last));
        assert_eq!(
            text(r#"{"choices":[{"delta":{"role":"assistant","content":"a"}}]}"#),
            Ok(("a".into(), false))
        );
        assert_eq!(text(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#), Ok((String::new(), true)));
        assert_eq!(text(r#"{"choices":[],"usage":{"prompt_tokens":1}}"#), Ok((String::new(), false)));
        assert_eq!(text(r#"{"error":{"message":"full"}}"#), Err(Failure::Malformed(Flaw::Error)));
        assert_eq!(text("?"), Err(Failure::Malformed(Flaw::NotACompletion)));
    }
}
