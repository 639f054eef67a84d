//! Pages of lists, as OpenAI's interface has them: the newest first, so many, behind an item.

use crate::problem::Problem;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many are listed unless it is said, and at most.
const LIMIT: usize = 20;
const LIMIT_MAX: usize = 100;

/// What is asked for, as it was written.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    limit: Option<String>,
    #[serde(default)]
    order: Option<String>,
}

/// In which order items are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    OldestFirst,
    NewestFirst,
}

/// Which page of a list is asked for.
#[derive(Debug)]
pub(crate) struct PageAsked {
    after: Option<String>,
    limit: usize,
    order: Order,
}

/// The page that a request asks for.
pub(crate) struct Listed(pub(crate) PageAsked);

impl<S: Send + Sync> FromRequestParts<S> for Listed {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let asked = Query::<Asked>::from_request_parts(parts, state).await;
        let Query(asked) = asked.map_err(|error| Problem::malformed(error.body_text()))?;
        let limit = match asked.limit.map(|limit| limit.parse()) {
            None => LIMIT,
            Some(Ok(limit @ 1..=LIMIT_MAX)) => limit,
            Some(_) => {
                let detail = format!("'limit' is a number from 1 to {LIMIT_MAX}");
                return Err(Problem::malformed(detail).of_parameter("limit"));
            }
        };
        let order = match asked.order.as_deref() {
            None | Some("desc") => Order::NewestFirst,
            Some("asc") => Order::OldestFirst,
            Some(_) => return Err(Problem::malformed("'order' is 'asc' or 'desc'").of_parameter("order")),
        };
        Ok(Self(PageAsked { after: asked.after, limit, order }))
    }
}

impl PageAsked {
    /// Asks for all of what was just added, in order.
    pub(crate) fn all() -> Self {
        Self { after: None, limit: LIMIT_MAX, order: Order::OldestFirst }
    }

    /// Gives a page of items that come in order.
    pub(crate) fn page(&self, mut items: Vec<Value>) -> Result<Value, Problem> {
        if self.order == Order::NewestFirst {
            items.reverse();
        }
        let id = |item: &Value| item.get("id").and_then(Value::as_str).map(str::to_owned);
        if let Some(after) = &self.after {
            let at = items.iter().position(|item| id(item).as_ref() == Some(after));
            let missing = || Problem::not_found(format!("there is no item {after:?}")).of_parameter("after");
            items.drain(..=at.ok_or_else(missing)?);
        }
        let has_more = items.len() > self.limit;
        items.truncate(self.limit);
        let (first, last) = (items.first().and_then(id), items.last().and_then(id));
        Ok(
            json!({ "object": "list", "data": items, "first_id": first, "last_id": last, "has_more": has_more }),
        )
    }
}
