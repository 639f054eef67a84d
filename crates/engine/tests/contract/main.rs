//! The contract, rule by rule. A test that proves a rule carries its id.

mod lifecycle;
mod navigation;
mod script;
mod users;
