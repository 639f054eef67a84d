//! Every shape of every transcript is one that the provider takes (L-7).
//!
//! The validators are written from the providers' public documentation and the errors that their
//! interfaces answer with; they share no code with the shapes. Where a provider is lenient or models
//! differ, they ask for what the strictest takes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod anthropic;
mod cases;
mod check;
mod openai_chat;
mod openai_responses;
mod oracle;
mod refused;
mod transcript;

use proptest::prelude::*;
use segue_core::message::{Message, Role};
use segue_core::pins::Model;
use segue_engine::shapes::{Shape, project, project_for};
use serde_json::Value;

/// Validates a projection in its shape.
fn valid(shape: Shape, value: &Value) -> Result<(), String> {
    match shape {
        Shape::OpenAiChat => openai_chat::valid(value),
        Shape::OpenAiResponses => openai_responses::valid(value),
        Shape::Anthropic => anthropic::valid(value),
        _ => Err(format!("nobody checks {shape}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// L-7: whatever was said, the provider takes it, nothing changes its order, no result strays.
    #[test]
    fn l7_every_transcript_fits_every_shape(messages in transcript::any()) {
        let before = messages.clone();
        for shape in Shape::ALL {
            let value = project(shape, &messages);
            prop_assert_eq!(valid(shape, &value), Ok(()), "{}: {:#}", shape, value);
            prop_assert_eq!(&messages, &before, "the messages stay as they are");
            prop_assert_eq!(project(shape, &messages).to_string(), value.to_string(), "same bytes again");
            prop_assert_eq!(oracle::texts_shown(shape, &value), oracle::texts_said(shape, &messages));
            oracle::results_belong(&oracle::results_shown(shape, &value), &messages)?;
        }
    }

    /// L-7: a model is given back what it thought itself, in its own form, and nothing that another one signed; all else
    /// is as if nobody had thought anything.
    #[test]
    fn l7_reasoning_goes_back_to_its_own_model_only(messages in transcript::any()) {
        let model = Model::named(transcript::MODELS[0]);
        for shape in Shape::ALL {
            let value = project_for(shape, &messages, &model);
            prop_assert_eq!(valid(shape, &value), Ok(()), "{}: {:#}", shape, value);
            let shown = value.to_string();
            prop_assert!(!shown.contains(&format!("~{}", transcript::MODELS[1])), "{}: {}", shape, shown);
            prop_assert!(!project(shape, &messages).to_string().contains('~'), "nobody is asked");
            prop_assert_eq!(oracle::texts_shown(shape, &value), oracle::texts_said(shape, &messages));
            oracle::thoughts_shown(shape, &shown, &messages)?;
        }
    }

    /// L-7: the three shapes tell the same story.
    #[test]
    fn l7_shapes_agree(messages in transcript::any()) {
        let shown = Shape::ALL.map(|shape| oracle::results_shown(shape, &project(shape, &messages)));
        prop_assert_eq!(&shown[0], &shown[1]);
        prop_assert_eq!(&shown[0], &shown[2]);
    }

    /// A provider's prompt cache keeps working: what was shown stays as it was when the person goes on.
    #[test]
    fn l7_what_was_shown_stays(messages in transcript::any()) {
        let mut longer = messages.clone();
        longer.push((Role::User, Message::text("and now?")));
        for (shape, list) in [(Shape::OpenAiChat, "messages"), (Shape::OpenAiResponses, "input")] {
            let (was, is) = (project(shape, &messages), project(shape, &longer));
            let (was, is) = (was[list].as_array().unwrap(), is[list].as_array().unwrap());
            // Of a conversation without a word only the mark is shown.
            if was.len() < is.len() {
                prop_assert_eq!(&is[..was.len()], &was[..]);
            } else {
                prop_assert_eq!((was.len(), is.len()), (1, 1));
            }
        }
        let (was, is) = (project(Shape::Anthropic, &messages), project(Shape::Anthropic, &longer));
        prop_assert_eq!(&is["system"], &was["system"]);
        let (was, is) = (was["messages"].as_array().unwrap(), is["messages"].as_array().unwrap());
        prop_assert_eq!(&is[..was.len() - 1], &was[..was.len() - 1]);
    }
}
