//! `segue recall` and `segue search`: what earlier sessions say about something.

use super::sessions::list::title;
use crate::args::{Common, Recalling};
use crate::setup;
use crate::{Exit, json, layout, out, paint};
use segue_core::session::Key;
use segue_engine::Engine;
use segue_engine::recall::{Fragment, Neighbour, Recall, Recalled};
use segue_store::search::Reach;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Recalls from one scope.
pub async fn run(common: &Common, options: &Recalling) -> anyhow::Result<Exit> {
    let engine = setup::reader(common)?;
    let recall = Recall {
        count_max: options.count,
        tokens_max: options.tokens,
        reach: if options.also_latest { Reach::Everything } else { Reach::Archived },
        ..Recall::new(&options.query, &options.why)
    };
    let scope = setup::scope_or_last(&engine, options.scope.as_ref()).await?;
    let recalled = engine.recall(&scope, &recall).await?;
    if recalled.fragments.is_empty() && !common.json {
        out::line("Nothing about that was found in earlier sessions of this scope.")?;
    }
    print(common, &engine, &recalled, From::OneScope).await
}

/// Searches all scopes, for the operator.
pub async fn search(common: &Common, query: &str, limit: usize) -> anyhow::Result<Exit> {
    let engine = setup::reader(common)?;
    let found = engine.search(query, limit).await?;
    if found.fragments.is_empty() && !common.json {
        out::line("Nothing about that was found.")?;
    }
    print(common, &engine, &found, From::AllScopes).await
}

/// Where fragments can come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    OneScope,
    AllScopes,
}

async fn print(
    common: &Common,
    engine: &Engine,
    recalled: &Recalled,
    where_from: From,
) -> anyhow::Result<Exit> {
    if common.json {
        let fragments: Vec<Value> = recalled.fragments.iter().map(fragment).collect();
        json::print(&json!({ "fragments": fragments }))?;
        return Ok(Exit::Done);
    }
    let mut names: BTreeMap<&Key, String> = BTreeMap::new();
    for Fragment { session, .. } in &recalled.fragments {
        if !names.contains_key(session) {
            let listed = engine.describe(&*engine.state(&session.scope).await?, session.number).await?;
            names.insert(session, format!("#{} \"{}\"", session.number, title(&listed)));
        }
    }
    for fragment in &recalled.fragments {
        let Fragment { session, seq, role, score, .. } = fragment;
        let zone = engine.config().time_zone_for(&session.scope, None);
        let at = layout::time(fragment.at, &zone);
        let name = names.get(session).map(String::as_str).unwrap_or_default();
        let source = match where_from {
            From::OneScope => format!("{name}, message {seq}"),
            From::AllScopes => format!("{} {name}, message {seq}", session.scope),
        };
        let source = paint::strong(layout::printable(&source));
        out::line(format!("{source}  {}", paint::dim(format!("{at}, score {score:.2}"))))?;
        print_neighbour(fragment.before.as_ref())?;
        let text = layout::printable(&fragment.text);
        for line in layout::wrap(&format!("{role}: {text}"), layout::width() - 2) {
            out::line(format!("  {line}"))?;
        }
        print_neighbour(fragment.after.as_ref())?;
    }
    Ok(Exit::Done)
}

/// Prints what was said beside a fragment.
fn print_neighbour(neighbour: Option<&Neighbour>) -> std::io::Result<()> {
    let Some(Neighbour { role, text, .. }) = neighbour else { return Ok(()) };
    let text = layout::printable(text);
    for line in layout::wrap(&format!("{role}: {text}"), layout::width() - 2) {
        out::line(paint::dim(format!("  {line}")))?;
    }
    Ok(())
}

fn fragment(fragment: &Fragment) -> Value {
    let neighbour =
        |said: &Neighbour| json!({ "seq": said.seq, "role": said.role.name(), "text": said.text });
    json!({
        "session": fragment.session.to_string(),
        "segment": json::segment(&fragment.session.scope, fragment.segment),
        "seq": fragment.seq,
        "role": fragment.role.name(),
        "text": fragment.text,
        "score": fragment.score,
        "rationale": fragment.rationale,
        "at": fragment.at.to_string(),
        "before": fragment.before.as_ref().map(neighbour),
        "after": fragment.after.as_ref().map(neighbour),
    })
}
