//! What an answer tells in its headers: where the request ended up, and what was done. They are all percent-encoded, `%` too.

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use segue_core::decision::Action;
use segue_engine::Outcome;
use segue_engine::config::Notices;

/// What does not stand in a header as it is, besides what is not ASCII.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%').add(b'"');

/// What is answered in the headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    session: String,
    action: Action,
    notice: Option<String>,
}

impl Marks {
    /// Tells what was done in a session.
    pub(super) fn new(session: String, action: Action, notice: Option<String>) -> Self {
        Self { session, action, notice }
    }

    /// Tells what came of a message or a request.
    pub(super) fn of(outcome: &Outcome) -> Self {
        let (session, notice) = (outcome.session_key().to_string(), outcome.notice.clone());
        Self { session, action: outcome.action, notice }
    }

    /// Tells also what was done before. A boundary counts more than going on behind it.
    pub(super) fn after(mut self, moved: Option<&Outcome>) -> Self {
        let Some(moved) = moved else { return self };
        if self.action.goes_on() {
            self.action = moved.action;
        }
        let notices: Vec<String> = moved.notice.iter().cloned().chain(self.notice).collect();
        self.notice = (!notices.is_empty()).then(|| notices.join("\n"));
        self
    }

    /// Writes the headers of an answer.
    pub(crate) fn write(&self, response: &mut Response, notices: Notices) {
        let put = |response: &mut Response, name: &'static str, text: &str| {
            let text = utf8_percent_encode(text, ESCAPED).to_string();
            if let Ok(value) = HeaderValue::from_str(&text) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        };
        put(response, "x-segue-session", &self.session);
        put(response, "x-segue-action", self.action.name());
        if let Some(notice) = self.notice.as_deref().filter(|_| notices != Notices::None) {
            put(response, "x-segue-notice", notice);
        }
    }

    /// Returns what stands before the reply.
    pub(super) fn prefix(&self, notices: Notices) -> Option<String> {
        let notice = self.notice.as_deref().filter(|_| notices == Notices::Prefix)?;
        Some(format!("{notice}\n\n"))
    }
}
