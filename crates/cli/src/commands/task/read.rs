//! Reading tasks back.

use super::open;
use crate::args::Common;
use crate::{Exit, Missing, json, layout, out};
use segue_core::entry::Seq;
use segue_core::scope;
use segue_core::task::canonical::Remembered;
use segue_core::task::identity::TaskId;
use segue_core::task::narrative::Markdown;
use segue_engine::Engine;
use segue_engine::tasks::record::ArchivedTask;
use serde_json::{Value, json};

async fn chosen(engine: &Engine, scope: &scope::Key, task: Option<u64>) -> anyhow::Result<TaskId> {
    let found = match task {
        Some(number) => Some(TaskId(Seq(number))),
        None => engine.last_task(scope).await?,
    };
    found.ok_or_else(|| Missing(format!("there is no task in {scope}: `segue task start` begins one")).into())
}

pub async fn status(common: &Common, scope: Option<&scope::Key>) -> anyhow::Result<Exit> {
    let (engine, scope) = &open(common, scope).await?;
    let state = engine.state(scope).await?;
    let task = state.latest().and_then(|latest| Some((latest, state.extras.tasks.get(&latest)?)));
    let shown = engine.show_task(scope, None).await?;
    if common.json {
        let task = task.map(|(number, task)| {
            json!({
                "task": task.id,
                "state": task.state(),
                "session": state.key(number).to_string(),
                "started_at": task.started_at.to_string(),
                "steps": task.steps,
                "staged": task.staged(),
                "work": task.has_meaningful_work(),
                "head": task.head.map(|head| head.to_string()),
                "canonical": task.canonical.map(|commit| commit.to_string()),
                "shown": shown,
            })
        });
        json::print(&task.unwrap_or_else(|| json!({ "state": "none" })))?;
        return Ok(Exit::Done);
    }
    match task {
        None => out::line(format!("none (`segue task start {scope}` begins one)"))?,
        Some((_, task)) => {
            let (state, id, steps, staged) = (task.state(), task.id, task.steps, task.staged());
            out::line(format!("{state} (task {id}, {steps} steps flushed, {staged} observations staged)"))?;
            if let Some(shown) = shown {
                out::line(layout::printable(&shown))?;
            }
        }
    }
    Ok(Exit::Done)
}

pub async fn log(common: &Common, scope: Option<&scope::Key>, task: Option<u64>) -> anyhow::Result<Exit> {
    let (engine, scope) = &open(common, scope).await?;
    let task = chosen(engine, scope, task).await?;
    let kept = engine.kept_of(scope, task).await?;
    let lines = engine.narrative(scope, task).await?;
    if lines.is_empty() && kept.is_none() {
        return Err(Missing(format!("there is no task {task} in {scope}")).into());
    }
    if common.json {
        let lines: Vec<Value> = lines
            .iter()
            .map(|told| {
                let text = if told.line.text.is_empty() { told.said.as_deref() } else { Some(&*told.line.text) };
                json!({ "seq": told.seq, "at": told.line.at.to_string(), "kind": told.line.kind, "text": text })
            })
            .collect();
        json::print(&json!({ "task": task, "lines": lines, "kept": kept.as_ref().map(shape) }))?;
        return Ok(Exit::Done);
    }
    let zone = engine.config().time_zone_for(scope, None);
    let title = kept.as_ref().and_then(|kept| kept.description.clone());
    let first = lines.first().and_then(|told| told.said.clone());
    let title = title.or(first).unwrap_or_else(|| format!("Task {task}"));
    let mut page = Markdown::begin(String::new(), &title, zone)?;
    for told in &lines {
        page.line(&told.line, told.said.as_deref())?;
    }
    let mut page = page.finish();
    if let Some(kept) = kept {
        page.push_str(&kept_as_markdown(&kept));
    }
    out::text(&page)?;
    Ok(Exit::Done)
}

pub async fn show(common: &Common, scope: Option<&scope::Key>, task: Option<u64>) -> anyhow::Result<Exit> {
    let (engine, scope) = &open(common, scope).await?;
    let mut kept = engine.kept(scope).await?;
    if let Some(number) = task {
        kept.retain(|kept| kept.commit.task == TaskId(Seq(number)));
        if kept.is_empty() {
            let why = format!("nothing is kept of task {number} in {scope}: `segue task show` lists what is");
            return Err(Missing(why).into());
        }
    }
    if common.json {
        json::print(&kept.iter().map(shape).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    if kept.is_empty() {
        let open = engine.show_task(scope, None).await?;
        let open = open.map(|shown| format!(" The task that is open now:\n{}", layout::printable(&shown)));
        let open = open.unwrap_or_else(|| " `segue task status` tells what is going on.".to_owned());
        out::line(format!("Nothing is kept yet: a task is kept when it is complete or given up.{open}"))?;
    }
    for kept in &kept {
        let title = kept.description.as_deref().unwrap_or("(erased)");
        let title = segue_core::task::text::headline(title, 120);
        out::line(format!("task {}: {title}", kept.commit.task))?;
        out::text(&kept_as_markdown(kept))?;
    }
    Ok(Exit::Done)
}

fn shape(kept: &ArchivedTask) -> Value {
    let mut value = serde_json::to_value(&kept.commit).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("description".into(), kept.description.clone().into());
        fields.insert("seq".into(), kept.seq.0.into());
        fields.insert("at".into(), kept.at.to_string().into());
    }
    value
}

fn kept_as_markdown(kept: &ArchivedTask) -> String {
    let commit = &kept.commit;
    let mut page = format!("\n## Kept as {} ({})\n\n{}\n", commit.id.short(), commit.kind, commit.summary);
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            page.push_str(&format!("\n{title}:\n\n"));
            lines.iter().for_each(|line| page.push_str(&format!("- {}\n", layout::printable(line))));
        }
    };
    let told = |kept: &Remembered| match (&kept.answer, kept.message) {
        (Some(answer), _) => format!("{} ({answer})", kept.text),
        (None, Some(message)) => format!("{} (answered in message {message})", kept.text),
        (None, None) => kept.text.clone(),
    };
    list("Decisions", commit.decisions.iter().map(told).collect());
    list("Open questions", commit.open_questions.iter().map(|open| open.text.clone()).collect());
    let file = |file: &segue_core::task::canonical::FileTouched| {
        format!("{} ({} reads, {} writes)", file.path, file.reads, file.writes)
    };
    list("Files", commit.files.iter().map(file).collect());
    let run = |run: &segue_core::task::canonical::CommandRun| {
        format!("{} ({} runs, {} failures)", run.command, run.runs, run.failures)
    };
    list("Commands", commit.commands.iter().map(run).collect());
    page
}

pub async fn graph(common: &Common, scope: Option<&scope::Key>, task: Option<u64>) -> anyhow::Result<Exit> {
    let (engine, scope) = &open(common, scope).await?;
    let task = chosen(engine, scope, task).await?;
    let Some(graph) = engine.graph(scope, task).await? else {
        return Err(Missing(format!("there is no task {task} in {scope}")).into());
    };
    if common.json {
        let nodes: Vec<Value> =
            graph.nodes().map(|(node, text)| json!({ "node": node, "text": text })).collect();
        json::print(&json!({ "task": task, "nodes": nodes, "edges": graph.edges().collect::<Vec<_>>() }))?;
        return Ok(Exit::Done);
    }
    out::text(&graph.to_dot())?;
    Ok(Exit::Done)
}
