//! Items: what the log cannot tell of them. It keeps messages; their ids at the client, and kinds of items that mean the same
//! to a model, stand beside it. What an item says beyond its text (a picture) goes with an erasure.

use super::chat::set;
use super::request_message::{RequestMessage, items_at, thought_alone, to_items};
use crate::app::App;
use crate::problem::Problem;
use crate::values::Space;
use segue_core::entry::Seq;
use segue_core::message::{Message, Role};
use segue_core::scope;
use segue_store::values::{message_key, message_keys, words_key};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is known of the items of an entry besides its message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ItemMarks {
    /// Their ids, in order; those of their places in the log if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ids: Vec<String>,
    /// What kind the item is, where the message does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<ItemKind>,
}

/// A kind of item that the log keeps as another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ItemKind {
    /// A message of the developer, kept as one of the system.
    Developer,
    /// A call of a tool that takes a text, kept as one of a function.
    CustomToolCall,
    /// The result of such a call.
    CustomToolCallOutput,
}

impl ItemKind {
    fn of(item: &Value) -> Option<Self> {
        let text = |field: &str| item.get(field).and_then(Value::as_str);
        match (text("type"), text("role")) {
            (Some("custom_tool_call"), _) => Some(Self::CustomToolCall),
            (Some("custom_tool_call_output"), _) => Some(Self::CustomToolCallOutput),
            (None | Some("message"), Some("developer")) => Some(Self::Developer),
            _ => None,
        }
    }
}

/// An item that a client gave: the message that is kept, and what goes beside it.
pub(crate) struct NewItem {
    pub(crate) said: RequestMessage,
    kind: Option<ItemKind>,
}

/// Reads items so that each is a message of its own: then each can be erased alone.
pub(crate) fn separate(items: &[Value]) -> Result<Vec<NewItem>, Problem> {
    let mut all = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let kind = ItemKind::of(item);
        let mut said = items_at(at, std::slice::from_ref(item))?;
        said.extend(thought_alone(item));
        all.extend(said.into_iter().map(|said| NewItem { said, kind }));
    }
    Ok(all)
}

fn key(scope: &scope::Key, seq: u64) -> String {
    words_key(scope, &format!("{seq:020}"))
}

impl App {
    /// Writes down what the log cannot tell of an item that a client gave.
    pub(crate) async fn mark_item(
        &self,
        scope: &scope::Key,
        seq: u64,
        item: &NewItem,
    ) -> Result<(), Problem> {
        if let Some(content) = &item.said.content {
            self.keep_of_message(scope, Seq(seq), content).await?;
        }
        match item.kind {
            Some(_) => self.mark_items(scope, seq, &ItemMarks { kind: item.kind, ids: Vec::new() }).await,
            None => Ok(()),
        }
    }

    /// Writes down what the log cannot tell of an entry's items.
    pub(crate) async fn mark_items(
        &self,
        scope: &scope::Key,
        seq: u64,
        marks: &ItemMarks,
    ) -> Result<(), Problem> {
        Ok(self.values.put(Space::Item, &key(scope, seq), marks, None).await?)
    }

    /// Reads what stands beside all entries of a scope.
    pub(crate) async fn marked(&self, scope: &scope::Key) -> Result<Marked, Problem> {
        let (now, values) = (self.engine.now(), &self.values);
        let marks = values.list_under(Space::Item, &words_key(scope, ""), now).await?;
        let contents = values.list_under(Space::Words, &message_keys(scope), now).await?;
        Ok(Marked { marks: by_seq(marks), contents: by_seq(contents) })
    }

    /// Reads what stands beside one entry.
    pub(crate) async fn marked_at(&self, scope: &scope::Key, seq: u64) -> Result<Marked, Problem> {
        let (now, values) = (self.engine.now(), &self.values);
        let marks: Option<ItemMarks> = values.get(Space::Item, &key(scope, seq), now).await?;
        let content: Option<Value> = values.get(Space::Words, &message_key(scope, Seq(seq)), now).await?;
        Ok(Marked {
            marks: marks.map(|marks| (seq, marks)).into_iter().collect(),
            contents: content.map(|content| (seq, content)).into_iter().collect(),
        })
    }
}

/// What stands beside entries, by their places in the log.
#[derive(Debug, Default)]
pub(crate) struct Marked {
    marks: BTreeMap<u64, ItemMarks>,
    contents: BTreeMap<u64, Value>,
}

fn by_seq<T>(values: Vec<(String, T)>) -> BTreeMap<u64, T> {
    let seq = |key: &str| key.rsplit(['/', ':']).next()?.parse().ok();
    values.into_iter().filter_map(|(key, value)| Some((seq(&key)?, value))).collect()
}

impl Marked {
    /// Writes a message as the items that a client gave or was given.
    pub(crate) fn items(&self, role: Role, message: &Message, seq: u64) -> Vec<Value> {
        let mut items = to_items(role, message, &seq.to_string());
        if let (Some(content), Some(item)) = (self.contents.get(&seq), items.first_mut()) {
            set(item, "content", content.clone());
        }
        let Some(marks) = self.marks.get(&seq) else { return items };
        if let (Some(kind), Some(item)) = (marks.kind, items.last_mut()) {
            change(item, kind);
        }
        for (item, id) in items.iter_mut().zip(&marks.ids) {
            set(item, "id", id.clone().into());
        }
        items
    }
}

/// Makes an item one of another kind.
fn change(item: &mut Value, kind: ItemKind) {
    match kind {
        ItemKind::Developer => set(item, "role", "developer".into()),
        ItemKind::CustomToolCallOutput => set(item, "type", "custom_tool_call_output".into()),
        ItemKind::CustomToolCall => {
            set(item, "type", "custom_tool_call".into());
            if let Value::Object(fields) = item {
                let arguments = fields.remove("arguments").unwrap_or_default();
                let wrapped: Value =
                    serde_json::from_str(arguments.as_str().unwrap_or_default()).unwrap_or(json!({}));
                fields.insert("input".into(), wrapped.get("input").cloned().unwrap_or_default());
            }
        }
    }
}
