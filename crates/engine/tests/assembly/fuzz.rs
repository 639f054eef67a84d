//! Whatever was said, and however small the budget: every provider takes the context (L-7).

use crate::table::Table;
use crate::{anthropic, openai_chat, openai_responses, transcript};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use segue_core::message::{Message, Role};
use segue_engine::context::{Context, Unassembled};
use segue_engine::shapes::Shape;
use std::cell::RefCell;

fn valid(shape: Shape, context: &Context) -> Result<(), String> {
    let value = context.project(shape);
    match shape {
        Shape::OpenAiChat => openai_chat::valid(&value),
        Shape::OpenAiResponses => openai_responses::valid(&value),
        Shape::Anthropic => anthropic::valid(&value),
        _ => Err(format!("nobody checks {shape}")),
    }
}

#[test]
fn l7_every_assembled_context_is_taken() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let table = RefCell::new(runtime.block_on(Table::new("")));
    let cases = RefCell::new(0);
    let strategy = (prop::collection::vec(transcript::any(), 1..4), 60u64..1_500);
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&strategy, |(transcripts, window)| {
            let table = &mut *table.borrow_mut();
            let number = cases.replace_with(|n| *n + 1);
            table.scope = format!("agent:main:cli:direct:fuzz{number}").parse().unwrap();
            let messages: Vec<(Role, Message)> = transcripts.into_iter().flatten().collect();
            let mut taken = 0;
            for (role, message) in messages {
                // What the engine does not take is not in the log.
                taken += usize::from(runtime.block_on(table.take(role, message)).is_ok());
            }
            prop_assume!(taken > 0);
            for window in [window, 100_000] {
                match runtime.block_on(table.context(window)) {
                    Ok(context) => {
                        prop_assert!(context.tokens <= window - window / 8, "{} of {window}", context.tokens);
                        for shape in Shape::ALL {
                            prop_assert_eq!(valid(shape, &context), Ok(()), "{}", shape);
                        }
                    }
                    Err(Unassembled::Short(short)) => {
                        prop_assert!(window < 500 && short.over() > 0, "{short}")
                    }
                    Err(Unassembled::Engine(error)) => prop_assert!(false, "{error}"),
                }
            }
            Ok(())
        })
        .unwrap();
}
