//! how long an offer stands.

use super::world::World;
use segue_core::decide::Command;
use segue_core::entry::{Bytes, Record};
use segue_core::evolve::evolve;
use segue_core::message::Message;
use segue_core::observed::{Meaning, Observed, Share};
use segue_core::state::State;

/// An offer of a log that was written before offers outlived a message ends with the next message, as it did.
#[test]
fn r14_an_offer_of_an_older_log_ends_with_the_next_message() {
    let mut world = World::new();
    world.say("one topic");
    let meaning = Meaning { belongs: Some(Share::new(0.45)), ..Meaning::default() };
    let observed = Box::new(Observed { meaning, ..Observed::default() });
    world
        .run(Command::UserMessage { message: Message::text("another one"), observed, summary: None })
        .unwrap();
    assert_eq!(world.state.extras.question.as_ref().map(|question| question.messages_left), Some(2));
    world.say("and then");
    assert_eq!(world.state.extras.question.as_ref().map(|question| question.messages_left), Some(1));
    let older = |record: &Record| {
        let Bytes::Kept(text) = &record.bytes else { panic!("it is kept") };
        Record { bytes: Bytes::Kept(text.replace(",\"outlives\":2", "")), ..record.clone() }
    };
    let older: Vec<Record> = world.log.iter().map(older).collect();
    assert_ne!(older, world.log, "the field is left out");
    let mut state = State::empty(world.state.scope.clone());
    older.iter().for_each(|record| evolve(&mut state, record).unwrap());
    assert!(state.extras.question.is_none());
}
