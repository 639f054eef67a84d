//! P-1, P-2 and X-9, by example and for any address.

use super::*;
use proptest::prelude::*;

fn linked(dm_scope: DmScope) -> Routing {
    let links = Links::new([("ann", vec!["telegram:111", "discord:222"]), ("李", vec!["wechat:9"])]).unwrap();
    Routing { dm_scope, links, ..Routing::default() }
}

fn check(routing: &Routing, address: &Address, expected: &str) {
    assert_eq!(route(routing, address).as_str(), expected, "{address:?}");
}

fn full(peer: Peer, thread: Option<&str>) -> Address {
    Address {
        agent: "Coder".into(),
        channel: "Telegram".into(),
        account: "Bot1".into(),
        peer,
        thread: thread.map(str::to_owned),
    }
}

/// P-1: the form of the key under each `dm_scope`.
#[test]
fn p1_keys_follow_dm_scope() {
    let forms = [
        (DmScope::Main, "agent:coder:main"),
        (DmScope::PerPeer, "agent:coder:direct:user123"),
        (DmScope::PerChannelPeer, "agent:coder:telegram:direct:user123"),
        (DmScope::PerAccountChannelPeer, "agent:coder:telegram:bot1:direct:user123"),
    ];
    for (dm_scope, key) in forms {
        let routing = Routing { dm_scope, ..Routing::default() };
        check(&routing, &full(Peer::Direct("User123".into()), None), key);
        check(&routing, &full(Peer::Direct("User123".into()), Some("T9")), &format!("{key}:thread:t9"));
        check(&routing, &full(Peer::Direct("User123".into()), Some(" ")), key);
        check(&routing, &full(Peer::Direct(" ".into()), None), "agent:coder:main");
    }
}

/// P-1: groups have their own scope whatever `dm_scope` is.
#[test]
fn p1_groups_ignore_dm_scope() {
    for (_, dm_scope) in DmScope::ALL {
        let routing = linked(dm_scope);
        check(&routing, &full(Peer::Group("G-1".into()), None), "agent:coder:telegram:group:g-1");
        check(
            &routing,
            &full(Peer::Group("G-1".into()), Some("5")),
            "agent:coder:telegram:group:g-1:thread:5",
        );
        check(&routing, &full(Peer::Group("111".into()), None), "agent:coder:telegram:group:111");
        check(&routing, &full(Peer::Group(String::new()), None), "agent:coder:telegram:group:unknown");
    }
}

/// P-1: what is left empty has a name, and the default is per channel and peer.
#[test]
fn p1_empty_parts_have_names() {
    assert_eq!(DmScope::default(), DmScope::PerChannelPeer);
    check(&Routing::default(), &Address::direct("", "x"), "agent:main:unknown:direct:x");
    check(&Routing::default(), &Address::direct("cli", ""), "agent:main:main");
    let routing = Routing { dm_scope: DmScope::PerAccountChannelPeer, ..Routing::default() };
    check(&routing, &Address::direct("cli", "me"), "agent:main:cli:default:direct:me");
}

/// P-1: odd ids are carried, each to its own key.
#[test]
fn p1_odd_ids_are_routed() {
    let key = |peer: &str| route(&Routing::default(), &Address::direct("telegram", peer));
    let long = "x".repeat(10 * 1024);
    let odd = ["a:b", "../x", "a#2", "👍", "a%3ab", "a b", "a\u{200b}b", "\u{0}", long.as_str()];
    let keys: std::collections::BTreeSet<_> = odd.iter().map(|peer| key(peer)).collect();
    assert_eq!(keys.len(), odd.len());
    assert_eq!(key("a#2").as_str(), "agent:main:telegram:direct:a%232");
    // An id that is written like a key stays inside its own part of the key.
    assert_eq!(key("x:thread:1").as_str(), "agent:main:telegram:direct:x%3athread%3a1");
}

/// P-2: a linked person is the same on every channel, under every `dm_scope` but `main`.
#[test]
fn p2_links_join_a_persons_channels() {
    for (_, dm_scope) in DmScope::ALL {
        let routing = linked(dm_scope);
        let key = if dm_scope == DmScope::Main { "agent:main:main" } else { "agent:main:direct:ann" };
        check(&routing, &Address::direct("telegram", "111"), key);
        check(&routing, &Address::direct("Discord", "222"), key);
        assert_ne!(route(&routing, &Address::direct("telegram", "112")).as_str(), "agent:main:direct:ann");
    }
}

/// P-2: nobody becomes a linked person by taking that person's name for an id.
#[test]
fn p2_a_link_cannot_be_forged() {
    let routing = linked(DmScope::PerPeer);
    check(&routing, &Address::direct("irc", "Ann"), "agent:main:direct:%61nn");
    check(&routing, &Address::direct("irc", "%61nn"), "agent:main:direct:%2561nn");
    check(&routing, &Address::direct("irc", "李"), "agent:main:direct:%e6%9d%8e");
    check(&routing, &Address::direct("irc", "bob"), "agent:main:direct:bob");
}

/// What routing may look at, and nothing else: written down naively, as plain values.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    Main,
    Linked(&'static str),
    Direct { channel: Option<String>, account: Option<String>, peer: String },
    Group { channel: String, id: String },
}

fn plain(text: &str, empty: &str) -> String {
    let text = text.trim().to_ascii_lowercase();
    if text.is_empty() { empty.to_owned() } else { text }
}

fn identity(dm_scope: DmScope, from: &Address) -> (String, Identity, Option<String>) {
    let channel = plain(&from.channel, "unknown");
    let account = plain(&from.account, "default");
    let who = match &from.peer {
        Peer::Group(id) => Identity::Group { channel, id: plain(id, "unknown") },
        Peer::Direct(peer) => {
            let peer = plain(peer, "");
            match (dm_scope, channel.as_str(), peer.as_str()) {
                (DmScope::Main, _, _) | (_, _, "") => Identity::Main,
                (_, "telegram", "111") | (_, "discord", "222") => Identity::Linked("ann"),
                (_, "wechat", "9") => Identity::Linked("李"),
                (DmScope::PerPeer, _, _) => Identity::Direct { channel: None, account: None, peer },
                (DmScope::PerChannelPeer, _, _) => {
                    Identity::Direct { channel: Some(channel), account: None, peer }
                }
                (DmScope::PerAccountChannelPeer, _, _) => {
                    Identity::Direct { channel: Some(channel), account: Some(account), peer }
                }
            }
        }
    };
    let thread = from.thread.as_deref().map(|t| plain(t, "")).filter(|t| !t.is_empty());
    (plain(&from.agent, "main"), who, thread)
}

/// Ids that are likely to meet, and ids of any kind.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "", " ", "main", "direct", "group", "thread", "unknown", "default", "ann", "Ann", "%61nn", "111",
            "222", "9", "李", "%e6%9d%8e", "telegram", "discord", "wechat", "a:b", "a%3ab", "../x", "a#2", "a2",
            "K", "\u{212a}", "x:thread:1", "direct:ann", "👍", "~", "agent:main:main",
        ]).prop_map(str::to_owned),
        2 => "[aA%:#~ 36]{0,4}",
        1 => "\\PC{0,8}",
        1 => any::<String>(),
        1 => "(x|:|李|👍){40,60}".prop_map(|s| s.repeat(2)),
    ]
}

fn address() -> impl Strategy<Value = Address> {
    let peer = prop_oneof![id().prop_map(Peer::Direct), id().prop_map(Peer::Group)];
    (id(), id(), id(), peer, prop::option::of(id()))
        .prop_map(|(agent, channel, account, peer, thread)| Address { agent, channel, account, peer, thread })
}

/// Two addresses that differ in a few parts only, so that they are likely to meet if they can.
fn pair() -> impl Strategy<Value = (Address, Address)> {
    (address(), address(), any::<[bool; 5]>()).prop_map(|(one, other, same)| {
        let mut two = one.clone();
        if !same[0] {
            two.agent = other.agent
        }
        if !same[1] {
            two.channel = other.channel
        }
        if !same[2] {
            two.account = other.account
        }
        if !same[3] {
            two.peer = other.peer
        }
        if !same[4] {
            two.thread = other.thread
        }
        (one, two)
    })
}

fn dm_scope() -> impl Strategy<Value = DmScope> {
    prop::sample::select(DmScope::ALL.map(|(_, dm_scope)| dm_scope).to_vec())
}

/// Issue 16: a channel may say that its ids are case-sensitive, and the others stay as they are.
#[test]
fn p1_ids_differ_by_case_where_the_channel_says_so() {
    let mut links = Links::with_cased(["Matrix"]);
    links.join("ann".to_owned(), vec!["matrix:@Ann:x".to_owned()]).unwrap();
    let routing = Routing { links, ..Routing::default() };
    check(&routing, &Address::direct("matrix", "Bob"), "agent:main:matrix:direct:%42ob");
    check(&routing, &Address::direct("matrix", "bob"), "agent:main:matrix:direct:bob");
    check(&routing, &Address::direct("matrix", "%42ob"), "agent:main:matrix:direct:%2542ob");
    check(&routing, &Address::group("MATRIX", "Room"), "agent:main:matrix:group:%52oom");
    check(&routing, &Address::direct("telegram", "Bob"), "agent:main:telegram:direct:bob");
    check(&routing, &Address::direct("matrix", "@Ann:x"), "agent:main:direct:ann");
    check(&routing, &Address::direct("matrix", "@ann:x"), "agent:main:matrix:direct:@ann%3ax");
    let thread = |name: &str| Address { thread: Some(name.to_owned()), ..Address::group("matrix", "r") };
    assert_ne!(route(&routing, &thread("T")), route(&routing, &thread("t")));
    let name = |peer: &str| user(&routing, &Address::direct("matrix", peer));
    assert_eq!(name("Bob"), routing.links.canonical_user("matrix:Bob"));
    assert_ne!(name("Bob"), name("bob"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Issue 16: on a channel with case-sensitive ids no two different ids ever meet; on others as before.
    #[test]
    fn p1_no_two_ids_meet_where_case_counts(a in id(), b in id(), swap: bool, group: bool) {
        let swapped = |text: &str| -> String {
            text.chars().map(|c| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }).collect()
        };
        let b = if swap { swapped(&a) } else { b };
        let routing = Routing { links: Links::with_cased(["matrix"]), ..Routing::default() };
        let key = |channel: &str, id: &str| match group {
            true => route(&routing, &Address::group(channel, id)),
            false => route(&routing, &Address::direct(channel, id)),
        };
        // A group without an id has a name.
        let cased = |id: &str| if group && id.trim().is_empty() { "unknown".to_owned() } else { id.trim().to_owned() };
        prop_assert_eq!(key("matrix", &a) == key("matrix", &b), cased(&a) == cased(&b));
        prop_assert_eq!(key("irc", &a) == key("irc", &b), cased(&a).eq_ignore_ascii_case(&cased(&b)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// P-1, P-2: two addresses have the same key if and only if they mean the same.
    #[test]
    fn p1_two_addresses_meet_only_if_they_mean_the_same((one, two) in pair(), dm_scope in dm_scope()) {
        let routing = linked(dm_scope);
        let same = identity(dm_scope, &one) == identity(dm_scope, &two);
        prop_assert_eq!(route(&routing, &one) == route(&routing, &two), same);
    }

    /// P-1: every key can be read again, and reads in one way only.
    #[test]
    fn p1_every_key_is_a_key(from in address(), dm_scope in dm_scope()) {
        let key = route(&linked(dm_scope), &from);
        prop_assert_eq!(key.as_str().parse::<scope::Key>(), Ok(key.clone()));
        prop_assert!(!key.as_str().contains(|c: char| c == '#' || c.is_whitespace() || c.is_control()));
        prop_assert!(key.as_str().starts_with("agent:"));
        let parts = key.as_str().split(':').count();
        prop_assert!((3..=8).contains(&parts), "{} has {} parts", key, parts);
    }

    /// X-9: two people never share a scope by default.
    #[test]
    fn x9_two_people_never_share_by_default(a in id(), b in id(), channel in id(), account in id()) {
        let (one, two) = (plain(&a, ""), plain(&b, ""));
        prop_assume!(one != two);
        let from = |peer: &str| Address { account: account.clone(), ..Address::direct(channel.clone(), peer) };
        prop_assert_ne!(route(&Routing::default(), &from(&a)), route(&Routing::default(), &from(&b)));
    }

    /// P-2: the same person is named in one way, whatever the way to write the address.
    #[test]
    fn p2_users_are_what_the_configuration_calls_them(from in address()) {
        let routing = linked(DmScope::PerChannelPeer);
        match (user(&routing, &from), &from.peer) {
            (None, Peer::Group(_)) => {}
            (None, Peer::Direct(peer)) => prop_assert!(peer.trim().is_empty()),
            (Some(user), peer) => {
                prop_assert!(matches!(peer, Peer::Direct(_)));
                prop_assert!(routing.links.knows(&user) || user.split(':').count() == 2, "{}", user);
            }
        }
    }
}

/// Issue 16, row 5: a key is read back, whatever agents, channels, accounts and threads are called.
#[test]
fn p2_the_person_of_a_key_is_found_whatever_its_parts_are_called() {
    let words = ["thread", "direct", "group", "main", "agent", "x"];
    for n in 0..words.len().pow(3) {
        let word = |place: u32| words[n / words.len().pow(place) % words.len()];
        let (agent, channel, account) = (word(0), word(1), word(2));
        for thread in [None, Some("thread"), Some("direct")] {
            for (_, dm_scope) in DmScope::ALL {
                let routing = Routing { dm_scope, ..Routing::default() };
                let from = |peer| Address {
                    agent: agent.into(),
                    channel: channel.into(),
                    account: account.into(),
                    peer,
                    thread: thread.map(str::to_owned),
                };
                let direct = from(Peer::Direct("direct".into()));
                let key = route(&routing, &direct);
                let person = Some(format!("{channel}:direct"));
                assert_eq!(user_of(&routing, &key).or(author(&routing, &direct, &key)), person, "{key}");
                let key = route(&routing, &from(Peer::Group("direct".into())));
                assert_eq!(form_of(&key), Some(Form::Group { channel }), "{key}");
            }
        }
    }
}
