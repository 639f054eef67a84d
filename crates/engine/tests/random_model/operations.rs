//! What is done at random.

use proptest::prelude::*;

/// Who speaks: a person on one of their channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// Ann, on the one channel.
    AnnTelegram,
    /// Ann, on the other one, which is linked.
    AnnSignal,
    /// Bob, on the same channel as Ann.
    BobTelegram,
}

/// What is done; numbers pick among what there is.
#[derive(Debug, Clone, Copy)]
pub enum Verb {
    Say,
    /// The channel delivers a message once more.
    Deliver(u8),
    /// The channel delivers another text under the id of an earlier message.
    Edit(u8),
    New,
    Undo,
    Redo,
    Resume(u8),
    Fork,
    Keep(u8),
    Restore(u8),
    Delete(u8),
    /// A message of a session is erased.
    Erase(u8, u8),
    Import(u8),
}

/// Something that is done through one of two processes.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    pub channel: Channel,
    pub process: usize,
    pub verb: Verb,
}

fn any_verb() -> impl Strategy<Value = Verb> {
    use Verb::*;
    prop_oneof![
        6 => Just(Say),
        2 => any::<u8>().prop_map(Deliver),
        1 => any::<u8>().prop_map(Edit),
        4 => Just(New),
        3 => Just(Undo),
        3 => Just(Redo),
        2 => any::<u8>().prop_map(Resume),
        2 => Just(Fork),
        2 => any::<u8>().prop_map(Keep),
        1 => any::<u8>().prop_map(Restore),
        1 => any::<u8>().prop_map(Delete),
        1 => any::<(u8, u8)>().prop_map(|(session, message)| Erase(session, message)),
        1 => (1u8..4).prop_map(Import),
    ]
}

pub fn any_operations() -> impl Strategy<Value = Vec<Operation>> {
    use Channel::*;
    let channel = prop_oneof![3 => Just(AnnTelegram), 3 => Just(AnnSignal), 1 => Just(BobTelegram)];
    let one = (channel, 0usize..2, any_verb());
    let one = one.prop_map(|(channel, process, verb)| Operation { channel, process, verb });
    prop::collection::vec(one, 1..40)
}
