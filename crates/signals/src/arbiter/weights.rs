//! The weights, as `examples/fit_arbiter.rs` prints them. Fit again rather than edit: a test compares.

use super::fit::Fitted;

/// Fitted on `eval/dev`, in the order of [`super::NAMES`].
pub const WEIGHTS: Fitted = Fitted {
    bias: -4.2127,
    weights: [
        0.4135,  // logit of the classifier's session output
        0.3029,  // logit of its task output
        0.4349,  // log of the silence in minutes
        -0.5358, // log of the silence past ten minutes
        0.9893,  // log of the content words
        0.9346,  // log of the length against the session's other messages of the user
        1.2991,  // several content words, none of them known
        -0.9405, // content words of the last answer
        -1.1112, // content words of the user's last message
        2.1966,  // opens a request of its own
        -0.3220, // a pronoun or "the one" among the first words
        0.5733,  // goes on from what was said
        -2.3116, // the assistant had asked something
        0.7634,  // the user's last message closed the matter
        -2.9733, // code, a log or a path
        -2.3516, // another language than the user's last message
    ],
};
