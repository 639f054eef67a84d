//! Identity links: which addresses belong to one person (P-2).

use super::safe;
use std::collections::{BTreeMap, BTreeSet};

/// Which addresses belong to one person.
///
/// ```
/// use segue_engine::route::Links;
/// let links = Links::new([("ann", ["telegram:111", "discord:222"])])?;
/// assert_eq!(links.name_of("discord", "222"), Some("ann"));
/// # Ok::<(), segue_engine::route::LinkError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// The addresses of each person, as they were given.
    people: BTreeMap<String, Vec<String>>,
    /// Whom a channel and a peer belong to, both made safe.
    names: BTreeMap<(String, String), String>,
    /// The channels, made safe, whose ids are case-sensitive.
    cased: BTreeSet<String>,
}

/// Why an identity link cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The name would not stand in a key as it is.
    #[error("`{0}` cannot name a person: use lower-case letters, digits and - _ . + @ =, at most 128 bytes")]
    Name(String),
    /// An address is not `channel:peer`.
    #[error("`{address}` of `{name}` is not an address: write it as \"channel:peer\"")]
    Address {
        /// The person.
        name: String,
        /// The address.
        address: String,
    },
    /// An address belongs to two people.
    #[error("`{address}` belongs to both `{first}` and `{second}`: leave it with one of them")]
    Twice {
        /// The address.
        address: String,
        /// The person that it was given to first.
        first: String,
        /// The other one.
        second: String,
    },
}

impl Links {
    /// Makes links of people's names and their addresses.
    pub fn new<N, A>(people: impl IntoIterator<Item = (N, A)>) -> Result<Self, LinkError>
    where
        N: Into<String>,
        A: IntoIterator,
        A::Item: Into<String>,
    {
        let mut links = Self::default();
        for (name, addresses) in people {
            links.join(name.into(), addresses.into_iter().map(Into::into).collect())?;
        }
        Ok(links)
    }

    /// Makes links of nobody, on channels of which some have case-sensitive ids.
    pub(crate) fn with_cased<C: AsRef<str>>(channels: impl IntoIterator<Item = C>) -> Self {
        let cased = channels.into_iter().map(|channel| safe::id(channel.as_ref())).collect();
        Self { cased, ..Self::default() }
    }

    /// Makes an id of a channel safe. The channel is safe already.
    pub fn safe(&self, channel: &str, raw: &str) -> String {
        let case = if self.cased.contains(channel) { safe::Case::Kept } else { safe::Case::Ignored };
        safe::id_by_case(raw, case)
    }

    /// Reads `channel:peer`; the peer may hold colons, the channel not.
    fn place(&self, address: &str) -> Option<(String, String)> {
        let (channel, peer) = address.split_once(':')?;
        let channel = safe::id(channel);
        let peer = self.safe(&channel, peer);
        (!channel.is_empty() && !peer.is_empty()).then_some((channel, peer))
    }

    /// Adds a person.
    pub fn join(&mut self, name: String, addresses: Vec<String>) -> Result<(), LinkError> {
        // A name that stands in keys as it is cannot be met by a stranger's id: see `apart`.
        if name.is_empty() || safe::id(&name) != name {
            return Err(LinkError::Name(name));
        }
        for address in &addresses {
            let Some(place) = self.place(address) else {
                return Err(LinkError::Address { name, address: address.clone() });
            };
            match self.names.get(&place) {
                Some(first) if *first != name => {
                    let (address, first) = (address.clone(), first.clone());
                    return Err(LinkError::Twice { address, first, second: name });
                }
                _ => self.names.insert(place, name.clone()),
            };
        }
        self.people.entry(name).or_default().extend(addresses);
        Ok(())
    }

    /// Finds the person to whom a channel and a peer belong, both made safe.
    pub fn name_of(&self, channel: &str, peer: &str) -> Option<&str> {
        // Most installations link nobody: no need to make a key to look up.
        if self.names.is_empty() {
            return None;
        }
        self.names.get(&(channel.to_owned(), peer.to_owned())).map(String::as_str)
    }

    /// Tells whether a person, given by a link's name or as `channel:peer`, may speak in a channel.
    pub(crate) fn may_speak_in(&self, person: &str, channel: &str) -> bool {
        let in_channel = |address: &str| self.place(address).is_some_and(|(found, _)| found == channel);
        match self.people.get(person) {
            Some(addresses) => addresses.iter().any(|address| in_channel(address)),
            None => in_channel(person),
        }
    }

    /// Tells whether a person, given by a link's name or as `channel:peer`, has an id on any channel.
    pub(crate) fn has_peer(&self, person: &str, peer: &str) -> bool {
        let is_it = |address: &str| self.place(address).is_some_and(|(_, found)| found == peer);
        match self.people.get(person) {
            Some(addresses) => addresses.iter().any(|address| is_it(address)),
            None => is_it(person),
        }
    }

    /// Tells whether a person has that name.
    pub fn knows(&self, name: &str) -> bool {
        self.people.contains_key(name)
    }

    /// Names a person as the rest of the engine does, given a link's name or `channel:peer`.
    pub(crate) fn canonical_user(&self, user: &str) -> Option<String> {
        if self.knows(user) {
            return Some(user.to_owned());
        }
        let (channel, peer) = self.place(user)?;
        let linked = self.name_of(&channel, &peer).map(str::to_owned);
        Some(linked.unwrap_or_else(|| format!("{channel}:{peer}")))
    }

    /// Keeps a stranger's id apart from the names: one that reads like a name gets its first character
    /// escaped, which no id that is merely made safe ever has.
    pub(super) fn apart(&self, peer: &str) -> String {
        let mut chars = peer.chars();
        match chars.next() {
            Some(first) if self.knows(peer) => {
                let mut apart = String::with_capacity(peer.len() + 8);
                safe::escape(&mut apart, first);
                apart + chars.as_str()
            }
            _ => peer.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(people: &[(&str, &[&str])]) -> String {
        let people = people.iter().map(|(name, addresses)| (*name, addresses.to_vec()));
        Links::new(people).unwrap_err().to_string()
    }

    #[test]
    fn p2_bad_links_are_refused_with_a_sentence() {
        assert_eq!(
            why(&[("ann", &["telegram"])]),
            "`telegram` of `ann` is not an address: write it as \"channel:peer\""
        );
        assert_eq!(
            why(&[("ann", &["telegram: "])]),
            "`telegram: ` of `ann` is not an address: write it as \"channel:peer\""
        );
        assert_eq!(
            why(&[("ann", &["telegram:1"]), ("bob", &["Telegram:1"])]),
            "`Telegram:1` belongs to both `ann` and `bob`: leave it with one of them"
        );
        assert_eq!(
            why(&[("Ann B", &[])]),
            "`Ann B` cannot name a person: use lower-case letters, digits and - _ . + @ =, at most 128 bytes"
        );
    }

    #[test]
    fn p2_users_are_named_in_one_way() {
        let links = Links::new([("ann", ["telegram:111"])]).unwrap();
        let user = |text| links.canonical_user(text);
        assert_eq!(user("ann").as_deref(), Some("ann"));
        assert_eq!(user("Telegram:111").as_deref(), Some("ann"));
        assert_eq!(user("matrix:@Bob:Example.org").as_deref(), Some("matrix:@bob%3aexample.org"));
        assert_eq!(user("bob"), None);
    }
}
