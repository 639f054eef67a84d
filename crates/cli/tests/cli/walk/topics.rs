//! Coming back to a session by its name, and a new topic in the middle of another (findings 6, 7 and 11).

use super::{play, session, told, world};
use crate::world::World;
use serde_json::Value;

/// Four conversations, each in a session of its own: #1 Japan, #2 Spring Boot, #3 bread, #4 成都.
const FOUR: &str = "
    1T10:00:00 user: help me plan a two week trip to japan in april, tokyo and kyoto
    1T10:00:10 assistant: Lovely. A week in each, with a day in Nara between them.
    1T11:00:00 user: /new
    1T11:00:10 user: my spring boot app does not start, port 8080 is already in use
    1T11:00:20 assistant: Another process listens there; set server.port to another one.
    1T12:00:00 user: /new
    1T12:00:10 user: how long does a rye sourdough bread have to rise?
    1T12:00:20 assistant: Four to six hours at room temperature.
    1T13:00:00 user: /new
    1T13:00:10 user: 周末去成都玩，三天怎么安排？
    1T13:00:20 assistant: 第一天看大熊猫，第二天青城山，第三天宽窄巷子。
    1T14:00:00 user: /new
    1T14:00:10 user: my laptop battery drains within two hours
    1T14:00:20 assistant: Look at what runs in the background first.
";

/// Says one more thing after the four conversations.
fn after_four(text: &str) -> (World, Value) {
    let world = world();
    play(&world, FOUR);
    let outcome = play(&world, &format!("1T14:01:00 user: {text}")).remove(0);
    (world, outcome)
}

#[test]
fn fc06_back_to_the_japan_trip() {
    let (_, outcome) = after_four("ok back to the japan trip");
    assert_eq!(session(&outcome), 1, "{outcome}");
    assert!(told(&outcome).contains("#1"), "what was done is announced: {outcome}");
}

/// Seven returns in plain words; each session is named by its topic.
#[test]
fn fc06_seven_returns_are_found() {
    let returns = [
        ("ok back to the japan trip", 1),
        ("let's go back to the spring boot thing", 2),
        ("back to the sourdough bread", 3),
        ("回到成都那个", 4),
        ("can we return to the japan trip?", 1),
        ("continue with the spring boot app", 2),
        ("back to japan", 1),
    ];
    for (text, number) in returns {
        let (_, outcome) = after_four(text);
        assert_eq!(session(&outcome), number, "{text}: {outcome}");
    }
}

/// The assistant talks about something, and the person about something else.
fn shift(before: &str, text: &str) -> Value {
    let world = world();
    play(&world, before);
    play(&world, &format!("1T10:06:00 user: {text}")).remove(0)
}

/// A new session begins, or the person is asked or offered one.
#[track_caller]
fn is_noticed(outcome: &Value) {
    let split = session(outcome) != 1;
    let asked = outcome["action"] == "ask" || told(outcome).contains("/fresh");
    assert!(split || asked, "neither a split nor a question: {outcome}");
}

#[test]
fn fc07_a_fever_is_no_coffee_shop() {
    let before = "
        1T10:00:00 user: I want to open a small coffee shop near the university, what should I think of first?
        1T10:00:10 assistant: The rent, the foot traffic and your opening hours. What is your budget?
        1T10:02:00 user: about 60k, and there is a corner shop for rent next to the library
        1T10:02:10 assistant: Then count the people who pass by on a weekday morning.
    ";
    is_noticed(&shift(before, "my son has a fever of 39.2"));
}

#[test]
fn fc07_a_haiku_is_no_rust() {
    let before = "
        1T10:00:00 user: how do I share a Vec between two threads in Rust?
        1T10:00:10 assistant: Put it into an Arc<Mutex<Vec<T>>> and clone the Arc.
        1T10:02:00 user: and what if the threads only read it?
        1T10:02:10 assistant: Then an Arc<Vec<T>> is enough, or std::thread::scope.
    ";
    is_noticed(&shift(before, "write a haiku about the first snow"));
}

#[test]
fn fc07_a_key_error_is_no_rome() {
    let before = "
        1T10:00:00 user: what should we see in Rome in three days?
        1T10:00:10 assistant: The Forum, the Vatican and Trastevere.
        1T10:02:00 user: is the Vatican open on Sundays?
        1T10:02:10 assistant: The museums only on the last Sunday of a month.
    ";
    is_noticed(&shift(before, "my python script throws KeyError"));
}

#[test]
fn fc11_an_answer_in_the_morning_goes_on() {
    let world = world();
    play(
        &world,
        "1T22:48:00 user: my flight to Dublin was cancelled, can I get my money back?
         1T22:50:00 assistant: Probably. Which airline is it, and what is your booking code?",
    );
    let outcome = play(&world, "2T07:01:00 user: Ryanair, code is X7KQ2P").remove(0);
    assert_eq!(session(&outcome), 1, "{outcome}");
}
