//! every place that can hold words is known, and what was made of words goes with them.

use super::*;
use crate::Timestamp;
use crate::decision::{Action, Cause, Confidence};
use crate::digest::Digest;
use crate::entry::*;
use crate::memory::{Extraction, Taken};
use crate::retention::{Past, Retiring, ScheduledDeletion};
use crate::session::Id;
use crate::span::Cut;
use crate::task::intent::MessageIntent;

/// A body of every kind that is said to hold no words, with all that its fields can hold. A new field has to be given here:
/// if it can hold words, its kind belongs to the places.
fn wordless() -> Vec<Body> {
    let (one, at, id) = (Number(1), Timestamp::UNIX_EPOCH, Id(uuid::Uuid::nil()));
    let digest = Digest::NONE;
    let spans = Spans::default();
    let branched = || Branched {
        session: one,
        id,
        parent: one,
        from: one,
        at: Some(Seq(1)),
        cut: Some(Cut {
            message: Seq(1),
            segment: segment::Number(1),
            before: vec![(segment::Number(1), 1)],
        }),
        kept: Some(spans.clone()),
        taken: Some(spans.clone()),
    };
    let dropped =
        || Dropped { sessions: vec![one], segments: vec![segment::Number(1)], erased: vec![Seq(1)] };
    let moved = Some(Moved { kept: spans.clone(), taken: spans.clone() });
    let cause = Cause::Semantic;
    vec![
        Body::Opened(Opened {
            session: one,
            id,
            parent: Some(one),
            cause: Some(cause),
            source: Source::Imported,
        }),
        Body::Sealed(Sealed { digest, chain: digest, updated_at: at }),
        Body::Resumed(Resumed { session: one, from: one, moved, by: ResumedBy::ImportEnd }),
        Body::Forked(branched()),
        Body::Split(branched()),
        Body::Merged(Merged { from: one, into: one }),
        Body::Undone,
        Body::Redone,
        Body::Stepped(Stepped { session: one, from: one, way: Way::Back, cursor: 1 }),
        Body::Cleared(Of { session: one }),
        Body::Attached(Of { session: one }),
        Body::Pruned(dropped()),
        Body::Deleted(dropped()),
        Body::Erased(Erased { entries: vec![Seq(1)] }),
        Body::Backlog(Backlog::Archived { sessions: vec![one], boundary: Some(Seq(1)) }),
        Body::Asked(Asked {
            held: Seq(1),
            cause,
            older: Some(one),
            intent: Some(MessageIntent::Modification),
            manner: crate::policy::QuestionMode::Hold,
            messages_left: 0,
        }),
        Body::Answered,
        Body::Controlled(Controlled { session: one, model: Some("small".to_owned()) }),
        Body::Task(TaskStep::new(one, Change::Flushed)),
        Body::Extracted(Extraction {
            session: one,
            upto: Seq(1),
            taken: vec![Taken { entry: Seq(1), source: Seq(1) }],
        }),
        Body::Retiring(Retiring::Announced {
            sessions: vec![ScheduledDeletion { session: one, past: Past::Count { limit: 1 } }],
            due: at,
        }),
    ]
}

/// Words that stand in these bodies, and none that anybody said: names of variants, ids, digests, times.
fn is_known(word: &str) -> bool {
    let is_number = word.chars().all(|c| c.is_ascii_hexdigit() || "-:.TZ".contains(c));
    // `small` is a model of the configuration.
    let names = ["imported", "semantic", "back", "flushed", "modification", "small", "import_end"];
    is_number || names.contains(&word)
}

fn texts(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => found.push(text.clone()),
        serde_json::Value::Array(list) => list.iter().for_each(|value| texts(value, found)),
        serde_json::Value::Object(map) => map.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[test]
fn x17_kinds_without_words_have_none() {
    let samples = wordless();
    for kind in Kind::ALL.iter().filter(|kind| Place::of(**kind).is_none()) {
        assert!(samples.iter().any(|body| body.kind() == *kind), "there is no sample of {}", kind.name());
    }
    for body in samples {
        let json: serde_json::Value = serde_json::from_str(&body.encode().unwrap()).unwrap();
        let mut found = Vec::new();
        texts(&json, &mut found);
        let unknown: Vec<_> = found.into_iter().filter(|word| !is_known(word)).collect();
        assert_eq!(unknown, Vec::<String>::new(), "{}: can this be somebody's words?", body.kind().name());
    }
}

fn record(seq: u64, segment: u32, body: &Body) -> Record {
    let bytes = Bytes::Kept(body.encode().unwrap());
    let (seq, segment) = (Seq(seq), segment::Number(segment));
    Record { seq, segment, at: Timestamp::UNIX_EPOCH, nth: 0, kind: body.kind(), bytes }
}

fn opened(session: u32) -> Body {
    let (session, id) = (Number(session), Id(uuid::Uuid::nil()));
    Body::Opened(Opened { session, id, parent: None, cause: None, source: Source::Own })
}

fn sealed() -> Body {
    Body::Sealed(Sealed { digest: Digest::NONE, chain: Digest::NONE, updated_at: Timestamp::UNIX_EPOCH })
}

fn said(text: &str) -> Body {
    Body::Message(crate::message::Role::User, crate::message::Message::text(text))
}

fn carried(from: u32) -> Body {
    let message =
        crate::message::Message { carried_from: Some(Number(from)), ..crate::message::Message::text("s") };
    Body::Message(crate::message::Role::System, message)
}

fn about(seq: u64) -> Body {
    Body::Decision(Box::new(crate::decision::Decision {
        about: Seq(seq),
        session: Number(1),
        action: Action::Continue,
        cause: Cause::None,
        confidence: Confidence::CERTAIN,
        policy: "layered".into(),
        version: None,
        rule: String::new(),
        reasons: Vec::new(),
        signals: None,
        thresholds: None,
        alternatives: Vec::new(),
        notice: None,
        also: None,
        refusal: None,
        task: None,
    }))
}

fn derived(log: &[Record], sources: Sources) -> Vec<u64> {
    let mut trace = Trace::new("agent:main:cli:direct:me".parse().unwrap(), sources);
    log.iter().for_each(|record| trace.read(record));
    trace.finish().0.into_iter().map(|seq| seq.0).collect()
}

/// A summary of a summary goes too, and one of a session that never saw the message stays.
#[test]
fn x17_what_was_carried_over_goes_with_what_it_tells_of() {
    let log = [
        record(1, 1, &opened(1)),
        record(2, 1, &said("secret")),
        record(3, 1, &about(2)),
        record(4, 1, &sealed()),
        record(5, 2, &opened(2)),
        record(6, 2, &carried(1)),
        record(7, 2, &sealed()),
        record(8, 3, &opened(3)),
        record(9, 3, &carried(2)),
        record(10, 3, &sealed()),
        record(11, 4, &opened(4)),
        record(12, 4, &said("other")),
        record(13, 4, &sealed()),
        record(14, 5, &opened(5)),
        record(15, 5, &carried(4)),
    ];
    assert_eq!(derived(&log, Sources::entries([Seq(2)])), [3, 6, 9]);
    assert_eq!(derived(&log, Sources::segments([segment::Number(1)])), [6, 9]);
    assert_eq!(derived(&log, Sources::entries([Seq(12)])), [15]);
    // Where the log does not fit together, nobody knows: then every summary goes.
    assert_eq!(derived(&log[1..], Sources::entries([Seq(2)])), [3, 6, 9, 15]);
}
