//! Context assembly: the order of the parts, the budget, the stable prefix, the cost, and that every provider takes
//! what is assembled (M-D1, R-4, R-5, L-7).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../shapes/anthropic.rs"]
mod anthropic;
#[path = "../shapes/check.rs"]
mod check;
#[path = "../shapes/openai_chat.rs"]
mod openai_chat;
#[path = "../shapes/openai_responses.rs"]
mod openai_responses;
#[path = "../shapes/transcript.rs"]
mod transcript;

mod cost;
mod counting;
mod fuzz;
mod parts;
mod prefix;
mod reasoning;
mod table;
mod warm;
