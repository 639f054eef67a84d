//! A provider that fails, refuses, or does not stream (finding 20).

use super::{chat, world};
use crate::chat_endpoint::{Endpoint, Reply};

#[test]
fn fc20_errors_have_words_and_failed_turns_do_not_pile_up() {
    let world = world();
    let full = "This model's maximum context length is 8192 tokens.";
    let model = Endpoint::new(vec![
        Reply::Refuses(400, full),
        Reply::Status(503),
        Reply::Says(&["Two."]),
        Reply::Whole("It came in one piece."),
    ]);
    let with = ["--model-url", model.url(), "--model-name", "tiny"];
    let ran = chat(&world, &with, "one\ntwo\n/retry\nthree\n");
    assert!(ran.err.contains(full), "the endpoint's own words: {}", ran.err);
    assert!(ran.err.contains("/retry asks again"), "{}", ran.err);
    assert_eq!(ran.out, "  Two.\n  It came in one piece.\n");
    let given = model.given();
    assert_eq!(given[2], ["user: two"], "what got no answer does not pile up");
    assert_eq!(given[3], ["user: two", "assistant: Two.", "user: three"]);
    // The log has lost nothing.
    assert_eq!(super::said_in(&world, 1).len(), 7);
}

/// A bot has the same: a failed turn leaves the message, and the next one works.
#[test]
fn fc20_a_failure_starts_no_session() {
    let world = world();
    let model = Endpoint::new(vec![Reply::Status(500), Reply::Says(&["Here."])]);
    chat(&world, &["--model-url", model.url(), "--model-name", "tiny"], "one\ntwo\n");
    assert_eq!(super::list(&world).len(), 1);
}
