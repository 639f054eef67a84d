//! Routing: from the address of a message to the scope that it falls into (P-1, P-2).
//!
//! Routing never fails. A channel may hand us any id, and a message that cannot be routed would be a
//! message that is lost; so every id is made safe instead ([`safe`]), in a way that keeps different ids
//! apart.
//!
//! | address | key |
//! |---|---|
//! | direct, `dm_scope = "main"`, or without a peer | `agent:A:main` |
//! | direct, `per-peer` | `agent:A:direct:P` |
//! | direct, `per-channel-peer` | `agent:A:CH:direct:P` |
//! | direct, `per-account-channel-peer` | `agent:A:CH:ACCT:direct:P` |
//! | direct, of a linked person, whatever the channel | `agent:A:direct:NAME` |
//! | group or channel | `agent:A:CH:group:ID` |
//! | a thread of any of them | the same, and `:thread:T` |

mod links;
pub mod safe;
#[cfg(test)]
mod tests;

pub use links::{LinkError, Links};

use segue_core::scope::{self, KEY_BYTES_MAX, KeyError};
use std::fmt;

/// How finely direct messages are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum DmScope {
    /// All direct messages to an agent are one conversation.
    Main,
    /// One for each peer id, whatever the channel.
    PerPeer,
    /// One for each peer of each channel.
    #[default]
    PerChannelPeer,
    /// One for each peer of each account of each channel.
    PerAccountChannelPeer,
}

impl DmScope {
    /// All of them, as they are named in the configuration.
    pub const ALL: [(&'static str, Self); 4] = [
        ("main", Self::Main),
        ("per-peer", Self::PerPeer),
        ("per-channel-peer", Self::PerChannelPeer),
        ("per-account-channel-peer", Self::PerAccountChannelPeer),
    ];
}

/// What happens to a direct message whose peer id is blank. An id that is not there at all means the main conversation
/// (P-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum BlankPeer {
    /// It is refused.
    #[default]
    Refuse,
    /// It goes to the main conversation.
    Main,
}

impl BlankPeer {
    /// All of them, as they are named in the configuration.
    pub const ALL: [(&'static str, Self); 2] = [("refuse", Self::Refuse), ("main", Self::Main)];
}

/// Whom the other side of a conversation is: one person, or many.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// A person, by the channel's id of that person.
    Direct(String),
    /// A group or channel, by its id.
    Group(String),
}

/// Where a message comes from, as the channel tells it. The ids may hold anything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The agent that is spoken to; `main` if empty.
    pub agent: String,
    /// The channel; `unknown` if empty.
    pub channel: String,
    /// The agent's account on the channel; `default` if empty.
    pub account: String,
    /// Who speaks.
    pub peer: Peer,
    /// The thread, if there is one.
    pub thread: Option<String>,
}

impl Address {
    /// Makes the address of a direct message to the main agent.
    pub fn direct(channel: impl Into<String>, peer: impl Into<String>) -> Self {
        Self::of(channel.into(), Peer::Direct(peer.into()))
    }

    /// Makes the address of a message to the main agent in a group.
    pub fn group(channel: impl Into<String>, id: impl Into<String>) -> Self {
        Self::of(channel.into(), Peer::Group(id.into()))
    }

    fn of(channel: String, peer: Peer) -> Self {
        Self { agent: String::new(), channel, account: String::new(), peer, thread: None }
    }
}

/// The settings that routing goes by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Routing {
    /// How finely direct messages are kept apart.
    pub dm_scope: DmScope,
    /// Which addresses belong to one person, and on which channels ids are case-sensitive.
    pub links: Links,
    /// What happens to a message whose peer id is blank.
    pub blank_peer: BlankPeer,
}

impl Routing {
    /// Tells whether a message is refused because nobody knows whom it comes from.
    pub(crate) fn refuses(&self, from: &Address) -> bool {
        let is_blank = match &from.peer {
            // No id at all means the main conversation (P-1).
            Peer::Direct(id) => !id.is_empty() && safe::id(id).is_empty(),
            // Two groups without an id would be one.
            Peer::Group(id) => safe::id(id).is_empty(),
        };
        is_blank && self.blank_peer == BlankPeer::Refuse
    }
}

/// Finds the scope that a message falls into.
///
/// ```
/// use segue_engine::route::{Address, Routing, route};
/// let routing = Routing::default();
/// let key = |address| route(&routing, &address).to_string();
/// assert_eq!(key(Address::direct("Telegram", "User123")), "agent:main:telegram:direct:user123");
/// assert_eq!(key(Address::direct("telegram", "a:b")), "agent:main:telegram:direct:a%3ab");
/// assert_eq!(key(Address::group("discord", "77")), "agent:main:discord:group:77");
/// ```
pub fn route(routing: &Routing, from: &Address) -> scope::Key {
    let agent = safe::id_or(&from.agent, "main");
    let mut key = format!("agent:{agent}:");
    let channel = safe::id_or(&from.channel, "unknown");
    let id = |raw: &str| routing.links.safe(&channel, raw);
    match &from.peer {
        // A group without an id is still not the main conversation: strangers may be in it.
        Peer::Group(group) => {
            push(&mut key, format_args!("{channel}:group:{}", or(id(group), "unknown")));
        }
        Peer::Direct(peer) => direct(&mut key, routing, from, &channel, &id(peer)),
    }
    if let Some(thread) = from.thread.as_deref().map(id).filter(|thread| !thread.is_empty()) {
        push(&mut key, format_args!(":thread:{thread}"));
    }
    sound(key)
}

/// Names the person whom a direct message comes from, as the `[users]` table of the configuration does:
/// the name of an identity link, or else `channel:peer`. A group is not a person.
///
/// ```
/// use segue_engine::route::{Address, Routing, user};
/// let user = |address| user(&Routing::default(), &address);
/// assert_eq!(user(Address::direct("telegram", "111")).as_deref(), Some("telegram:111"));
/// assert_eq!(user(Address::group("telegram", "-5")), None);
/// ```
pub fn user(routing: &Routing, from: &Address) -> Option<String> {
    let Peer::Direct(peer) = &from.peer else { return None };
    let channel = safe::id_or(&from.channel, "unknown");
    let peer = Some(routing.links.safe(&channel, peer)).filter(|peer| !peer.is_empty())?;
    let linked = routing.links.name_of(&channel, &peer).map(str::to_owned);
    Some(linked.unwrap_or_else(|| format!("{channel}:{peer}")))
}

/// Names the person whose scope this is, if the key says so: the same name as [`user`] gives for the
/// address that leads there.
///
/// ```
/// use segue_engine::route::{Routing, user_of};
/// let user = |key: &str| user_of(&Routing::default(), &key.parse().unwrap());
/// assert_eq!(user("agent:main:telegram:direct:111").as_deref(), Some("telegram:111"));
/// assert_eq!(user("agent:main:telegram:direct:111:thread:5").as_deref(), Some("telegram:111"));
/// assert_eq!(user("agent:main:telegram:group:-5"), None);
/// ```
pub fn user_of(routing: &Routing, scope: &scope::Key) -> Option<String> {
    match form_of(scope)? {
        Form::Peer(name) if routing.links.knows(name) => Some(name.to_owned()),
        Form::Direct { channel, peer } => {
            let linked = routing.links.name_of(channel, peer).map(str::to_owned);
            Some(linked.unwrap_or_else(|| format!("{channel}:{peer}")))
        }
        Form::Main | Form::Peer(_) | Form::Group { .. } => None,
    }
}

/// The form of a scope's key, without its agent, its account and its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form<'a> {
    /// `main`: direct messages of anybody.
    Main,
    /// `direct:P`: a linked person, or whoever has this id, on whatever channel.
    Peer(&'a str),
    /// `CH:direct:P`, or `CH:ACCT:direct:P`: a person on a channel.
    Direct {
        /// The channel.
        channel: &'a str,
        /// The channel's id of the person.
        peer: &'a str,
    },
    /// `CH:group:ID`: a group.
    Group {
        /// The channel.
        channel: &'a str,
    },
}

/// Reads a scope's key; nothing if it is none that [`route`] makes. Agents, channels and accounts may have any name,
/// `thread` and `direct` too: the parts are told apart by how many there are.
pub(crate) fn form_of(scope: &scope::Key) -> Option<Form<'_>> {
    let parts: Vec<&str> = scope.as_str().split(':').collect();
    let ["agent", _, form @ ..] = parts.as_slice() else { return None };
    match form {
        ["main"] | ["main", "thread", _] => Some(Form::Main),
        ["direct", peer] | ["direct", peer, "thread", _] => Some(Form::Peer(peer)),
        [channel, "direct", peer] | [channel, "direct", peer, "thread", _] => {
            Some(Form::Direct { channel, peer })
        }
        [channel, _, "direct", peer] | [channel, _, "direct", peer, "thread", _] => {
            Some(Form::Direct { channel, peer })
        }
        [channel, "group", _] | [channel, "group", _, "thread", _] => Some(Form::Group { channel }),
        _ => None,
    }
}

/// Names the author of a direct message, as `channel:peer`; nothing where the key of its scope says so already. Links may
/// be changed later, and `main` is everybody's: what a person said is found by this.
pub(crate) fn author(routing: &Routing, from: &Address, scope: &scope::Key) -> Option<String> {
    let Peer::Direct(peer) = &from.peer else { return None };
    let channel = safe::id_or(&from.channel, "unknown");
    let peer = Some(routing.links.safe(&channel, peer)).filter(|peer| !peer.is_empty())?;
    let is_told = form_of(scope) == Some(Form::Direct { channel: &channel, peer: &peer });
    (!is_told).then(|| format!("{channel}:{peer}"))
}

/// Finds the agent that a scope belongs to.
///
/// ```
/// use segue_engine::route::agent_of;
/// assert_eq!(agent_of(&"agent:work:main".parse()?), Some("work"));
/// assert_eq!(agent_of(&"agent::x".parse()?), None);
/// # Ok::<(), segue_core::scope::KeyError>(())
/// ```
pub fn agent_of(scope: &scope::Key) -> Option<&str> {
    scope.as_str().strip_prefix("agent:")?.split(':').next().filter(|name| !name.is_empty())
}

/// Names an empty id.
fn or(safe: String, empty: &str) -> String {
    if safe.is_empty() { empty.to_owned() } else { safe }
}

fn direct(key: &mut String, routing: &Routing, from: &Address, channel: &str, peer: &str) {
    if routing.dm_scope == DmScope::Main || peer.is_empty() {
        return key.push_str("main");
    }
    if let Some(name) = routing.links.name_of(channel, peer) {
        return push(key, format_args!("direct:{name}"));
    }
    match routing.dm_scope {
        DmScope::Main => key.push_str("main"),
        // The one form in which an id stands where the name of a linked person could stand.
        DmScope::PerPeer => push(key, format_args!("direct:{}", routing.links.apart(peer))),
        DmScope::PerChannelPeer => push(key, format_args!("{channel}:direct:{peer}")),
        DmScope::PerAccountChannelPeer => {
            let account = or(routing.links.safe(channel, &from.account), "default");
            push(key, format_args!("{channel}:{account}:direct:{peer}"));
        }
    }
}

fn push(key: &mut String, part: fmt::Arguments<'_>) {
    key.push_str(&part.to_string());
}

/// Turns the text into a key. Its parts are safe and short, so it is one; should the rules of a key ever
/// become narrower than ours, the offending part goes and the message still arrives.
fn sound(mut text: String) -> scope::Key {
    loop {
        match text.parse() {
            Ok(key) => return key,
            Err(KeyError::Empty) => text.push('-'),
            Err(KeyError::TooLong(_)) => {
                text.truncate(text.floor_char_boundary(KEY_BYTES_MAX));
            }
            Err(KeyError::Character(odd)) => text.retain(|c| c != odd),
        }
    }
}
