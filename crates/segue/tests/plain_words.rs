//! Plain words count: an earlier session is named, an answer says which one, and notices are in the user's language.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use segue::{Action, Clock, Inbound, Outcome, Segue, Timestamp, scope};
use std::sync::{Arc, Mutex};

fn me() -> scope::Key {
    "agent:main:cli:direct:me".parse().unwrap()
}

/// A clock that goes where a test puts it.
struct Hand(Mutex<Timestamp>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

struct Talk {
    segue: Segue,
    clock: Arc<Hand>,
}

impl Talk {
    async fn new(settings: &str) -> Self {
        let clock = Arc::new(Hand(Mutex::new("2026-03-02T09:00:00Z".parse().unwrap())));
        let builder = Segue::builder().store("memory:").config(settings).clock(clock.clone());
        Self { segue: builder.build().await.unwrap(), clock }
    }

    fn wait(&self, minutes: i64) {
        *self.clock.0.lock().unwrap() += segue::jiff::SignedDuration::from_mins(minutes);
    }

    async fn says(&self, text: &str) -> Outcome {
        self.wait(1);
        let outcome = self.segue.receive(Inbound::user(me(), self.segue.now(), text)).await.unwrap();
        if outcome.reply.is_none() && outcome.action != Action::Ask {
            self.segue.reply(&outcome, "Noted.").await.unwrap();
        }
        outcome
    }
}

/// FIRST-CONTACT 6 and 16: the session that is named is resumed at once, and announced.
#[tokio::test]
async fn r11_a_session_that_is_named_is_resumed() {
    let talk = Talk::new("").await;
    talk.says("plan a trip to japan for two weeks in april").await;
    talk.says("/new").await;
    talk.says("my Spring Boot service times out under load").await;
    talk.says("/new").await;
    talk.says("帮我规划一下成都三日游").await;
    let back = talk.says("ok back to the japan trip").await;
    assert_eq!((back.action, back.session.0), (Action::Resume, 1), "{back:?}");
    assert!(back.notice.unwrap().starts_with("Back in "), "it is announced");
    let said = talk.segue.context(&me()).await.unwrap().said();
    assert!(said.iter().any(|(_, message)| message.text.contains("two weeks")));
    assert!(said.iter().any(|(_, message)| message.text == "ok back to the japan trip"));
    assert_eq!(talk.says("回到成都那个").await.session.0, 3);
    assert_eq!(talk.says("/undo").await.session.0, 1);
    let stays = talk.says("go back to the first hotel on the list").await;
    assert_ne!(stays.action, Action::Resume, "no other session is named");
}

/// FIRST-CONTACT 17: an answer may say which session is meant.
#[tokio::test]
async fn r14_an_answer_may_name_the_session() {
    let talk = Talk::new("lifecycle.policy = \"adaptive\"").await;
    talk.says("plan a trip to japan for two weeks in april").await;
    talk.wait(10 * 60);
    let asked = talk.says("and how much will the japan trip cost?").await;
    assert_eq!(asked.action, Action::Ask, "{asked:?}");
    let answered = talk.says("the japan one").await;
    assert_eq!((answered.action, answered.session.0), (Action::Continue, 1));
    assert!(answered.notice.unwrap().starts_with("Continuing in "));
}

/// FIRST-CONTACT 19: a Chinese conversation has Chinese notices, also after "ok" and commands.
#[tokio::test]
async fn notices_are_in_the_language_of_the_conversation() {
    let talk = Talk::new("").await;
    talk.says("帮我规划一下成都三日游").await;
    for command in ["/new", "/undo", "/status", "/nonsense", "/session resume 9"] {
        let reply = talk.says(command).await.reply.unwrap();
        assert!(reply.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{command}: {reply}");
    }
    talk.says("/new").await;
    let back = talk.segue.engine().request(&me(), talk.segue.now(), &segue::Request::Undo).await.unwrap();
    assert!(back.notice.unwrap().starts_with("已撤销"));
    let talk = Talk::new("").await;
    talk.says("Where can I buy good ramen in 東京?").await;
    assert!(talk.says("/new").await.reply.unwrap().starts_with("Started new session"));
}
