//! Recall (M-D2): only on request, only with a reason, only from the own scope.

use super::script::{play, stage_on};
use segue_core::entry::Seq;
use segue_core::message::Role;
use segue_engine::recall::{FRAGMENTS_MAX, Recall};
use segue_engine::{Error, Inbound, Request};
use segue_store::memory::Memory;
use segue_store::search::Reach;
use segue_store::sqlite::Sqlite;
use segue_store::{Maintenance, Store, Subject};
use std::sync::Arc;

const SCRIPT: &str = "
    10:00 user: The harbour master wants the crane moved before Easter
    10:01 assistant: Noted: the crane goes to pier four before Easter.
    10:02 user: /new
    10:03 user: How long do I boil quail eggs?
    10:04 assistant: Two and a half minutes, then cold water.
    10:05 user: /new
    10:06 user: Which crane did we see in Hamburg?
";

/// M-D1, M-D2: nothing of an earlier session comes in by itself; it takes a query and a rationale.
#[tokio::test]
async fn history_recall_requires_explicit_selection() {
    let stage = play("", SCRIPT).await;
    let context = stage.engine.context(&stage.scope).await.unwrap();
    let given: Vec<&str> = context.messages.iter().map(|told| told.text.as_str()).collect();
    assert_eq!(given, ["Which crane did we see in Hamburg?"], "although it has a word of the first session");
    for (query, why) in [("", "asked"), (" \n", "asked")] {
        let refused = stage.engine.recall(&stage.scope, &Recall::new(query, why)).await;
        assert!(matches!(refused, Err(Error::NoQuery)), "{refused:?}");
    }
    for why in ["", "  "] {
        let refused = stage.engine.recall(&stage.scope, &Recall::new("crane", why)).await;
        assert!(matches!(refused, Err(Error::NoRationale)), "{refused:?}");
    }
    let recalled =
        stage.engine.recall(&stage.scope, &Recall::new("the crane", "the user asked")).await.unwrap();
    assert_eq!(recalled.fragments.len(), 2);
    for fragment in &recalled.fragments {
        assert_eq!(fragment.session.to_string(), "agent:main:cli:direct:me", "the first session");
        assert_eq!(fragment.rationale, "the user asked");
        assert!(fragment.score > 0.0 && fragment.score <= 1.0);
        assert!(fragment.text.contains("crane"));
    }
    // Reading changed nothing: neither the log nor the next context.
    assert_eq!(stage.engine.context(&stage.scope).await.unwrap(), context);
    stage.verify().await;
}

/// M-D2: the latest session is in the context already, and is looked into only if asked.
#[tokio::test]
async fn m_d2_the_latest_session_is_recalled_only_if_asked() {
    let stage = play("", SCRIPT).await;
    let mut recall = Recall::new("Hamburg", "to see where");
    assert!(stage.engine.recall(&stage.scope, &recall).await.unwrap().fragments.is_empty());
    recall.reach = Reach::Everything;
    let found = stage.engine.recall(&stage.scope, &recall).await.unwrap();
    assert_eq!(found.fragments.len(), 1);
    assert_eq!((found.fragments[0].role, found.fragments[0].session.number.0), (Role::User, 3));
}

/// M-D2: count and tokens are bounded, whatever is asked.
#[tokio::test]
async fn m_d2_a_recall_is_bounded() {
    let mut stage = stage_on(Arc::new(Memory::default()), "session.backlog_limit = 100").await;
    for n in 0..60 {
        let words = "and many more words about nothing at all ".repeat(50);
        stage.say(&format!("10:00 user: the lighthouse report number {n} {words}")).await;
        stage.say("10:01 user: /new").await;
    }
    let recall =
        |count_max, tokens_max| Recall { count_max, tokens_max, ..Recall::new("lighthouse", "a test") };
    let all = stage.engine.recall(&stage.scope, &recall(usize::MAX, u64::MAX)).await.unwrap();
    assert!(all.fragments.len() <= FRAGMENTS_MAX && all.fragments.len() > 10);
    assert!(all.fragments.iter().all(|f| f.text.contains("lighthouse") && f.text.chars().count() <= 602));
    assert_eq!(stage.engine.recall(&stage.scope, &recall(2, u64::MAX)).await.unwrap().fragments.len(), 2);
    assert_eq!(stage.engine.recall(&stage.scope, &recall(9, 400)).await.unwrap().fragments.len(), 2);
    assert!(stage.engine.recall(&stage.scope, &recall(9, 3)).await.unwrap().fragments.is_empty());
}

/// M-D2: what was erased or deleted is never recalled, also if it was found before.
#[tokio::test]
async fn m_d2_what_is_gone_is_not_recalled() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(Sqlite::open(&folder.path().join("segue.db")).unwrap());
    for store in [sqlite as Arc<dyn segue_store::Store>, Arc::new(Memory::default())] {
        let mut stage = stage_on(store, "").await;
        stage.play(SCRIPT).await;
        let crane = Recall::new("crane", "a test");
        let seq = stage.engine.recall(&stage.scope, &crane).await.unwrap().fragments[0].seq;
        let now = stage.state().await.clock;
        stage.engine.request(&stage.scope, now, &Request::Erase(vec![seq])).await.unwrap();
        let left = stage.engine.recall(&stage.scope, &crane).await.unwrap().fragments;
        assert!(left.len() == 1 && left[0].seq != seq);
        stage.say("10:10 user: /session delete 1").await;
        assert!(stage.engine.recall(&stage.scope, &crane).await.unwrap().fragments.is_empty());
        assert!(seq > Seq::ZERO);
        stage.verify().await;
    }
}

/// The command: its rationale is that the user asked, and it is answered in the user's language.
#[tokio::test]
async fn m_d2_a_person_recalls_by_a_command() {
    let mut stage = play("", SCRIPT).await;
    let before = stage.state().await.head;
    let reply = stage.say("10:07 user: /recall quail eggs").await.reply.unwrap();
    assert!(reply.starts_with("#2, message "), "{reply}");
    assert!(reply.contains("you: How long do I boil quail eggs?"), "{reply}");
    let reply = stage.say("10:07 user: /recall zeppelin").await.reply.unwrap();
    assert_eq!(reply, "Nothing about that was found in earlier sessions.");
    let reply = stage.say("10:07 user: /recall").await.reply.unwrap();
    assert_eq!(reply, "Usage: /recall QUERY (QUERY is what to look for)");
    assert_eq!(stage.state().await.head, before, "a recall by a command writes nothing");
}

/// A question in one language finds what was said in the other, though no word is the same.
#[tokio::test]
async fn m_d2_a_question_finds_what_was_said_in_the_other_language() {
    let stage = play(
        "",
        "
        10:00 user: 我想学做红烧肉，五花肉要先焯水吗？
        10:01 assistant: 要，冷水下锅焯两分钟，再炒糖色。
        10:02 user: /new
        10:03 user: My landlord will not give back the deposit because of scratches.
        10:04 assistant: Write to him with the photos of the day you moved in.
        10:05 user: /new
        10:06 user: hello
    ",
    )
    .await;
    for (question, session) in [("how do I cook braised pork", 1), ("房东不退押金", 2)] {
        let recalled = stage.engine.recall(&stage.scope, &Recall::new(question, "a test")).await.unwrap();
        let found: Vec<u32> = recalled.fragments.iter().map(|fragment| fragment.session.number.0).collect();
        assert_eq!(found.first(), Some(&session), "{question}: {found:?}");
    }
}

/// One word in common is no reason not to look further; what was said beside a message comes along.
#[tokio::test]
async fn m_d2_a_word_in_common_does_not_hide_what_is_meant() {
    let stage = play(
        "",
        "
        10:00 user: I need a new laptop for editing photos, it must run Linux.
        10:01 assistant: Take the Framework with 32 GB of memory; its keyboard and battery can be changed.
        10:02 user: /new
        10:03 user: I ordered flowers.
        10:04 assistant: The florist brings them on Friday morning.
        10:05 user: /new
        10:06 user: My knee hurts after running.
        10:07 assistant: Rest it for a week, then begin with slow squats.
        10:08 user: /new
        10:09 user: The soup is too salty.
        10:10 assistant: Boil a potato in it.
        10:11 user: /new
        10:12 user: hello
    ",
    )
    .await;
    let recall = Recall::new("Which computer did I order?", "a test");
    let recalled = stage.engine.recall(&stage.scope, &recall).await.unwrap();
    let computer = recalled.fragments.iter().find(|fragment| fragment.text.contains("laptop"));
    assert!(computer.is_some_and(|fragment| fragment.session.number.0 == 1), "{recalled:?}");
    let recall = Recall { count_max: 1, ..Recall::new("a laptop for editing photos", "a test") };
    let recalled = stage.engine.recall(&stage.scope, &recall).await.unwrap();
    let after = recalled.fragments[0].after.as_ref();
    assert!(
        recalled.fragments[0].before.is_none() && after.is_some_and(|said| said.text.contains("Framework"))
    );
}

const LEFT: &str = "
    10:00 user: Lufthansa has no trace of my suitcase since Frankfurt.
    10:01 assistant: File a claim at the desk and keep the receipts for what you buy meanwhile.
    10:02 user: /new
    10:03 user: The gearbox of the old Volvo makes a grinding noise in third.
    10:04 assistant: That is the synchroniser ring; have it looked at before winter.
    10:05 user: /new
    10:06 user: My landlord wants to raise the rent by a fifth.
    10:07 assistant: He may not within three years; answer in writing.
    10:08 user: /new
    10:09 user: hello
";

/// M-D2: a question with no word in common finds its session by what the sentences mean; what was found out is kept, and an engine
/// that has read nothing finds the same.
#[tokio::test]
async fn m_d2_a_question_in_other_words_finds_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let sqlite = Arc::new(Sqlite::open(&path).unwrap());
    let mut stage = stage_on(sqlite.clone(), "").await;
    stage.play(LEFT).await;
    let questions = [
        ("the trip where the airline lost my luggage", 1),
        ("what was broken on the car", 2),
        ("housing costs", 3),
    ];
    let mut firsts = Vec::new();
    for (question, session) in questions {
        let recalled = stage.engine.recall(&stage.scope, &Recall::new(question, "a test")).await.unwrap();
        assert_eq!(recalled.fragments[0].session.number.0, session, "{question}: {recalled:?}");
        firsts.push(recalled);
    }
    let later = stage_on(sqlite, "").await;
    for ((question, _), expected) in questions.iter().zip(firsts) {
        let again = later.engine.recall(&stage.scope, &Recall::new(*question, "a test")).await.unwrap();
        assert_eq!(again, expected);
    }
    stage.verify().await;
}

/// M-D2, X-17: an embedding goes with its message, and is not kept by one who read the message before.
#[tokio::test]
async fn m_d2_x17_an_embedding_goes_with_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(Sqlite::open(&folder.path().join("segue.db")).unwrap());
    let embeddings = sqlite.embeddings().unwrap();
    let mut stage = stage_on(sqlite.clone(), "").await;
    stage.play(LEFT).await;
    stage.engine.prepare_recall(&stage.scope).await.unwrap();
    let all = embeddings.tail(&stage.scope, Seq::ZERO, 100).await.unwrap();
    assert_eq!(all.len(), 7, "one for each message");
    let asked = Recall::new("the trip where the airline lost my luggage", "a test");
    let found = stage.engine.recall(&stage.scope, &asked).await.unwrap();
    let suitcase = found.fragments[0].seq;
    let kept = embeddings.get(&stage.scope, &[Subject::Entry(suitcase)]).await.unwrap();
    assert_eq!(kept.len(), 1);
    let (before, now) = (stage.state().await.head, stage.state().await.clock);
    stage.engine.request(&stage.scope, now, &Request::Erase(vec![suitcase])).await.unwrap();
    assert!(embeddings.get(&stage.scope, &[Subject::Entry(suitcase)]).await.unwrap().is_empty());
    embeddings.put(&stage.scope, before, kept).await.unwrap();
    let gone = embeddings.get(&stage.scope, &[Subject::Entry(suitcase)]).await.unwrap();
    assert!(gone.is_empty(), "it was read before");
    // Neither this engine finds it, nor one that has read nothing.
    let later = stage_on(sqlite.clone(), "").await;
    for engine in [&stage.engine, &later.engine] {
        let left = engine.recall(&stage.scope, &asked).await.unwrap();
        assert!(left.fragments.iter().all(|fragment| fragment.seq != suitcase), "{left:?}");
    }
    let volvo = Recall::new("what was broken on the car", "a test");
    let volvo = stage.engine.recall(&stage.scope, &volvo).await.unwrap().fragments[0].seq;
    stage.say("10:10 user: /session delete 2").await;
    sqlite.sweep().await.unwrap();
    assert!(embeddings.get(&stage.scope, &[Subject::Entry(volvo)]).await.unwrap().is_empty());
    stage.verify().await;
}

/// Messages are embedded in the background, once, and an embedding of another encoder is made anew.
#[tokio::test]
async fn m_d2_messages_are_embedded_once() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(Sqlite::open(&folder.path().join("segue.db")).unwrap());
    let embeddings = sqlite.embeddings().unwrap();
    let mut stage = stage_on(sqlite.clone(), "").await;
    stage.play(LEFT).await;
    stage.engine.prepare_recall(&stage.scope).await.unwrap();
    let made = embeddings.tail(&stage.scope, Seq::ZERO, 100).await.unwrap();
    let head = stage.state().await.head;
    let marked = made.iter().cloned().map(|mut one| {
        *one.bytes.last_mut().unwrap() ^= 1;
        one
    });
    let marked: Vec<_> = marked.collect();
    embeddings.put(&stage.scope, head, marked.clone()).await.unwrap();
    stage_on(sqlite.clone(), "").await.engine.prepare_recall(&stage.scope).await.unwrap();
    assert_eq!(embeddings.tail(&stage.scope, Seq::ZERO, 100).await.unwrap(), marked, "they are there");
    let mut old = made[3].clone();
    old.bytes[0] ^= 1;
    embeddings.put(&stage.scope, head, vec![old]).await.unwrap();
    stage_on(sqlite.clone(), "").await.engine.prepare_recall(&stage.scope).await.unwrap();
    let again = embeddings.tail(&stage.scope, Seq::ZERO, 100).await.unwrap();
    assert_eq!((&again[..3], &again[3..]), (&marked[..3], &made[3..]));
}

/// M-D2: messages are embedded in the background, while people talk, so that the first recall need not.
#[tokio::test]
async fn m_d2_messages_are_embedded_while_people_talk() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(Sqlite::open(&folder.path().join("segue.db")).unwrap());
    let stage = stage_on(sqlite.clone(), "").await;
    for minute in 0..20 {
        let at = format!("2026-03-01T10:{minute:02}:00Z").parse().unwrap();
        let text = format!("The {minute}. harbour has a crane of its own");
        stage.engine.receive(Inbound::user(stage.scope.clone(), at, text)).await.unwrap();
    }
    let embeddings = sqlite.embeddings().unwrap();
    let embedded = async {
        while embeddings.tail(&stage.scope, Seq::ZERO, 100).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), embedded).await.unwrap();
}

/// M-D2: a question may name a day, and what was said then comes first.
#[tokio::test]
async fn m_d2_a_question_may_name_a_day() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    for (day, dish) in [(3, "lentil soup"), (10, "leek pie"), (17, "fish stew")] {
        let at = format!("2026-03-{day:02}T18:00:00Z").parse().unwrap();
        for text in [format!("Tonight I cook {dish} for the family"), "/new".to_owned()] {
            stage.engine.receive(Inbound::user(stage.scope.clone(), at, text)).await.unwrap();
        }
    }
    stage.say("18d 10:00 user: hello").await;
    for (question, dish) in [
        ("What did I cook on 3 March?", "lentil soup"),
        ("What did I cook last week?", "leek pie"),
        ("3月10号我做了什么菜", "leek pie"),
        ("what was it that I cooked two days ago?", "fish stew"),
    ] {
        let found = stage.engine.recall(&stage.scope, &Recall::new(question, "a test")).await.unwrap();
        assert!(found.fragments[0].text.contains(dish), "{question}: {found:?}");
    }
}

/// M-D2: in a group, whoever is named in a question comes first.
#[tokio::test]
async fn m_d2_a_question_may_name_who_said_it() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let scope: segue_core::scope::Key = "agent:main:telegram:group:boat".parse().unwrap();
    let at = "2026-03-01T10:00:00Z".parse().unwrap();
    for (sender, text) in
        [("Boris", "The boat should be blue"), ("Anna", "The boat should be red"), ("Boris", "/new")]
    {
        let mut inbound = Inbound::user(scope.clone(), at, text);
        inbound.message.sender = Some(sender.to_owned());
        stage.engine.receive(inbound).await.unwrap();
    }
    for (question, colour) in [
        ("which colour did Anna want for the boat?", "red"),
        ("which colour did Boris want for the boat?", "blue"),
    ] {
        let found = stage.engine.recall(&scope, &Recall::new(question, "a test")).await.unwrap();
        assert!(found.fragments[0].text.contains(colour), "{question}: {found:?}");
    }
}

/// Isolation: many scopes with the same words and a mark each, asked at once; no recall ever holds another's mark.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn m_d2_x9_no_recall_holds_the_mark_of_another_scope() {
    const SCOPES: usize = 120;
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(Sqlite::open(&folder.path().join("segue.db")).unwrap());
    for store in [sqlite as Arc<dyn segue_store::Store>, Arc::new(Memory::default())] {
        let engine = Arc::new(stage_on(store, "").await.engine);
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..SCOPES {
            let engine = engine.clone();
            tasks.spawn(async move {
                let scope: segue_core::scope::Key =
                    format!("agent:main:cli:direct:person{n}").parse().unwrap();
                let at = "2026-03-01T10:00:00Z".parse().unwrap();
                for session in 0..3 {
                    for text in [
                        format!("the secret of the lighthouse is zq{n}x, part {session}"),
                        format!("灯塔的秘密是 zq{n}x"),
                        "/new".to_owned(),
                    ] {
                        engine.receive(Inbound::user(scope.clone(), at, text)).await.unwrap();
                    }
                }
                for query in ["secret of the lighthouse", "灯塔的秘密", &format!("zq{}x", (n + 1) % SCOPES)]
                {
                    let recall =
                        Recall { count_max: 50, tokens_max: u64::MAX, ..Recall::new(query, "a test") };
                    let recalled = engine.recall(&scope, &recall).await.unwrap();
                    let own = format!("zq{n}x");
                    assert!(
                        recalled.fragments.iter().all(|f| f.text.contains(&own) && f.session.scope == scope)
                    );
                    assert_eq!(recalled.fragments.is_empty(), query.starts_with("zq"), "{query}");
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    }
}
