//! Issue 16, row 5: a person is found wherever they spoke.

use jiff::tz::TimeZone;
use segue_core::message::{Message, Role};
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::inbound::Target;
use segue_engine::route::{Address, Peer};
use segue_engine::{Engine, Inbound};
use segue_store::Location;

const AT: &str = "2026-03-01T10:00:00Z";

struct Place {
    folder: tempfile::TempDir,
    engine: Engine,
}

impl Place {
    async fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let layer = Layer::toml(
            Origin::Workspace("t.toml".into()),
            format!("lifecycle.auto_route = 'never'\n{config}"),
        );
        let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
        let store = Location::Sqlite(folder.path().join("segue.db")).open().unwrap();
        let engine = Engine::open(store, config).await.unwrap();
        Self { folder, engine }
    }

    async fn say(&self, from: &Address, sender: Option<&str>, text: &str) {
        let message = Message { sender: sender.map(str::to_owned), ..Message::text(text) };
        let (at, to) = (AT.parse().unwrap(), Target::Address(from.clone()));
        let inbound = Inbound { at, to, role: Role::User, message, session: None };
        let scope = self.engine.receive(inbound).await.unwrap().scope;
        let reply = Message::text("noted");
        let to = Target::Scope(scope);
        let inbound = Inbound { at, to, role: Role::Assistant, message: reply, session: None };
        self.engine.receive(inbound).await.unwrap();
    }

    /// Erases a person, and returns how many messages nobody could tell about.
    async fn erase(&self, person: &str) -> usize {
        let found = self.engine.to_erase_of(person).await.unwrap();
        for (scope, entries) in &found.entries {
            self.engine.erase_unpurged(scope, entries).await.unwrap();
            let report = segue_store::verify::verify(self.engine.store().as_ref(), scope).await.unwrap();
            assert_eq!(report.problems, Vec::<String>::new());
        }
        assert!(self.engine.purge().await);
        found.unknown.iter().map(|(_, count)| count).sum()
    }

    fn holds(&self, text: &str) -> bool {
        !crate::found(self.folder.path(), text).is_empty()
    }
}

fn direct(agent: &str, channel: &str, account: &str, peer: &str, thread: Option<&str>) -> Address {
    Address {
        agent: agent.into(),
        channel: channel.into(),
        account: account.into(),
        peer: Peer::Direct(peer.into()),
        thread: thread.map(str::to_owned),
    }
}

#[tokio::test]
async fn x17_a_person_is_found_under_every_dm_scope_and_name() {
    for dm_scope in ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] {
        for (agent, channel, account) in [("main", "telegram", "bot"), ("thread", "thread", "thread")] {
            for thread in [None, Some("thread")] {
                let place = Place::new(&format!("session.dm_scope = '{dm_scope}'")).await;
                let from = |peer| direct(agent, channel, account, peer, thread);
                place.say(&from("111"), None, "the ANNSECRET is out").await;
                place.say(&from("111"), None, "/session rename ANNTITLE").await;
                place.say(&from("222"), None, "the BOBSECRET stays").await;
                assert!(place.holds("ANNSECRET") && place.holds("ANNTITLE"));
                assert_eq!(place.erase(&format!("{channel}:111")).await, 0);
                let context = format!("{dm_scope} {channel} {thread:?}");
                assert!(!place.holds("ANNSECRET"), "{context}");
                assert!(!place.holds("ANNTITLE"), "{context}");
                assert!(place.holds("BOBSECRET"), "{context}");
            }
        }
    }
}

/// Who is alone in `main` owns it; a link that was taken away does not hide what was said under it.
#[tokio::test]
async fn x17_a_person_is_found_when_links_come_and_go() {
    let place = Place::new("session.dm_scope = 'main'").await;
    place.say(&Address::direct("telegram", "111"), None, "the ANNSECRET").await;
    assert_eq!(place.erase("telegram:111").await, 0);
    assert!(!place.holds("ANNSECRET") && !place.holds("noted"), "and the answers");

    let links = "session.identity_links = { ann = ['telegram:111', 'discord:222'] }";
    let place = Place::new(links).await;
    place.say(&Address::direct("telegram", "111"), None, "the ANNSECRET").await;
    place.say(&Address::direct("discord", "222"), None, "another ANNSECRET").await;
    let Place { folder, engine } = place;
    drop(engine);
    let config = Config::load(Vec::new(), &TimeZone::UTC).unwrap();
    let store = Location::Sqlite(folder.path().join("segue.db")).open().unwrap();
    let place = Place { folder, engine: Engine::open(store, config).await.unwrap() };
    place.erase("telegram:111").await;
    assert!(!place.holds("the ANNSECRET") && place.holds("another ANNSECRET"));
    place.erase("discord:222").await;
    assert!(!place.holds("another ANNSECRET"));
}

/// In groups: what they said, the commands that they typed, the titles that they gave, however many there are.
#[tokio::test]
async fn x17_a_member_of_a_group_is_erased_with_their_commands_and_titles() {
    let place = Place::new("").await;
    let group = Address::group("telegram", "-5");
    place.say(&group, Some("222"), "BOBSECRET begins").await;
    for n in 0..1_010 {
        place.say(&group, Some("111"), &format!("/session rename ANNTITLE {n}")).await;
    }
    place.say(&group, Some("111"), "the ANNSECRET").await;
    place.say(&group, Some("222"), "/session rename BOBTITLE").await;
    place.say(&group, None, "who said this").await;
    assert_eq!(place.erase("telegram:111").await, 1, "what has no sender may be anybody's");
    assert!(!place.holds("rename ANNTITLE") && !place.holds("the ANNSECRET"));
    assert!(place.holds("BOBSECRET") && place.holds("who said this"));
}

/// In a scope that the host routed there is nothing to go by: nobody can tell, and that is said.
#[tokio::test]
async fn x17_what_nobody_can_tell_is_told() {
    let place = Place::new("").await;
    let scope = "agent:main:main".parse().unwrap();
    place.engine.receive(Inbound::user(scope, AT.parse().unwrap(), "by whom?")).await.unwrap();
    assert_eq!(place.erase("telegram:111").await, 1);
    assert!(place.holds("by whom?"));
}

/// Issue 16: sessions of a group are everybody's, and only moderators delete them.
#[tokio::test]
async fn only_moderators_delete_sessions_in_a_group() {
    for (moderators, is_deleted) in
        [("[]", false), ("['telegram:222']", false), ("['telegram:111']", true), ("['*']", true)]
    {
        let place = Place::new(&format!("groups.moderators = {moderators}")).await;
        let group = Address::group("telegram", "-5");
        place.say(&group, Some("222"), "BOBSECRET").await;
        place.say(&group, Some("222"), "/new").await;
        place.say(&group, Some("111"), "/session delete 1").await;
        assert_eq!(!place.holds("BOBSECRET"), is_deleted, "{moderators}");
        let own = Address::direct("telegram", "111");
        place.say(&own, None, "ANNSECRET").await;
        place.say(&own, None, "/new").await;
        place.say(&own, None, "/session delete 1").await;
        assert!(!place.holds("ANNSECRET"), "one's own scope is one's own");
    }
}

/// Issue 16: where several people share a scope that is no group, nobody deletes what somebody else said.
#[tokio::test]
async fn nobody_deletes_what_somebody_else_said() {
    for moderators in ["[]", "['telegram:222']"] {
        let place = Place::new(&format!("session.dm_scope = 'main'\ngroups.moderators = {moderators}")).await;
        let (ann, bob) = (Address::direct("telegram", "111"), Address::direct("telegram", "222"));
        place.say(&ann, None, "ANNSECRET").await;
        place.say(&ann, None, "/new").await;
        place.say(&bob, None, "BOBSECRET").await;
        place.say(&bob, None, "/new").await;
        place.say(&bob, None, "/session delete 1").await;
        let is_moderator = moderators != "[]";
        assert_eq!(!place.holds("ANNSECRET"), is_moderator, "{moderators}");
        place.say(&bob, None, "/session delete 2").await;
        assert!(!place.holds("BOBSECRET"), "one's own words are one's own");
    }
    // A host that names nobody has one person as far as anybody can tell.
    let place = Place::new("").await;
    let say = async |text: &str| {
        let scope = "my-scope".parse().unwrap();
        place.engine.receive(Inbound::user(scope, AT.parse().unwrap(), text)).await.unwrap()
    };
    say("OWNSECRET").await;
    say("/new").await;
    say("/session delete 1").await;
    assert!(!place.holds("OWNSECRET"));
}

/// A key that the host made may be the person's own name; what nobody can tell of others is told.
#[tokio::test]
async fn x17_a_person_is_found_under_a_key_of_the_host() {
    let place = Place::new("session.identity_links = { ann = ['telegram:111'] }").await;
    for (scope, text) in [("ann", "ANNSECRET"), ("telegram:111", "ANNADDRESS"), ("conv-7", "by whom?")] {
        let inbound = Inbound::user(scope.parse().unwrap(), AT.parse().unwrap(), text);
        place.engine.receive(inbound).await.unwrap();
    }
    assert_eq!(place.erase("ann").await, 1, "what is said under another key may be anybody's");
    assert!(!place.holds("ANNSECRET") && !place.holds("ANNADDRESS") && place.holds("by whom?"));
}

/// The name of a control model is kept for good: nothing but a name of the configuration is taken.
#[tokio::test]
async fn x17_a_control_model_is_one_of_the_configuration() {
    let models = "models.small.base_url = 'http://localhost:1/v1'\nmodels.small.model = 'm'";
    let place = Place::new(models).await;
    let me = Address::direct("telegram", "111");
    place.say(&me, None, "hello").await;
    place.say(&me, None, "/control 我的密码是CONTROLSECRET").await;
    place.say(&me, None, "/control small").await;
    place.say(&me, None, "/control builtin").await;
    let scope = "agent:main:telegram:direct:111".parse().unwrap();
    let state = place.engine.state(&scope).await.unwrap();
    assert_eq!(state.extras.control_models.values().collect::<Vec<_>>(), ["builtin"]);
    place.erase("telegram:111").await;
    assert!(!place.holds("CONTROLSECRET"));
}
