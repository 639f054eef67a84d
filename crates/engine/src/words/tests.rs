//! All texts, side by side: a snapshot for each language is what a translator reads.

use super::*;
use jiff::civil::date;
use segue_core::decision::{Action, Alternative, Counterfactual, Reason};
use segue_core::digest::Digest;
use segue_core::entry::Seq;
use segue_core::evidence::Semantic;
use segue_core::notice::{LeftSession, Limit};
use segue_core::notice::{QuestionTopic, Repinned, Reversal, Since, Summary, Undoable};
use segue_core::observed::{Answer, ConversationProblem, Share};
use segue_core::pins::Model;
use segue_core::retention::{KeepChoice, Past};

const HOUR: i64 = 3_600_000;

fn notices() -> Vec<Notice> {
    let (one, two) = (Number(1), Number(2));
    let window = Limit::Window { window_ms: 12 * HOUR };
    let expired = |gap_ms, limit, pruned| Notice::Expired {
        session: two,
        previous: one,
        gap_ms,
        since: Since::Message,
        limit,
        like: None,
        pruned,
        way_back: Undoable::Open,
    };
    let going =
        |sessions: &[Number], past| Notice::Going { sessions: sessions.to_vec(), past, on: date(2026, 3, 8) };
    vec![
        Notice::Started { session: two, pruned: 0 },
        Notice::Started { session: Number(21), pruned: 1 },
        Notice::Started { session: Number(21), pruned: 2 },
        expired(13 * HOUR, window, 0),
        expired(13 * HOUR + 300_000, window, 1),
        expired(9 * HOUR, Limit::Day, 0),
        expired(120_000, Limit::Day, 3),
        Notice::Expired {
            session: two,
            previous: one,
            gap_ms: 13 * HOUR,
            since: Since::Opening,
            limit: window,
            like: None,
            pruned: 0,
            way_back: Undoable::Open,
        },
        Notice::Expired {
            session: Number(3),
            previous: two,
            gap_ms: 13 * HOUR,
            since: Since::Message,
            limit: window,
            like: Some(one),
            pruned: 0,
            way_back: Undoable::Open,
        },
        Notice::StartedOver { session: two, previous: one, pruned: 0, way_back: Undoable::Open },
        Notice::StartedOver { session: two, previous: one, pruned: 1, way_back: Undoable::Gone },
        Notice::Shifted { session: two, previous: one, like: None, pruned: 0, way_back: Undoable::Open },
        Notice::Shifted {
            session: Number(3),
            previous: two,
            like: Some(one),
            pruned: 1,
            way_back: Undoable::Open,
        },
        Notice::Overflowed {
            session: two,
            previous: one,
            percent: 97,
            summary: Summary::Carried,
            pruned: 0,
            way_back: Undoable::Open,
        },
        Notice::Question { session: one, stake: QuestionTopic::Topic, older: None },
        Notice::Question { session: two, stake: QuestionTopic::Topic, older: Some(one) },
        Notice::Question { session: one, stake: QuestionTopic::Pause { gap_ms: 5 * HOUR }, older: None },
        Notice::Question { session: one, stake: QuestionTopic::Stuck, older: None },
        Notice::Stays { session: one },
        Notice::Fresh {
            session: two,
            previous: one,
            summary: Summary::Left,
            pruned: 0,
            way_back: Undoable::Open,
        },
        Notice::Fresh {
            session: two,
            previous: one,
            summary: Summary::Carried,
            pruned: 2,
            way_back: Undoable::Gone,
        },
        Notice::BackTo { session: one, previous: two },
        Notice::Rejoined { session: one, from: two, by: Reversal::User },
        Notice::Rejoined { session: one, from: two, by: Reversal::Evidence },
        Notice::Controlled { session: one, model: Some("small".to_owned()) },
        Notice::Controlled { session: one, model: None },
        Notice::Pinned { session: one, pinned: Repinned::All },
        Notice::Pinned { session: one, pinned: Repinned::Agent { agent: Some("work".to_owned()) } },
        Notice::Pinned { session: one, pinned: Repinned::Agent { agent: None } },
        Notice::Pinned { session: one, pinned: Repinned::Skills { version: None, changed: false } },
        Notice::Pinned {
            session: one,
            pinned: Repinned::Skills { version: Some(Digest::NONE), changed: true },
        },
        Notice::Pinned { session: one, pinned: Repinned::Skills { version: None, changed: true } },
        Notice::Pinned { session: one, pinned: Repinned::Persona { version: None, changed: false } },
        Notice::Pinned {
            session: one,
            pinned: Repinned::Persona { version: Some(Digest::NONE), changed: true },
        },
        Notice::Pinned { session: one, pinned: Repinned::Persona { version: None, changed: true } },
        Notice::Pinned { session: one, pinned: Repinned::Model { model: Some(Model::named("fast")) } },
        Notice::Pinned { session: one, pinned: Repinned::Model { model: None } },
        Notice::Cleared { session: one },
        Notice::Resumed { session: one, messages: 1 },
        Notice::Resumed { session: two, messages: 14 },
        Notice::Forked { session: two, parent: one, at: None, pruned: 0, way_back: Undoable::Open },
        Notice::Forked { session: two, parent: one, at: Some(Seq(14)), pruned: 1, way_back: Undoable::Open },
        Notice::Split { session: two, parent: one, at: Seq(14), pruned: 0, way_back: Undoable::Open },
        Notice::Split { session: two, parent: one, at: Seq(14), pruned: 1, way_back: Undoable::Gone },
        Notice::Merged { from: two, into: one },
        Notice::Undone { session: one, from: Some(two), left: LeftSession::HeldMessages, lost: 0 },
        Notice::Undone { session: one, from: Some(two), left: LeftSession::HeldMessages, lost: 2 },
        Notice::Undone { session: one, from: Some(two), left: LeftSession::Empty, lost: 0 },
        Notice::Undone { session: one, from: None, left: LeftSession::HeldMessages, lost: 0 },
        Notice::Redone { session: two, from: one },
        Notice::Restored { session: two },
        Notice::Renamed { session: two },
        Notice::Deleted { session: two },
        Notice::Pruned { sessions: 0 },
        Notice::Pruned { sessions: 1 },
        Notice::Pruned { sessions: 5 },
        going(&[one], Some(Past::Age { limit_ms: 90 * 24 * HOUR })),
        going(&[one, two], Some(Past::Count { limit: 10 })),
        going(&[one, two, Number(3), Number(4)], Some(Past::Size { limit_bytes: 5_000_000 })),
        going(&[one, two, Number(3)], None),
        Notice::Wished { session: one, wish: KeepChoice::Keep },
        Notice::Wished { session: one, wish: KeepChoice::Release },
        Notice::Aside,
        Notice::Erased { entries: 1 },
        Notice::Erased { entries: 3 },
        Notice::Unfinished,
    ]
}

fn refusals() -> Vec<Refusal> {
    vec![
        Refusal::NoSession(Number(7)),
        Refusal::Merged { from: Number(2), into: Number(1) },
        Refusal::NothingSaid,
        Refusal::AlreadyActive(Number(1)),
        Refusal::Active(Number(2)),
        Refusal::NothingToUndo,
        Refusal::NothingToRedo,
        Refusal::HoldsWork { session: Number(1), at_work: Number(2) },
        Refusal::NotInSession { session: Number(2), seq: Seq(99) },
        Refusal::NothingBefore(Seq(1)),
        Refusal::SameSession,
        Refusal::NothingAsked,
        Refusal::NothingOffered,
        Refusal::NothingToErase,
        Refusal::NotRemembered(Seq(7)),
        Refusal::Damaged("no open segment".to_owned()),
    ]
}

fn reasons() -> Vec<Reason> {
    vec![
        Reason::FirstMessage,
        Reason::WithinWindow { gap_ms: 300_000, window_ms: 12 * HOUR, since: Since::Message },
        Reason::WithinWindow { gap_ms: 300_000, window_ms: 12 * HOUR, since: Since::Opening },
        Reason::WindowPassed { gap_ms: 13 * HOUR, window_ms: 12 * HOUR, since: Since::Message },
        Reason::WindowPassed { gap_ms: 13 * HOUR, window_ms: 12 * HOUR, since: Since::Opening },
        Reason::DayPassed { gap_ms: 9 * HOUR, since: Since::Message },
        Reason::DayPassed { gap_ms: 9 * HOUR, since: Since::Opening },
        Reason::LegacyMode,
        Reason::AutoRouteOff,
        Reason::AskedInWords { phrase: "new topic".into() },
        Reason::Commanded { command: "new".to_owned() },
        Reason::Belongs { band: Semantic::High, belongs: Share::new(0.93) },
        Reason::Belongs { band: Semantic::Medium, belongs: Share::new(0.5) },
        Reason::Belongs { band: Semantic::Low, belongs: Share::new(0.08) },
        Reason::Shifted { shifts: Share::new(0.97), threshold: Share::new(0.9) },
        Reason::Paused { gap_ms: 5 * HOUR, limit_ms: 4 * HOUR, since: Since::Message },
        Reason::WithinIdle { gap_ms: 20 * HOUR, limit_ms: 24 * HOUR, since: Since::Message },
        Reason::WindowAt { percent: 83 },
        Reason::Stuck {
            findings: vec![
                ConversationProblem::ErrorLoop,
                ConversationProblem::Frustration,
                ConversationProblem::Contradiction,
                ConversationProblem::DeadEnd,
            ],
        },
        Reason::LikeEarlier { session: Number(2), belongs: Share::new(0.8) },
        Reason::ShiftedLately { ago_ms: 120_000, cooldown_ms: 600_000 },
        Reason::AskedLately { ago_ms: 120_000, cooldown_ms: 1_800_000 },
        Reason::Answered { answer: Answer::Fresh },
        Reason::AnswersAgent,
        Reason::Objected,
        Reason::BelongsBefore { session: Number(1), belongs: Share::new(0.85) },
        Reason::ModelAsked { name: "small".to_owned() },
    ]
}

fn tips() -> Vec<Alternative> {
    let (border, was) = (Share::new(0.1), Share::new(0.42));
    let new = |tip| Alternative { action: Action::New, tip };
    let stay = |tip| Alternative { action: Action::Continue, tip };
    vec![
        new(Counterfactual::SilenceOver { limit_ms: 12 * HOUR, was_ms: HOUR }),
        stay(Counterfactual::SilenceUpTo { limit_ms: 12 * HOUR, was_ms: 13 * HOUR }),
        new(Counterfactual::BelongsBelow { border, was }),
        stay(Counterfactual::BelongsFrom { border, was }),
    ]
}

fn troubles() -> [Trouble; 5] {
    [
        Trouble::TooLong { bytes: 2_000_000, bytes_max: 1_048_576 },
        Trouble::Empty,
        Trouble::Busy,
        Trouble::Failed,
        Trouble::Unknown,
    ]
}

fn lines(language: Language) -> Vec<(&'static str, Vec<String>)> {
    let scope = "agent:main:cli:direct:me".parse().unwrap();
    let times = [-5, 0, 45_000, 60_000, 300_000, HOUR, 13 * HOUR + 300_000, 36 * HOUR, 72 * HOUR, 200 * HOUR];
    let typed = [
        "/sesion list",
        "/nwe some text",
        "/stats",
        "/session",
        "/weather",
        "/nwe@segue_bot",
        "/session frobnicate",
        "/x\u{7}y",
    ];
    vec![
        ("notices", notices().iter().map(|n| notice(language, &scope, n)).collect()),
        ("notices with titles", notices().iter().filter_map(|n| titled(language, &scope, n)).collect()),
        ("refusals", refusals().iter().map(|r| refusal(language, &scope, r)).collect()),
        ("reasons", reasons().iter().map(|r| reason(language, r)).collect()),
        ("tips", tips().iter().map(|t| tip(language, t)).collect()),
        ("troubles", troubles().into_iter().map(|t| trouble(language, t)).collect()),
        ("durations", times.iter().map(|ms| duration(language, *ms)).collect()),
        ("ages", times.iter().map(|ms| age(language, *ms)).collect()),
        ("usage", Command::ALL.iter().map(|c| usage(language, *c)).collect()),
        ("unknown commands", typed.iter().map(|typed| unknown_command(language, typed)).collect()),
        ("help", help(language).lines().map(str::to_owned).collect()),
    ]
}

/// A notice that is told otherwise where sessions have titles.
fn titled(language: Language, scope: &scope::Key, of: &Notice) -> Option<String> {
    let title = |number: u32| match language {
        Language::En => (Number(number), format!("Bread {number}")),
        Language::Zh => (Number(number), format!("第 {number} 个面包")),
    };
    let titles: Titles = mentioned(of).into_iter().map(|number| title(number.0)).collect();
    let told = notice_naming(language, scope, &titles, of);
    (told != notice(language, scope, of)).then_some(told)
}

fn all(language: Language) -> String {
    let chapter = |(title, lines): (&str, Vec<String>)| format!("# {title}\n{}\n", lines.join("\n"));
    lines(language).into_iter().map(chapter).collect::<Vec<_>>().join("\n")
}

#[test]
fn english() {
    insta::assert_snapshot!("english", all(Language::En));
}

#[test]
fn chinese() {
    insta::assert_snapshot!("chinese", all(Language::Zh));
}

/// a rotation says what, why and how to undo it, in one line.
#[test]
fn x1_a_rotation_is_announced_in_one_line() {
    let scope = "agent:main:cli:direct:me".parse().unwrap();
    let window = Limit::Window { window_ms: 12 * HOUR };
    for limit in [window, Limit::Day] {
        let rotation = Notice::Expired {
            session: Number(3),
            previous: Number(2),
            gap_ms: 13 * HOUR,
            since: Since::Message,
            limit,
            like: None,
            pruned: 0,
            way_back: Undoable::Open,
        };
        for language in [Language::En, Language::Zh] {
            let line = notice(language, &scope, &rotation);
            assert!(line.contains("#3") && line.contains("#2"), "{line}");
            assert!(line.contains("13 ") && line.contains("/undo"), "{line}");
        }
    }
}

/// P-5: the words of `/new`.
#[test]
fn p5_a_new_session_is_announced() {
    let scope = "agent:main:cli:direct:me".parse().unwrap();
    let line = |pruned| notice(Language::En, &scope, &Notice::Started { session: Number(2), pruned });
    assert_eq!(line(0), "Started new session: agent:main:cli:direct:me#2");
    assert_eq!(line(2), "Started new session: agent:main:cli:direct:me#2, 2 old sessions pruned");
}

/// P-10: everything that can be said to a user is one line that ends like a sentence should.
#[test]
fn p10_every_text_is_one_line() {
    for language in [Language::En, Language::Zh] {
        for line in lines(language).into_iter().flat_map(|(_, lines)| lines) {
            assert!(!line.is_empty() && !line.contains(char::is_control), "{line:?}");
            assert_eq!(line.trim(), line);
        }
    }
}

#[test]
fn commands_have_names() {
    let names: Vec<&str> = Command::ALL.iter().map(|command| command.name()).collect();
    let expected = "/new /reset /undo /redo /session list /session resume /session restore /session move /session show /session rename /session fork \
                    /session split /session keep /session delete /continue /fresh /older /control /agent list \
                    /agent show /agent use /skills /skill /reload_skills /reload_persona /model /recall /status /why /help";
    assert_eq!(names.join(" "), expected);
}

#[test]
fn the_script_tells_the_language() {
    for chinese in ["你好", "please 翻译", "〇", "𠀀"] {
        assert_eq!(Language::of(chinese), Language::Zh, "{chinese}");
    }
    for other in ["", "hello", "héllo", "привет", "カタカナ", "👍", "，。"] {
        assert_eq!(Language::of(other), Language::En, "{other}");
    }
    for (text, language) in [
        // Names with a dot, a long vowel by mistake, decoration, and quoted words are no Japanese.
        ("列奥纳多・达・芬奇画过什么？", Language::Zh),
        ("尼古拉・特斯拉", Language::Zh),
        ("这个ー多少钱", Language::Zh),
        ("奶茶の店在哪里", Language::Zh),
        ("鲜の每日", Language::Zh),
        ("ありがとう是什么意思", Language::Zh),
        ("「さようなら」怎么读？", Language::Zh),
        ("謝謝，我想去東京", Language::Zh),
        // Japanese and Korean are answered in English.
        ("東京に行きたい", Language::En),
        ("明日の会議の資料を作ってください", Language::En),
        ("「你好」は中国語でこんにちはという意味ですか", Language::En),
        ("コーヒー", Language::En),
        ("ｺｰﾋｰを飲む", Language::En),
        ("안녕하세요, 도쿄에 가고 싶어요", Language::En),
        ("안녕하세요 大學 앞에서 만나요", Language::En),
        // Mixed.
        ("deploy 一下", Language::Zh),
        ("what does 人 mean in this sentence?", Language::En),
        ("帮我看看 main.rs 的 error handling", Language::Zh),
    ] {
        assert_eq!(Language::of(text), language, "{text}");
    }
}
