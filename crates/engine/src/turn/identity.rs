//! The identity of a message: channel, account, chat, sender and the channel's id.
//!
//! Channels number their messages by themselves: message 5 of one channel, account or member of a group is not message 5
//! of another one that falls into the same scope.

use crate::engine::{Admitted, Engine, Turn};
use crate::error::Error;
use crate::route::{Address, Form, Peer, Routing, author, form_of, route, safe};
use crate::turn::inbound::{Inbound, Target};
use crate::turn::request::Request;
use segue_core::digest::Digest;
use segue_core::entry::{Body, Seq};
use segue_core::message::{Message, MessageId, Role};
use segue_core::scope;

/// How many hexadecimal digits tell two texts of one id apart.
const HASH_DIGITS: usize = 16;

/// Returns the identity of a message; nothing where the channel gave it no id. Blank ids are none: no two messages are
/// the same one by that.
///
/// ```text
/// 5                                              a scope of the host, no sender
/// :a:5                                           the same, and the id has a colon
/// ann:5                                          a scope of the host, a sender
/// ann::a:5                                       the same, and the id has a colon
/// telegram:default:direct:111:THREAD:SENDER:5    an address; its first two parts are never empty
/// ```
///
/// Safe names hold no colon, so that no two messages have one identity.
pub(crate) fn identity(routing: &Routing, to: &Target, message: &Message) -> Option<MessageId> {
    identity_as(routing, to, message, Encoding::Unambiguous)
}

/// How ids that have a colon are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Unambiguous,
    /// As they were given: the id `ann:5` was also that of message 5 of `ann`.
    Older,
}

fn identity_as(routing: &Routing, to: &Target, message: &Message, encoding: Encoding) -> Option<MessageId> {
    let id = message.message_id.as_ref().map(|id| id.0.as_str()).filter(|id| !id.trim().is_empty())?;
    let channel = match to {
        Target::Address(from) => safe::id_or(&from.channel, "unknown"),
        Target::Scope(scope) => match form_of(scope) {
            Some(Form::Group { channel } | Form::Direct { channel, .. }) => channel.to_owned(),
            Some(Form::Main | Form::Peer(_)) | None => String::new(),
        },
    };
    let safe = |raw: &str| routing.links.safe(&channel, raw);
    let sender = message.sender.as_deref().map(safe).filter(|sender| !sender.is_empty());
    let mark = if encoding == Encoding::Unambiguous && id.contains(':') { ":" } else { "" };
    Some(MessageId(match (to, sender) {
        (Target::Scope(_), None) => format!("{mark}{id}"),
        (Target::Scope(_), Some(sender)) => format!("{sender}:{mark}{id}"),
        (Target::Address(from), sender) => {
            format!("{}:{}:{id}", chat(&channel, from, &safe), sender.unwrap_or_default())
        }
    }))
}

/// Returns the identity that an older version gave a message, if that is another one.
pub(crate) fn older_identity(routing: &Routing, to: &Target, message: &Message) -> Option<MessageId> {
    let older = identity_as(routing, to, message, Encoding::Older)?;
    Some(older).filter(|older| identity(routing, to, message).as_ref() != Some(older))
}

/// Names a chat on its channel. Safe ids hold no colon, so that no two chats have one name.
fn chat(channel: &str, from: &Address, safe: &dyn Fn(&str) -> String) -> String {
    let account = Some(safe(&from.account)).filter(|account| !account.is_empty());
    let account = account.unwrap_or_else(|| "default".to_owned());
    let (kind, peer) = match &from.peer {
        Peer::Direct(id) => ("direct", safe(id)),
        Peer::Group(id) => ("group", safe(id)),
    };
    let thread = from.thread.as_deref().map(safe).unwrap_or_default();
    format!("{channel}:{account}:{kind}:{peer}:{thread}")
}

impl Engine {
    /// Finds the scope of a message, and gives the message the identity and the author that its address tells. A message
    /// that is received has got them; one that is taken over as it is ([`Request::Keep`]) is given them by this.
    pub fn addressed(
        &self,
        to: &Target,
        role: Role,
        mut message: Message,
    ) -> Result<(scope::Key, Message), Error> {
        let routing = &self.config.routing;
        message.message_id = identity(routing, to, &message);
        let from = match to {
            Target::Scope(scope) => return Ok((scope.clone(), message)),
            Target::Address(from) => from,
        };
        if routing.refuses(from) {
            return Err(Error::BlankPeer { channel: from.channel.clone() });
        }
        let scope = route(routing, from);
        if role == Role::User {
            message.author = message.author.or_else(|| author(routing, from, &scope));
        }
        Ok((scope, message))
    }

    /// Checks a message and finds its scope. One that an older version accepted under another identity keeps that: a second
    /// delivery is known by it.
    pub(crate) async fn admitted(&self, inbound: Inbound) -> Result<Admitted, Error> {
        let mut admitted = self.admit(inbound)?;
        if let Some(older) = admitted.older_id.take()
            && let Some(seq) = self.store.seen(&admitted.turn.scope, &older).await?
        {
            let record = self.store.get(&admitted.turn.scope, seq).await?;
            let said_by = record.and_then(|record| match record.body().ok()? {
                Body::Message(_, message) => Some(message.sender),
                Body::Command(spoken) => Some(spoken.sender),
                _ => None,
            });
            // What cannot be read any more says nothing against it.
            if said_by.is_none_or(|sender| sender == admitted.message.sender) {
                admitted.message.message_id = Some(older);
            }
        }
        Ok(admitted)
    }

    /// Returns the turn and the request under an id of their own, if the message that was accepted under theirs says
    /// something else: some channels deliver an edited message under its old id, and nothing is dropped in silence.
    pub(crate) async fn under_own_id(
        &self,
        turn: &Turn,
        request: &Request,
        accepted: Seq,
    ) -> Result<Option<(Turn, Request)>, Error> {
        let record = self.store.get(&turn.scope, accepted).await?;
        let body = record.and_then(|record| record.body().ok());
        let role = request.message_role();
        let mut own = (turn.clone(), request.clone());
        let (said, id) = match (own.1.message_mut(), &mut own.0.spoken) {
            (Some(message), _) => {
                let is_same = match &body {
                    Some(Body::Message(spoke, first)) => {
                        Some(*spoke) == role && says_the_same(first, message)
                    }
                    Some(Body::Command(first)) => first.text == message.text,
                    _ => true,
                };
                if is_same {
                    return Ok(None);
                }
                (message.text.clone(), &mut message.message_id)
            }
            (None, Some(spoken)) => {
                let is_same = match &body {
                    Some(Body::Message(_, first)) => first.text == spoken.text,
                    Some(Body::Command(first)) => first.text == spoken.text,
                    _ => true,
                };
                if is_same {
                    return Ok(None);
                }
                (spoken.text.clone(), &mut spoken.message_id)
            }
            (None, None) => return Ok(None),
        };
        let Some(known) = id else { return Ok(None) };
        let hash = Digest::of_body(said.as_bytes()).to_string();
        known.0.push('~');
        known.0.push_str(hash.get(..HASH_DIGITS).unwrap_or(&hash));
        Ok(Some(own))
    }
}

fn says_the_same(first: &Message, second: &Message) -> bool {
    first.text == second.text
        && first.sender == second.sender
        && first.tool_calls == second.tool_calls
        && first.tool_call_id == second.tool_call_id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(from: Address, sender: Option<&str>, id: &str) -> String {
        let message = Message {
            message_id: Some(MessageId(id.to_owned())),
            sender: sender.map(str::to_owned),
            ..Message::text("hello")
        };
        identity(&Routing::default(), &Target::Address(from), &message).map(|id| id.0).unwrap_or_default()
    }

    fn in_scope(sender: Option<&str>, id: &str) -> String {
        let message = Message {
            message_id: Some(MessageId(id.to_owned())),
            sender: sender.map(str::to_owned),
            ..Message::text("hello")
        };
        let to = Target::Scope("agent:main:telegram:group:g".parse().unwrap());
        identity(&Routing::default(), &to, &message).map(|id| id.0).unwrap_or_default()
    }

    /// Under a scope of the host an id that has a colon is no other one's.
    #[test]
    fn an_id_with_a_colon_is_that_of_one_message() {
        let ids = [
            in_scope(None, "5"),
            in_scope(None, "ann:5"),
            in_scope(None, ":ann:5"),
            in_scope(None, "ann::5"),
            in_scope(Some("ann"), "5"),
            in_scope(Some("ann"), ":5"),
            in_scope(Some("ann"), "::5"),
            in_scope(Some("telegram"), "default:group:g::ann:5"),
            in_scope(None, "telegram:default:group:g::ann:5"),
            of(Address::group("telegram", "g"), Some("ann"), "5"),
        ];
        let different: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), ids.len(), "{ids:?}");
        // Those that were never ambiguous are as they were.
        assert_eq!((ids[0].as_str(), ids[4].as_str()), ("5", "ann:5"));
    }

    /// Issue 16, row 2.
    #[test]
    fn a_message_is_known_by_channel_account_chat_sender_and_id() {
        let other_account = Address { account: "bot2".to_owned(), ..Address::direct("telegram", "111") };
        let thread = Address { thread: Some("7".to_owned()), ..Address::group("telegram", "g") };
        let ids = [
            of(Address::direct("telegram", "111"), None, "5"),
            of(Address::direct("signal", "111"), None, "5"),
            of(other_account, None, "5"),
            of(Address::group("telegram", "g"), Some("ann"), "5"),
            of(Address::group("telegram", "g"), Some("bob"), "5"),
            of(Address::group("telegram", "111"), None, "5"),
            of(thread, Some("ann"), "5"),
            of(Address::direct("telegram", "111"), None, ":5"),
            of(Address::direct("telegram", "111:"), None, "5"),
        ];
        let different: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), ids.len(), "{ids:?}");
        assert_eq!(of(Address::direct("Telegram", " 111 "), None, "5"), ids[0]);
        assert_eq!(of(Address::direct("telegram", "111"), None, " "), "");
    }
}
