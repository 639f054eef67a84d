//! The weights, as `segue-lab fit-arbiter` prints them. Fit again rather than edit: a test compares.

use super::fit::Fitted;

/// Fitted on `eval/dev`, in the order of [`super::NAMES`].
pub const WEIGHTS: Fitted = Fitted {
    bias: -3.0649,
    weights: [
        0.2215,  // logit of the classifier's session output
        0.1529,  // logit of its task output
        0.2832,  // the lower of the two
        0.5560,  // log of the silence in minutes, at most ten
        1.4441,  // log of the length against the user's usual
        1.5674,  // several content words, none of them known
        -0.6078, // content words of the last answer
        2.1112,  // opens with a request
        0.8079,  // asks in full, without a link
        -0.8464, // a pronoun among the first words
        -1.1694, // opens with a link
        -2.2809, // the assistant had asked something
        1.2833,  // the user's last message closed the matter
        -2.9024, // code or a log, and no question
        -3.6586, // not the language the user wrote before
    ],
};
