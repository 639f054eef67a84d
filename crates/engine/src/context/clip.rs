//! Clipping: a message that is longer than half of the room is shown with its middle left out.
//!
//! One page of output that a tool was asked for must not keep a conversation from going on. Beginning and
//! end stay: the one says what it is, the other how it went. The log keeps all of it.
//!
//! What the model thought is never clipped: providers refuse blocks that were changed, and some of a message's blocks
//! without the others. All of it is left out where it takes more than half of what the message may cost.

use super::budget::Budget;
use segue_core::message::Message;

/// A text is never clipped to less than this, in characters.
const CHARS_MIN: usize = 64;

/// Returns a message that is too long as it is shown: it must not cost more than `tokens_max`.
pub(super) fn clip(budget: &Budget<'_>, message: &Message, tokens_max: u64) -> Message {
    let parts = 1 + message.tool_calls.iter().filter(|call| !call.arguments.is_empty()).count() as u64;
    let mut clipped = message.clone();
    let mut thoughts = budget.reasoning(message);
    if thoughts > tokens_max / 2 {
        clipped.reasoning.retain(|one| !budget.gives_back(one));
        thoughts = 0;
        if budget.message(&clipped) <= tokens_max {
            return clipped;
        }
    }
    let share = (tokens_max - thoughts) / parts;
    clipped.text = text(budget, &message.text, share);
    for call in &mut clipped.tool_calls {
        call.arguments = text(budget, &call.arguments, share);
    }
    clipped
}

/// Halves what is kept until it fits.
fn text(budget: &Budget<'_>, whole: &str, tokens_max: u64) -> String {
    let chars = whole.chars().count();
    if chars <= CHARS_MIN || budget.text(whole) <= tokens_max {
        return whole.to_owned();
    }
    // Few texts have more than eight characters to a token: what is far too long is not counted again and again.
    let mut keep = usize::try_from(tokens_max.saturating_mul(8)).unwrap_or(usize::MAX).min(chars / 2);
    loop {
        keep = keep.max(CHARS_MIN / 2);
        let shown = without_middle(whole, chars, keep);
        if keep <= CHARS_MIN / 2 || budget.text(&shown) <= tokens_max {
            return shown;
        }
        keep /= 2;
    }
}

fn without_middle(whole: &str, chars: usize, keep: usize) -> String {
    let tail = keep / 4;
    let at = |nth: usize| whole.char_indices().nth(nth).map_or(whole.len(), |(at, _)| at);
    let (head, behind) = (&whole[..at(keep - tail)], &whole[at(chars - tail)..]);
    format!("{head}\n[{} characters are left out here]\n{behind}", chars - keep)
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::message::{Reasoning, ReasoningForm, ToolCall};
    use segue_core::pins::Model;
    use segue_signals::context::EstimatedTokens;

    #[test]
    fn a_long_message_keeps_its_ends() {
        let budget = Budget::of_window(1_000, &EstimatedTokens);
        let long = Message::text(format!("begin {} 结束", "中".repeat(100_000)));
        let clipped = clip(&budget, &long, 100);
        assert!(clipped.text.starts_with("begin 中") && clipped.text.ends_with("中 结束"));
        assert!(clipped.text.contains("characters are left out here"));
        assert!(budget.message(&clipped) <= 100);
    }

    #[test]
    fn reasoning_is_shown_whole_or_not_at_all() {
        let model = Model::named("main");
        let budget = Budget { model: Some(&model), ..Budget::of_window(1_000, &EstimatedTokens) };
        let thought = |model: &str, signature: String| Reasoning {
            form: ReasoningForm::Thinking,
            text: "hm".into(),
            signature,
            id: None,
            model: model.into(),
        };
        let mut message = Message::text("short");
        message.reasoning = vec![thought("main", "a1".repeat(9_000)), thought("other", "a1".repeat(9_000))];
        let clipped = clip(&budget, &message, 200);
        assert_eq!(
            (clipped.text.as_str(), clipped.reasoning.len()),
            ("short", 1),
            "another model's takes no room"
        );
        message.text = "y".repeat(9_000);
        message.reasoning[0].signature = "signed".into();
        let clipped = clip(&budget, &message, 200);
        assert_eq!(clipped.reasoning, message.reasoning);
        assert!(clipped.text.contains("left out here") && budget.message(&clipped) <= 200);
    }

    #[test]
    fn long_arguments_are_clipped_too() {
        let budget = Budget::of_window(1_000, &EstimatedTokens);
        let call = ToolCall { id: "a".into(), name: "write".into(), arguments: "x".repeat(9_000) };
        let message = Message { tool_calls: vec![call], ..Message::text("y".repeat(9_000)) };
        assert!(budget.message(&clip(&budget, &message, 200)) <= 220);
    }
}
