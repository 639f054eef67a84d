//! `segue-lab quality`: streams of real conversations, judged message by message and played through the whole engine. How often
//! is a change of topic missed, how often is one seen where there is none, and what does it cost?

mod figures;
mod judgement;
mod nights;
mod play;
mod streams;

use super::config;
use crate::args::{Common, Quality};
use crate::out;
use figures::{Figure, Scored, auc, missed_at, quantile};
use indicatif::{ProgressBar, ProgressStyle};
use judgement::{Costs, Judged};
use nights::Morning;
use play::{Did, Played, Player};
use segue_signals::judge::Embedder;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use streams::Stream;

/// A figure of one part of the streams.
#[derive(Serialize)]
struct Row {
    part: String,
    name: String,
    value: f64,
    low: f64,
    high: f64,
    /// How many messages it is a share of.
    of: usize,
}

/// One stream, with all that was found.
struct Found {
    kind: String,
    id: String,
    judged: Vec<Judged>,
    played: Vec<Played>,
    mornings: Vec<Morning>,
}

pub async fn run(common: &Common, options: &Quality) -> anyhow::Result<()> {
    let settings: Vec<(&str, &str)> = options.set.iter().filter_map(|set| set.split_once('=')).collect();
    let config = config(common, &settings)?;
    let mut streams = Vec::new();
    for file in &options.files {
        streams.extend(streams::read(file)?);
    }
    let bar = progress(common, streams.len());
    let (embedder, mut costs, mut all) = (Embedder::default(), Costs::default(), Vec::new());
    for stream in &streams {
        let judged = judgement::judge(&embedder, stream, &mut costs)?;
        let played = Player::new(&config, stream).await?.play(stream).await?;
        let mornings = nights::mornings(&config, stream).await?;
        let Stream { kind, id, .. } = stream;
        all.push(Found { kind: kind.clone(), id: id.clone(), judged, played, mornings });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let rows = rows(&all);
    if common.json {
        return out::json(&rows);
    }
    print(&rows)?;
    cost("clear by words", &mut costs.words)?;
    cost("with the encoder", &mut costs.meaning)?;
    let took = all.iter().flat_map(|found| &found.played).map(|played| played.took_us);
    cost("in the engine, with earlier sessions", &mut took.collect::<Vec<u64>>())?;
    if options.show {
        show(&all)?;
    }
    worst(&all, options.worst)?;
    match options.recall.is_empty() {
        true => Ok(()),
        false => super::recall::run(common, &options.recall).await,
    }
}

fn progress(common: &Common, streams: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() || common.json {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("streams {bar:40} {pos}/{len} {elapsed}");
    ProgressBar::new(streams as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn rows(all: &[Found]) -> Vec<Row> {
    let mut rows = part("all", &all.iter().collect::<Vec<_>>());
    let kinds: BTreeSet<&str> = all.iter().map(|found| found.kind.as_str()).collect();
    if kinds.len() > 1 {
        for kind in kinds {
            let of_kind: Vec<&Found> = all.iter().filter(|found| found.kind == kind).collect();
            rows.extend(part(kind, &of_kind));
        }
    }
    rows.extend(hard(all));
    rows
}

/// The figures of a part of the streams.
fn part(part: &str, found: &[&Found]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut push = |name: &str, of: usize, figure: Option<Figure>| {
        let row =
            |Figure { value, low, high }| Row { part: part.into(), name: name.into(), value, low, high, of };
        rows.extend(figure.map(row));
    };
    let scored = |drawn: &[&&Found]| -> Vec<Scored> {
        let judged = drawn.iter().flat_map(|found| &found.judged);
        judged.map(|judged| (judged.new, judged.turn.is_new())).collect()
    };
    let turns = found.iter().map(|found| found.judged.len()).sum();
    push("AUC", turns, Figure::of(found, |drawn| auc(&scored(drawn))));
    for (name, falsely) in [("missed at 1 %", 0.01), ("missed at 2 %", 0.02), ("missed at 3 %", 0.03)] {
        push(name, turns, Figure::of(found, |drawn| missed_at(&scored(drawn), falsely)));
    }
    let engine: [Counted<Played>; 9] = [
        ("engine: neither split nor suggested", |p| p.turn.is_new().then_some(missed(p))),
        ("engine: split, of boundaries", |p| p.turn.is_new().then_some(p.did == Did::Split)),
        ("engine: false splits, of turns", |p| Some(!p.turn.is_new() && moved(p))),
        ("engine: suggestions, of turns", |p| Some(p.did == Did::Suggested)),
        ("engine: false suggestions, of turns", |p| Some(!p.turn.is_new() && p.did == Did::Suggested)),
        ("engine: held questions, of turns", |p| Some(p.did == Did::Held)),
        ("returns: the right one first", |p| p.turn.returns_to.map(|_| p.right_one)),
        ("returns: another one first", |p| p.turn.returns_to.map(|_| p.wrong_one)),
        ("no return: one is offered, of turns", |p| Some(p.turn.returns_to.is_none() && p.wrong_one)),
    ];
    for (name, counts) in engine {
        let share =
            |drawn: &[&&Found]| share(drawn.iter().flat_map(|found| &found.played).filter_map(counts));
        let of = found.iter().flat_map(|found| &found.played).filter_map(counts).count();
        push(name, of, Figure::of(found, share));
    }
    let nights: [Counted<Morning>; 5] = [
        ("night, same topic: split", |m| m.same.then_some(m.did == Did::Split)),
        ("night, same topic: split without an offer", |m| {
            m.same.then_some(m.did == Did::Split && !m.offered)
        }),
        ("night, same topic: goes on with an offer", |m| m.same.then_some(m.did != Did::Split && m.offered)),
        ("night, another topic: split", |m| (!m.same).then_some(m.did == Did::Split)),
        ("night, another topic: neither", |m| (!m.same).then_some(m.did != Did::Split && !m.offered)),
    ];
    for (name, counts) in nights {
        let share =
            |drawn: &[&&Found]| share(drawn.iter().flat_map(|found| &found.mornings).filter_map(counts));
        let of = found.iter().flat_map(|found| &found.mornings).filter_map(counts).count();
        push(name, of, Figure::of(found, share));
    }
    rows
}

/// A figure by its name: which cases it counts, and whether one is a hit.
type Counted<T> = (&'static str, fn(&T) -> Option<bool>);

/// The same, of all cases.
type Tally<T> = (&'static str, fn(&T) -> bool);

/// What becomes of the turns that are marked as hard.
fn hard(all: &[Found]) -> Vec<Row> {
    let name = |played: &Played| played.turn.hard.clone();
    let names: BTreeSet<String> = all.iter().flat_map(|found| &found.played).filter_map(name).collect();
    let mut rows = Vec::new();
    for hard in names {
        let counts: [Tally<Played>; 2] = [
            ("split", |played| played.did == Did::Split),
            ("suggested", |played| played.did == Did::Suggested),
        ];
        for (what, counts) in counts {
            let wanted = |played: &&Played| played.turn.hard.as_deref() == Some(hard.as_str());
            let of = all.iter().flat_map(|found| &found.played).filter(wanted).count();
            let figure = Figure::of(all, |drawn| {
                share(drawn.iter().flat_map(|found| &found.played).filter(wanted).map(counts))
            });
            rows.extend(figure.map(|Figure { value, low, high }| Row {
                part: "hard".into(),
                name: format!("{hard}: {what}"),
                value,
                low,
                high,
                of,
            }));
        }
    }
    rows
}

fn missed(played: &Played) -> bool {
    matches!(played.did, Did::WentOn | Did::Merged) && !played.right_one
}

fn moved(played: &Played) -> bool {
    matches!(played.did, Did::Split | Did::Resumed | Did::Merged)
}

fn share(counts: impl Iterator<Item = bool>) -> Option<f64> {
    let (mut hits, mut all) = (0, 0);
    for hit in counts {
        hits += usize::from(hit);
        all += 1;
    }
    (all > 0).then(|| f64::from(u32::try_from(hits).unwrap_or(u32::MAX)) / f64::from(all))
}

fn print(rows: &[Row]) -> anyhow::Result<()> {
    let mut part = "";
    for row in rows {
        if row.part != part {
            part = &row.part;
            out::line(part.to_string())?;
        }
        let Row { name, value, low, high, of, .. } = row;
        match name.as_str() {
            "AUC" => out::line(format!("  {name:44} {value:6.3}  [{low:.3}, {high:.3}]  of {of}"))?,
            _ => {
                let [value, low, high] = [value, low, high].map(|share| share * 100.0);
                out::line(format!("  {name:44} {value:5.1}%  [{low:.1}, {high:.1}]  of {of}"))?;
            }
        }
    }
    Ok(())
}

fn cost(name: &str, times: &mut [u64]) -> anyhow::Result<()> {
    let (half, most) = (quantile(times, 0.5), quantile(times, 0.99));
    Ok(out::line(format!("cost {name:40} p50 {half} us, p99 {most} us, {} messages", times.len()))?)
}

/// Shows every message that was not simply let go on, or should not have been.
fn show(all: &[Found]) -> anyhow::Result<()> {
    for found in all {
        for played in &found.played {
            let Played { turn, did, why, belongs, .. } = played;
            let label = match (turn.returns_to, turn.is_new()) {
                (Some(_), _) => "return",
                (None, true) => "new",
                (None, false) => "-",
            };
            let belongs = belongs.map_or("-".to_owned(), |belongs| format!("{belongs:.3}"));
            let (hard, text) = (turn.hard.as_deref().unwrap_or("-"), turn.preview());
            out::line(format!(
                "{}\t{label}\t{did:?}\t{belongs}\t{hard}\t{}\t{text}\t{why}",
                found.id, played.right_one
            ))?;
        }
    }
    Ok(())
}

/// The messages about which the judgement was most sure, and wrong.
fn worst(all: &[Found], most: usize) -> anyhow::Result<()> {
    let mistakes = all.iter().flat_map(|found| found.judged.iter().map(|judged| (&found.id, judged)));
    let mut mistakes: Vec<(f64, &String, &Judged)> = mistakes
        .map(|(id, judged)| {
            let wrong = if judged.turn.is_new() { 1.0 - judged.new } else { judged.new };
            (wrong, id, judged)
        })
        .collect();
    mistakes.sort_by(|a, b| b.0.total_cmp(&a.0));
    out::line("worst mistakes: p(new), truth, stream, message")?;
    for (_, id, Judged { turn, new }) in mistakes.into_iter().take(most) {
        let truth = if turn.is_new() { "new " } else { "goes on" };
        out::line(format!("  {new:.3}  {truth:7}  {id}  {}", turn.preview()))?;
    }
    Ok(())
}
