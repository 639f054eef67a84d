//! Ids as channels give them: texts, or numbers.

use crate::description::SAYS_SOMETHING;
use serde::Deserialize;
use std::borrow::Cow;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// An id: a text, or a number, which some channels count in.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Id {
    /// A text.
    Text(String),
    /// A number.
    #[schema(value_type = f64)]
    Number(serde_json::Number),
}

/// How an [`Id`] is described that must not be blank.
#[derive(Debug)]
pub struct PresentId;

/// How an [`Id`] is described that may be empty, which means that there is none, but not blank.
#[derive(Debug)]
pub struct EmptyOrId;

fn either(pattern: String, description: &str) -> RefOr<Schema> {
    let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern));
    let number = ObjectBuilder::new().schema_type(Type::Number);
    let either = OneOfBuilder::new().item(text).item(number).description(Some(description));
    RefOr::T(Schema::OneOf(either.build()))
}

impl PartialSchema for PresentId {
    fn schema() -> RefOr<Schema> {
        either(SAYS_SOMETHING.to_owned(), "An id that is not blank: a text, or a number.")
    }
}

impl PartialSchema for EmptyOrId {
    fn schema() -> RefOr<Schema> {
        either(
            format!("^$|{SAYS_SOMETHING}"),
            "An id, or an empty text for none; it is not white space alone.",
        )
    }
}

impl ToSchema for EmptyOrId {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("EmptyOrId")
    }
}

impl ToSchema for PresentId {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("PresentId")
    }
}

impl Id {
    /// Returns the id as a text.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}
