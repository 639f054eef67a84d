//! What is to be erased, told before it is: in which sessions, how much, from when to when.

use crate::commands::sessions::list::title;
use crate::{layout, out, paint};
use segue_core::Timestamp;
use segue_core::entry::{Body, Bytes, Kind, Record, Seq};
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_engine::Engine;
use std::collections::BTreeMap;

/// How many messages are named one by one.
const NAMED_MAX: usize = 5;

/// What goes of a session.
struct Part {
    messages: usize,
    from: Timestamp,
    to: Timestamp,
    /// The first of them, as they begin.
    named: Vec<String>,
}

/// Tells what of a scope is to be erased, session by session.
pub async fn tell(engine: &Engine, scope: &scope::Key, entries: &[Seq]) -> anyhow::Result<()> {
    let state = engine.state(scope).await?;
    let zone = engine.config().time_zone_for(scope, None);
    let mut parts: BTreeMap<Number, Part> = BTreeMap::new();
    for seq in entries {
        let Some(record) = engine.store().get(scope, *seq).await? else { continue };
        let is_kept = matches!(record.bytes, Bytes::Kept(_));
        let is_said = is_kept && (record.kind.role().is_some() || record.kind == Kind::Command);
        let Some(number) = holder(&state, &record).filter(|_| is_said) else { continue };
        let at = record.at;
        let part =
            parts.entry(number).or_insert_with(|| Part { messages: 0, from: at, to: at, named: Vec::new() });
        part.messages += 1;
        (part.from, part.to) = (part.from.min(at), part.to.max(at));
        if part.named.len() < NAMED_MAX {
            part.named.push(format!("{seq}  {}", words(&record)));
        }
    }
    for (number, Part { messages, from, to, named }) in parts {
        let listed = engine.describe(&state, number).await?;
        let (from, to) = (layout::time(from, &zone), layout::time(to, &zone));
        let when = if from == to { from } else { format!("{from} to {to}") };
        let noun = if messages == 1 { "message" } else { "messages" };
        out::line(format!("#{number} \"{}\", {messages} {noun}, {when}", title(&listed)))?;
        for line in &named {
            out::line(paint::dim(layout::cut(&format!("  {line}"), layout::width())))?;
        }
        if messages > named.len() {
            out::line(paint::dim(format!("  and {} more", messages - named.len())))?;
        }
    }
    Ok(())
}

/// Finds the session that an entry is seen in.
fn holder(state: &State, record: &Record) -> Option<Number> {
    state.all().map(|(number, _)| number).find(|number| state.view(*number).hold(record.segment, record.seq))
}

/// What an entry says, in one line.
fn words(record: &Record) -> String {
    let text = match record.body() {
        Ok(Body::Message(role, message)) => format!("{role}: {}", message.text),
        Ok(Body::Command(spoken)) => spoken.text,
        Ok(_) | Err(_) => "(cannot be read)".to_owned(),
    };
    layout::printable(&text).split_whitespace().collect::<Vec<_>>().join(" ")
}
