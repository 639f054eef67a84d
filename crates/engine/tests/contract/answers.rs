//! Answers to our questions and offers in any reasonable wording.

use super::deciding::{BREAD, SHIFT, after_bread};
use super::script::{Stage, play};
use segue_core::decision::Action;
use segue_core::session::Number;

const BACK: &str = "how long should the sourdough bread rise in the fridge before I bake the loaf?";
const HOLD: &str = "lifecycle.question = 'hold'";

/// Bread in #1, a laptop in #2, and a question whether another message about bread goes back to #1.
async fn asked() -> Stage {
    let script = format!(
        "{BREAD}
         10:04 user: /new
         10:05 user: {SHIFT} => continue #2
         10:05:10 assistant: Boot from a live medium and reinstall grub on the btrfs filesystem of the laptop.
         10:20 user: grub install says the efi partition is not mounted on the laptop
         10:20:10 assistant: Mount the efi partition under boot and run grub install again.
         10:40 user: {BACK} => ask semantic #2"
    );
    play(HOLD, &script).await
}

async fn check(answers: &[&str], action: Action, session: u32, held_in: u32) {
    for answer in answers {
        let mut stage = asked().await;
        let outcome = stage.say(&format!("10:41 user: {answer}")).await;
        assert_eq!((outcome.action, outcome.session), (action, Number(session)), "{answer}");
        let texts = stage.texts(held_in).await;
        assert_eq!(texts.last().map(String::as_str), Some(BACK), "{answer}: {texts:?}");
        stage.verify().await;
    }
}

/// a number with its sign or noun is a session's, and so is a bare one that the question names.
#[tokio::test]
async fn x14_the_number_of_a_session_answers() {
    Box::pin(check(&["#1", "1", "session 1", "go to #1", "回到#1"], Action::Resume, 1, 1)).await;
    Box::pin(check(&["#2", "2", "stay in #2", "number 2", "2号会话"], Action::Continue, 2, 2)).await;
    Box::pin(check(&["option 2", "the second one", "第二个"], Action::New, 3, 3)).await;
}

/// a session is named by what it is about.
#[tokio::test]
async fn x14_a_session_is_named_by_what_it_is_about() {
    let bread = ["put it in the sourdough session", "the bread one", "it belongs to the sourdough bread"];
    Box::pin(check(&bread, Action::Resume, 1, 1)).await;
    Box::pin(check(&["the laptop one", "keep it in the laptop session"], Action::Continue, 2, 2)).await;
}

/// who wants to start over while we ask means the message that we ask about; it goes along.
#[tokio::test]
async fn x14_a_wish_to_start_over_takes_the_message_along() {
    let wishes = [
        "yes it's a new topic",
        "different topic",
        "open a new session for it",
        "start a new session for it",
        "let's start over",
        "yes please, new one",
        "新开一个吧",
        "换个话题",
    ];
    Box::pin(check(&wishes, Action::New, 3, 3)).await;
    Box::pin(check(
        &["stay", "keep it here", "no keep going", "留在这里", "不用，继续"],
        Action::Continue,
        2,
        2,
    ))
    .await;
    // What has a topic of its own begins with that.
    let mut stage = asked().await;
    let outcome = stage.say("10:41 user: new topic: which plants like shade?").await;
    assert_eq!((outcome.action, outcome.session), (Action::New, Number(3)));
    assert_eq!(stage.texts(3).await, ["new topic: which plants like shade?"]);
}

/// the same after an offer, where the message was answered already.
#[tokio::test]
async fn x14_a_wish_to_start_over_takes_an_offer() {
    for wish in ["different topic", "start a new session for it", "let's start over", "另开一个会话吧"]
    {
        let script =
            format!("10:04 user: {SHIFT} => continue semantic #1\n10:04:10 assistant: Reinstall grub.");
        let mut stage = after_bread("lifecycle.shift.threshold = 0.9999", &script).await;
        let outcome = stage.say(&format!("10:05 user: {wish}")).await;
        assert_eq!((outcome.action, outcome.session), (Action::New, Number(2)), "{wish}");
        assert_eq!(stage.texts(2).await, [SHIFT, "Reinstall grub."], "{wish}");
    }
    // "Knew" is no "new", and a number may answer the model.
    for text in ["I knew it", "2", "the second one", "no"] {
        let script =
            format!("10:04 user: {SHIFT} => continue semantic #1\n10:04:10 assistant: Reinstall grub.");
        let mut stage = after_bread("lifecycle.shift.threshold = 0.9999", &script).await;
        assert_eq!(stage.say(&format!("10:05 user: {text}")).await.session, Number(1), "{text}");
    }
}

/// "back to #1" goes back without any question.
#[tokio::test]
async fn x14_a_number_in_plain_words_goes_back() {
    for text in ["back to #1", "let's go to session 1", "回到1号会话吧"] {
        let mut stage = after_bread("", "10:04 user: /new").await;
        stage.play(&format!("10:05 user: {SHIFT}")).await;
        let outcome = stage.say(&format!("10:06 user: {text}")).await;
        assert_eq!((outcome.action, outcome.session), (Action::Resume, Number(1)), "{text}");
    }
    for text in ["back to #7", "open #1 and fix it"] {
        let mut stage = after_bread("", "10:04 user: /new").await;
        stage.play(&format!("10:05 user: {SHIFT}")).await;
        assert_eq!(stage.say(&format!("10:06 user: {text}")).await.session, Number(2), "{text}");
    }
}
