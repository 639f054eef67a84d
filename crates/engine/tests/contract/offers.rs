//! Offers besides the answer: how long they stand, how they are taken, and coming back after a night.
//! Under the default settings, except that nothing splits by itself where an offer is wanted.

use super::deciding::{BREAD, SHIFT, after_bread};
use super::script::{Stage, play, stage_on};
use segue_core::decision::Action;
use segue_core::observed::Answer;
use segue_core::session::Number;
use segue_store::memory::Memory;
use std::sync::Arc;

const OFFERS: &str = "lifecycle.shift.threshold = 0.9999";
const REPLY: &str = "Boot from a live medium and reinstall grub.";

/// Bread, then another topic with an offer, and the answer to it.
async fn offered(reply: &str) -> Stage {
    let script = format!("10:04 user: {SHIFT} => continue semantic #1\n10:04:10 assistant: {reply}");
    after_bread(OFFERS, &script).await
}

/// Bread, and then a laptop in a session of its own.
fn bread_and_laptop() -> String {
    format!(
        "{BREAD}
         10:04 user: /new
         10:05 user: {SHIFT} => continue #2
         10:05:10 assistant: Boot from a live medium and reinstall grub on the btrfs filesystem of the laptop.
         10:20 user: grub install says the efi partition is not mounted on the laptop
         10:20:10 assistant: Mount the efi partition under boot and run grub install again."
    )
}

const BACK: &str = "how long should the sourdough bread rise in the fridge before I bake the loaf?";

/// What other sessions are about.
const NOTES: [&str; 4] = [
    "remind me to water the tomatoes on the balcony",
    "translate the rental contract into Spanish",
    "which train goes to Hamburg on Sunday evening?",
    "write a birthday card for my colleague Miriam",
];

/// an offer stands for two more messages, and takes what was said since along.
#[tokio::test]
async fn r14_an_offer_outlives_two_messages() {
    let more = ["the live medium does not find the btrfs disk of the laptop", "grub install on it fails"];
    for said in 0..=2 {
        let mut stage = offered(REPLY).await;
        for (minute, text) in more.iter().take(said).enumerate() {
            stage.play(&format!("10:1{minute} user: {text}\n10:1{minute}:10 assistant: Try again.")).await;
        }
        stage.play("10:20 user: /fresh => new command #2").await;
        let taken = stage.texts(2).await;
        assert_eq!((taken[0].as_str(), taken.len()), (SHIFT, 2 + 2 * said));
        assert_eq!(stage.texts(1).await.len(), 6);
        stage.play("10:21 user: /undo").await;
        assert_eq!(stage.texts(1).await.len(), 8 + 2 * said, "and it is taken back whole");
        stage.verify().await;
    }
    let mut stage = offered(REPLY).await;
    for (minute, text) in more.iter().chain(&["it is a thinkpad laptop with grub"]).enumerate() {
        stage.play(&format!("10:1{minute} user: {text} => continue #1")).await;
    }
    stage.play("10:20 user: /fresh => refused command #1").await;
}

/// "yes" right after "new topic?" takes it, unless the agent asked something or the message says more.
#[tokio::test]
async fn r14_yes_takes_the_offer() {
    for yes in ["yes", "Yes, please!", "是的", "yes, new topic"] {
        let mut stage = offered(REPLY).await;
        let outcome = stage.say(&format!("10:05 user: {yes}")).await;
        assert_eq!((outcome.action, outcome.session), (Action::New, Number(2)), "{yes}");
        assert_eq!(stage.texts(2).await, [SHIFT, REPLY], "{yes}");
    }
    let asks = "Is the disk a btrfs one?";
    for (reply, said) in [(asks, "yes"), (REPLY, "ok"), (REPLY, "好的"), (REPLY, "yes, on a thinkpad")] {
        let mut stage = offered(reply).await;
        let outcome = stage.say(&format!("10:05 user: {said}")).await;
        assert_eq!((outcome.action, outcome.session), (Action::Continue, Number(1)), "{reply} {said}");
    }
}

/// "the sourdough one" takes the offer that names an older session; who goes on just goes on.
#[tokio::test]
async fn r14_an_offer_is_taken_by_name() {
    let script = format!("{}\n10:40 user: {BACK} => continue semantic #2", bread_and_laptop());
    let mut stage = play("", &format!("{script}\n10:40:10 assistant: Eight to twelve hours.")).await;
    let outcome = stage.say("10:41 user: the sourdough one").await;
    assert_eq!((outcome.action, outcome.session), (Action::Resume, Number(1)));
    assert_eq!(stage.texts(1).await[6..], [BACK, "Eight to twelve hours."]);
    stage.verify().await;
    let mut stage = play("", &script).await;
    let outcome = stage.say("10:41 user: the laptop one").await;
    assert_eq!((outcome.action, outcome.session), (Action::Continue, Number(2)));
}

/// R-11, M-B2: who comes back to an earlier topic after a night is offered its session, in both languages.
#[tokio::test]
async fn r11_an_earlier_topic_after_a_night_is_offered() {
    let script = format!("{}\n1d 09:00 user: {BACK} => new temporal #3", bread_and_laptop());
    let mut stage = play("", &script).await;
    let notice = stage.last().notice.clone().unwrap();
    assert!(notice.contains("/older takes this message back to #1 \""), "{notice}");
    let choices = stage.last().suggestion().unwrap().options;
    assert_eq!(choices.iter().map(|choice| choice.answer).collect::<Vec<_>>(), [Answer::Older]);
    stage
        .play("1d 09:00:10 assistant: Eight to twelve hours.\n1d 09:01 user: /older => resume command #1")
        .await;
    assert_eq!(stage.texts(1).await[6..], [BACK, "Eight to twelve hours."]);
    assert_eq!(stage.texts(2).await.len(), 4);
    stage.verify().await;
    // It is fresh already.
    let mut stage = play("", &script).await;
    stage.play("1d 09:01 user: /fresh => continue command #3").await;
    assert_eq!(stage.texts(3).await, [BACK]);
    // 000 to the letter offers nothing.
    let stage = play("lifecycle.policy = 'segmented'", &script).await;
    assert!(stage.last().suggestion().is_none());
    let stage = play("language = 'zh'", &script).await;
    let notice = stage.last().notice.clone().unwrap();
    assert!(notice.contains("输入 /older 可把这条消息带回 #1"), "{notice}");
}

/// a return is found among all sessions of a scope, not among the newest only.
#[tokio::test]
async fn r11_a_return_is_found_among_two_hundred_sessions() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play(BREAD).await;
    for session in 0..200 {
        let (hour, minute) = (11 + session / 60, session % 60);
        stage
            .play(&format!(
                "{hour}:{minute:02} user: /new\n{hour}:{minute:02}:01 user: {}",
                NOTES[session % NOTES.len()]
            ))
            .await;
    }
    stage.play(&format!("15:00 user: /new\n15:01 user: {SHIFT}\n15:01:10 assistant: {REPLY}")).await;
    stage.engine.prepare_recall(&stage.scope).await.unwrap();
    let outcome = stage.say(&format!("15:02 user: {BACK}")).await;
    let offered = outcome.observed.unwrap().earlier.map(|earlier| earlier.session);
    assert_eq!(offered, Some(Number(1)));
}
