//! Imports of long conversations: many messages share a commit, and one that is cut off is completed by the next.

use super::script::{Stage, stage_on};
use jiff::tz::TimeZone;
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
use segue_core::pins::{Capture, Model};
use segue_core::session::{Number, Title};
use segue_engine::config::Config;
use segue_engine::port::{Conversation, Importing, Taken};
use segue_engine::{Engine, Request};
use segue_store::Error;
use segue_store::conformance::{Call, Hook, Hooked};
use segue_store::memory::Memory;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Counts commits, and breaks off once in the middle of many appends.
struct Breaking {
    commits: AtomicUsize,
    /// How many of the next many appends are still written.
    left: AtomicUsize,
}

impl Hook for Breaking {
    fn before(&self, call: Call) -> Result<(), Error> {
        if matches!(call, Call::Append | Call::AppendMany) {
            self.commits.fetch_add(1, SeqCst);
        }
        Ok(())
    }

    fn made_of(&self, appends: usize) -> usize {
        self.left.swap(usize::MAX, SeqCst).min(appends)
    }
}

fn long() -> Conversation {
    let at: Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
    let role = |n: usize| if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let said = |n: usize| (at, role(n), Message::text(format!("message {n}")));
    Conversation { pins: None, title: None, messages: (0..1_000).map(said).collect() }
}

#[tokio::test]
async fn x12_an_import_shares_commits_and_is_completed_where_it_was_cut_off() {
    let (commits, left) = (0.into(), usize::MAX.into());
    let store = Arc::new(Hooked::new(Arc::new(Memory::default()), Breaking { commits, left }));
    let mut stage = stage_on(store.clone(), "").await;
    stage.play("10:00 user: here before").await;
    let texts: Vec<String> = long().messages.iter().map(|(_, _, message)| message.text.clone()).collect();
    store.hook.left.store(100, SeqCst);
    assert!(stage.engine.import(&stage.scope, long()).await.is_err());
    assert_eq!(stage.texts(2).await, texts[..101], "the first ones");
    stage.verify().await;
    let before = store.hook.commits.load(SeqCst);
    let imported = stage.engine.import(&stage.scope, long()).await.unwrap();
    assert_eq!((imported.taken, imported.known), (899, 101));
    assert_eq!(stage.texts(2).await, texts);
    assert_eq!(stage.texts(1).await, ["here before"]);
    let commits = store.hook.commits.load(SeqCst) - before;
    assert!(commits <= 8, "{commits} commits for 899 messages");
    let head = stage.state().await.head;
    let again = stage.engine.import(&stage.scope, long()).await.unwrap();
    assert_eq!((again.taken, again.known), (0, 1_000));
    assert_eq!(stage.state().await.head, head, "a second import changes nothing");
    stage.verify().await;
}

/// A message that is there twice is known in the middle of the others, too. Other words under the same id are another
/// message (issue 16, row 2), also in a second conversation.
#[tokio::test]
async fn x12_the_same_id_with_other_words_is_another_message() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: here before").await;
    let mut conversation = long();
    let count = conversation.messages.len();
    for (n, (_, _, message)) in conversation.messages.iter_mut().enumerate() {
        let id = if n == 500 { 7 } else { n };
        message.message_id = Some(MessageId(format!("id{id}")));
    }
    let repeated = conversation.messages[7].clone();
    conversation.messages.insert(600, repeated);
    let imported = stage.engine.import(&stage.scope, conversation.clone()).await.unwrap();
    assert_eq!((imported.taken, imported.known, imported.back), (count, 1, 0));
    assert!(stage.texts(2).await.contains(&"message 500".to_owned()));
    let mut other = conversation.clone();
    other.messages.truncate(3);
    other.messages[1].2.text = "said elsewhere".to_owned();
    let imported = stage.engine.import(&stage.scope, other.clone()).await.unwrap();
    assert_eq!((imported.taken, imported.known, imported.back), (1, 2, 0));
    for known in [conversation, other] {
        let again = stage.engine.import(&stage.scope, known.clone()).await.unwrap();
        assert_eq!((again.taken, again.known), (0, known.messages.len()), "a second import changes nothing");
    }
    stage.verify().await;
}

/// The person goes on where they were; nothing of the import is there to be undone.
#[tokio::test]
async fn x12_an_import_leaves_the_person_where_they_were() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: my own\n10:01 user: /new\n10:02 user: my second").await;
    stage.engine.import(&stage.scope, long()).await.unwrap();
    assert_eq!(stage.state().await.latest(), Some(Number(2)));
    stage.play("10:03 user: and on => continue #2\n10:04 user: /undo => merge command #1").await;
    assert_eq!(stage.texts(1).await, ["my own", "my second", "and on"]);
    assert_eq!(stage.texts(3).await.len(), 1_000);
    stage.verify().await;
}

/// Where nobody has talked yet, one goes on with what was taken over last; who has, goes on there.
#[tokio::test]
async fn x12_imports_into_an_empty_scope_end_with_the_last_one() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    let conversation = |n: usize| {
        let mut conversation = long();
        conversation.messages.truncate(4);
        conversation
            .messages
            .iter_mut()
            .for_each(|(_, _, message)| message.text.push_str(&format!(" of {n}")));
        conversation
    };
    for n in 1..=3 {
        stage.engine.import(&stage.scope, conversation(n)).await.unwrap();
        assert_eq!(stage.state().await.latest(), Some(Number(n as u32)));
    }
    stage.play("10:03 user: and on => continue #3").await;
    stage.engine.import(&stage.scope, conversation(4)).await.unwrap();
    assert_eq!(stage.state().await.latest(), Some(Number(3)));
    stage.verify().await;
}

/// Issue 16, row 13: a stamp far ahead is kept as it was given, and counts as the one before it.
#[tokio::test]
async fn x12_a_stamp_far_ahead_is_kept_as_given_and_not_believed() {
    let engine = Engine::open(Arc::new(Memory::default()), Config::load(Vec::new(), &TimeZone::UTC).unwrap());
    let (engine, scope) = (engine.await.unwrap(), "agent:main:cli:direct:me".parse().unwrap());
    let mut conversation = long();
    conversation.messages.truncate(4);
    let (far, usual) = ("9999-01-01T00:00:00Z".parse::<Timestamp>().unwrap(), conversation.messages[0].0);
    conversation.messages[2].0 = far;
    engine.import(&scope, conversation).await.unwrap();
    let state = engine.state(&scope).await.unwrap();
    assert_eq!(state.clock, usual);
    let held = engine.all_messages(&state, Number(1)).await.unwrap();
    let given: Vec<_> = held.iter().map(|said| said.message.as_ref().unwrap().given_at).collect();
    assert_eq!(given, [None, None, Some(far), None]);
}

/// Found by the random model: the first session of a scope counted as its own if it was imported, and so the backlog could
/// delete it.
#[tokio::test]
async fn p8_a_conversation_that_is_imported_into_an_empty_scope_is_never_deleted_by_the_backlog() {
    let settings = "[session]\nbacklog = 'delete'\nbacklog_limit = 2";
    let mut stage = stage_on(Arc::new(Memory::default()), settings).await;
    let mut conversation = long();
    conversation.messages.truncate(3);
    stage.engine.import(&stage.scope, conversation).await.unwrap();
    stage.play("10:00 user: /new\n10:01 user: /new\n10:02 user: /new\n10:03 user: /new").await;
    assert_eq!(stage.texts(1).await.len(), 3);
}

/// A short conversation as a file of another program tells it.
fn talk(nth: usize) -> Vec<Taken> {
    let taken = |(line, (at, role, mut message)): (usize, (Timestamp, Role, Message))| {
        message.message_id = Some(MessageId(format!("talk{nth}:{line}")));
        message.text.push_str(&format!(" of {nth}"));
        Taken { line, seq: None, at, role, message, former: None, beginnings: Vec::new() }
    };
    long().messages.into_iter().take(4).enumerate().map(taken).collect()
}

/// Takes over a file with some conversations, as far as its messages go.
async fn messages_of_file(stage: &Stage, talks: usize) -> Vec<Importing> {
    let mut roads = Vec::new();
    for nth in 0..talks {
        let mut road = Importing::new(stage.scope.clone());
        stage.engine.import_more(&mut road, talk(nth)).await.unwrap();
        roads.push(road);
    }
    roads
}

/// Takes over a file with some conversations.
async fn import_file(stage: &Stage, talks: usize) {
    for road in messages_of_file(stage, talks).await {
        stage.engine.import_end(road, None, None).await.unwrap();
    }
}

/// A file may hold many conversations, each of which is opened before any is ended, and more of them than there are
/// boundaries to go back over.
#[tokio::test]
async fn x12_a_file_of_many_conversations_leaves_the_person_where_they_were() {
    for talks in [2, 40] {
        let mut stage = stage_on(Arc::new(Memory::default()), "").await;
        stage.play("10:00 user: my own").await;
        import_file(&stage, talks).await;
        assert_eq!(stage.state().await.latest(), Some(Number(1)), "{talks}");
        assert!(stage.state().await.boundaries.is_empty(), "nothing of an import is there to be undone");
        stage.play("10:03 user: and on => continue #1").await;
        assert_eq!(stage.texts(talks as u32 + 1).await.len(), 4);
        // Who talks in a scope of imports only has one of their own in the midst of them.
        let mut stage = stage_on(Arc::new(Memory::default()), "").await;
        import_file(&stage, 1).await;
        stage.play("10:03 user: and on => continue #1").await;
        import_file(&stage, talks).await;
        assert_eq!(stage.state().await.latest(), Some(Number(1)), "{talks}");
        stage.verify().await;
    }
}

/// Earlier versions left the person in the last conversation of such a file.
#[tokio::test]
async fn x12_whom_an_earlier_import_has_moved_goes_back_with_the_next_one() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: my own").await;
    for nth in 0..3 {
        stage.engine.request(&stage.scope, talk(nth)[0].at, &Request::OpenImported).await.unwrap();
        for Taken { at, role, message, .. } in talk(nth) {
            stage.engine.request(&stage.scope, at, &Request::Keep(role, message)).await.unwrap();
        }
    }
    assert_eq!(stage.state().await.latest(), Some(Number(4)));
    import_file(&stage, 3).await;
    assert_eq!(stage.state().await.latest(), Some(Number(1)));
    assert_eq!(stage.state().await.sessions.len(), 4);
    stage.verify().await;
}

/// Who talks in a session while it is taken over, or after that was cut off, stays there, with what they said.
#[tokio::test]
async fn x12_who_has_talked_in_a_session_that_is_taken_over_stays_there() {
    let store = Arc::new(Hooked::new(
        Arc::new(Memory::default()),
        Breaking { commits: 0.into(), left: usize::MAX.into() },
    ));
    let mut stage = stage_on(store.clone(), "").await;
    stage.play("10:00 user: here before").await;
    store.hook.left.store(100, SeqCst);
    assert!(stage.engine.import(&stage.scope, long()).await.is_err());
    stage.play("10:05 user: what is this? => continue #2").await;
    stage.engine.import(&stage.scope, long()).await.unwrap();
    assert_eq!(stage.state().await.latest(), Some(Number(2)));
    assert_eq!(stage.texts(2).await.len(), 1_001);
    stage.play("10:06 user: and on => continue #2").await;
    // Another import ends there, too.
    import_file(&stage, 2).await;
    assert_eq!(stage.state().await.latest(), Some(Number(2)));
    stage.verify().await;
}

/// Killed behind the last message: the next import finds all of them, and ends what the first one could not. A second one
/// changes nothing.
#[tokio::test]
async fn x12_an_import_that_was_cut_off_behind_its_last_message_is_ended_by_the_next() {
    for own in ["10:00 user: my own", ""] {
        let mut stage = stage_on(Arc::new(Memory::default()), "").await;
        stage.play(own).await;
        drop(messages_of_file(&stage, 2).await);
        let first = if own.is_empty() { 1 } else { 2 };
        let mut head = None;
        for _ in 0..2 {
            for (nth, mut road) in messages_of_file(&stage, 2).await.into_iter().enumerate() {
                stage.engine.import_more(&mut road, talk(nth)).await.unwrap();
                let pins = Capture { model: Some(Model::named("old")), ..Capture::default() };
                let pins = (nth == 1).then(|| Box::new(pins));
                let title = Title::new(&format!("Talk {nth}"));
                let imported = stage.engine.import_end(road, title, pins).await.unwrap();
                assert_eq!((imported.session, imported.taken), (None, 0));
            }
            let state = stage.state().await;
            assert_eq!(state.latest(), Some(Number(if own.is_empty() { 2 } else { 1 })), "{own}");
            for nth in 0..2 {
                let session = state.live(Number(first + nth)).unwrap();
                assert_eq!(session.title, Title::new(&format!("Talk {nth}")));
                assert_eq!(session.pins.model.is_some(), nth == 1);
            }
            assert_eq!(*head.get_or_insert(state.head), state.head, "a second import changes nothing");
        }
        stage.verify().await;
    }
}

/// the title of an import goes with any of its messages, and does not come back with the next import.
#[tokio::test]
async fn x17_a_title_that_was_erased_does_not_come_back_with_an_import() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let conversation = Conversation { title: Title::new("message 0"), ..long() };
    let imported = stage.engine.import(&stage.scope, conversation.clone()).await.unwrap();
    assert_eq!(imported.taken, 1_000);
    let said = stage.engine.said_in(&*stage.state().await, Number(1)).await.unwrap();
    let at = conversation.messages[0].0;
    stage.engine.request(&stage.scope, at, &Request::Erase(vec![said[0]])).await.unwrap();
    assert_eq!(stage.state().await.live(Number(1)).unwrap().title, None);
    let again = stage.engine.import(&stage.scope, conversation).await.unwrap();
    assert_eq!((again.taken, again.known), (0, 1_000));
    assert_eq!(stage.state().await.live(Number(1)).unwrap().title, None);
}

/// a message that waits for an answer goes on waiting: nothing is taken over before that, and it is said why.
#[tokio::test]
async fn r14_x12_no_import_comes_between_a_question_and_its_answer() {
    let settings = "lifecycle.policy = 'task'\nlifecycle.question = 'hold'";
    for moved in [false, true] {
        let mut stage = stage_on(Arc::new(Memory::default()), settings).await;
        if moved {
            // The person goes on in what was taken over.
            stage
                .engine
                .import_more(&mut Importing::new(stage.scope.clone()), talk(0)[..2].to_vec())
                .await
                .unwrap();
        }
        stage.play("1d 08:00 user: fix the parser\n3d 08:00:01 user: and the lexer => ask temporal #1").await;
        let head = stage.state().await.head;
        let mut road = Importing::new(stage.scope.clone());
        let refused = stage.engine.import_more(&mut road, talk(0)).await.unwrap_err().to_string();
        assert!(refused.contains("a question holds a message"), "{refused}");
        assert_eq!(stage.state().await.head, head, "nothing was changed");
        stage.play("3d 08:01 user: fresh => new intent #2").await;
        assert_eq!(stage.texts(2).await, ["and the lexer"]);
        let mut road = Importing::new(stage.scope.clone());
        stage.engine.import_more(&mut road, talk(0)).await.unwrap();
        stage.engine.import_end(road, None, None).await.unwrap();
        assert_eq!(stage.state().await.latest(), Some(Number(2)));
        stage.verify().await;
    }
}
