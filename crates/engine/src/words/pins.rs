//! What a session is pinned to, for people.

use super::say::{say, word};
use super::{Command, Keys, Language, nearest};
use crate::config::Config;
use crate::persona;
use crate::pins::{Drifted, How, Pinned};
use crate::skills::{Skill, SkillSnapshot};
use segue_core::notice::Repinned;
use segue_core::pins::Model;
use segue_core::session::Number;

/// How much of a version is shown, in characters.
const VERSION_CHARS: usize = 12;

/// Tells what a session is held to now.
pub(super) fn notice(language: Language, keys: &Keys<'_>, session: Number, pinned: &Repinned) -> String {
    let key = keys.of(session);
    let short =
        |version: &Option<segue_core::digest::Digest>| version.map(|version| short(&version.to_string()));
    let l = language;
    match pinned {
        Repinned::All => say!(l, "{key} keeps the settings that it came with.", "{key} 沿用随它带来的设定。"),
        Repinned::Agent { agent: Some(agent) } => {
            say!(l, "The agent of {key} is now {agent}.", "{key} 的助手现在是 {agent}。")
        }
        Repinned::Agent { agent: None } => {
            say!(l, "{key} has its own agent again.", "{key} 恢复为它本来的助手。")
        }
        Repinned::Skills { changed: false, .. } => {
            say!(l, "The skills of {key} have not changed.", "{key} 的技能没有变化。")
        }
        Repinned::Skills { version, changed: true } => match short(version) {
            Some(version) => say!(
                l,
                "{key} now uses the current skills, version {version}.",
                "{key} 已换用当前的技能，版本 {version}。"
            ),
            None => {
                say!(
                    l,
                    "{key} has no skills any more, because there are none now.",
                    "{key} 不再有技能：现在一个也没有。"
                )
            }
        },
        Repinned::Persona { changed: false, .. } => {
            say!(l, "The persona of {key} has not changed.", "{key} 的人格设定没有变化。")
        }
        Repinned::Persona { version, changed: true } => match short(version) {
            Some(version) => say!(
                l,
                "{key} now uses the current persona, version {version}.",
                "{key} 已换用当前的人格设定，版本 {version}。"
            ),
            None => {
                say!(
                    l,
                    "{key} has no persona any more, because there is none now.",
                    "{key} 不再有人格设定：现在没有。"
                )
            }
        },
        Repinned::Model { model: Some(model) } => {
            let model = described(l, model);
            say!(l, "{model} now answers in {key}.", "{key} 现在由 {model} 回答。")
        }
        Repinned::Model { model: None } => {
            say!(l, "The usual model answers in {key} again.", "{key} 恢复由平常的模型回答。")
        }
    }
}

fn short(version: &str) -> String {
    version.chars().take(VERSION_CHARS).collect()
}

/// Describes a model: "fast (qwen3, temperature 0.2, thinking high)".
pub fn described(language: Language, model: &Model) -> String {
    let mut about: Vec<String> = model.id.iter().filter(|id| **id != model.name).cloned().collect();
    let (temperature, thinking, verbosity, comma, open, close) = match language {
        Language::En => ("temperature", "thinking", "verbosity", ", ", " (", ")"),
        Language::Zh => ("温度", "思考", "详细程度", "，", "（", "）"),
    };
    about.extend(model.temperature.map(|value| format!("{temperature} {}", value.value())));
    about.extend(model.thinking.map(|level| format!("{thinking} {}", level.name())));
    about.extend(model.verbosity.map(|level| format!("{verbosity} {}", level.name())));
    if about.is_empty() {
        model.name.clone()
    } else {
        format!("{}{open}{}{close}", model.name, about.join(comma))
    }
}

/// Tells what a session is pinned to, in four lines and a few more if something was wrong.
pub fn pinned(language: Language, pinned: &Pinned) -> String {
    let names: Vec<&str> = pinned.persona.parts.iter().map(|part| part.name.as_str()).collect();
    let skills = pinned.skills.skills.len();
    let model = described(language, &pinned.model);
    let version = short(&pinned.skills.version.to_string());
    let (l, agent, none) = (language, &pinned.agent, word(language, "none", "无"));
    let skills = match skills {
        0 => say!(l, "Skills: {none}", "技能：{none}"),
        _ => say!(l, "Skills: {skills}, version {version}", "技能：{skills} 个，版本 {version}"),
    };
    let names = if names.is_empty() { none.to_owned() } else { names.join(word(l, ", ", "、")) };
    let mut lines = vec![
        say!(l, "Agent: {agent}", "助手：{agent}"),
        say!(l, "Model: {model}", "模型：{model}"),
        skills,
        say!(l, "Persona: {names}", "人格设定：{names}"),
    ];
    let worth_a_word = |diagnostic: &&persona::Diagnostic| !diagnostic.is_absence();
    lines.extend(pinned.persona.diagnostics.iter().filter(worth_a_word).map(|d| warning(language, d)));
    let wrong = pinned.skills.diagnostics.len();
    if wrong > 0 {
        lines.push(say!(
            l,
            "! {wrong} of the skills have a problem; /skills says which",
            "! {wrong} 个技能有问题；/skills 会说明"
        ));
    }
    lines.join("\n")
}

fn warning(language: Language, diagnostic: &persona::Diagnostic) -> String {
    match (language, diagnostic) {
        (Language::Zh, persona::Diagnostic::TooLarge { bytes, bytes_max, largest }) => {
            format!("! 人格设定有 {bytes} 字节，超过上限 {bytes_max}，没有采用；请缩短 {largest}")
        }
        (Language::Zh, persona::Diagnostic::Unreadable { name, .. }) => format!("! {name} 无法读取"),
        (_, other) => format!("! {other}"),
    }
}

/// Tells how something differs from what the session took in, and how to take it in.
pub fn drifted(l: Language, drifted: &Drifted) -> String {
    let how = |how: &How| match how {
        How::Added => word(l, "was added", "新增了"),
        How::Changed => word(l, "changed on disk", "在磁盘上改动了"),
        How::Removed => word(l, "is gone", "不见了"),
    };
    match drifted {
        Drifted::SkillSnapshot { name, how: what } => {
            let what = how(what);
            say!(
                l,
                "skill {name} {what} since this session began; /reload_skills uses it as it is now",
                "本会话开始以来，技能 {name} {what}；/reload_skills 可以采用"
            )
        }
        Drifted::Persona { name, how: what } => {
            let what = how(what);
            say!(
                l,
                "{name} {what} since this session began; /reload_persona uses it as it is now",
                "本会话开始以来，{name} {what}；/reload_persona 可以采用"
            )
        }
        Drifted::PersonaRefused { why } => say!(
            l,
            "{why}; until then the session keeps what it has",
            "人格设定现在无法采用（{why}）；本会话保持原样"
        ),
        Drifted::ActiveAgent { name, how: How::Removed } => say!(
            l,
            "agent {name} is gone from the configuration; the session keeps it until /agent use NAME",
            "配置里已没有助手 {name}；本会话继续用它，直到 /agent use NAME"
        ),
        Drifted::ActiveAgent { name, .. } => say!(
            l,
            "the instructions of agent {name} changed since this session began; /agent use {name} uses them as they are now",
            "本会话开始以来，助手 {name} 的说明改动了；/agent use {name} 可以采用"
        ),
        Drifted::ModelConfig { name, how: How::Removed } => say!(
            l,
            "model {name} is gone from the configuration; the session keeps it until /model NAME",
            "配置里已没有模型 {name}；本会话继续用它，直到 /model NAME"
        ),
        Drifted::ModelConfig { name, .. } => say!(
            l,
            "model {name} is configured differently since this session began; /model {name} uses it as it is now",
            "本会话开始以来，模型 {name} 的设置改动了；/model {name} 可以采用"
        ),
    }
}

/// Lists the agents, one a line; the active one is marked.
pub fn agents(config: &Config, known: impl IntoIterator<Item = String>, active: &str) -> String {
    let mut known: Vec<String> = known.into_iter().collect();
    // One that vanished from the configuration is still the one that answers.
    if !known.iter().any(|name| name == active) {
        known.push(active.to_owned());
        known.sort();
    }
    let line = |name: &String| {
        let mark = if name == active { '*' } else { ' ' };
        let about = config.agents.named.get(name).and_then(|agent| agent.description.as_deref());
        about.map_or_else(|| format!("{mark} {name}"), |about| format!("{mark} {name}  {about}"))
    };
    known.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Shows an agent.
pub fn agent(language: Language, name: &str, about: Option<&str>, instructions: Option<&str>) -> String {
    let mut lines = vec![about.map_or_else(|| name.to_owned(), |about| format!("{name}: {about}"))];
    lines.push(match (language, instructions) {
        (_, Some(text)) => text.trim().to_owned(),
        (Language::En, None) => "It has no instructions of its own.".to_owned(),
        (Language::Zh, None) => "它没有自己的说明。".to_owned(),
    });
    lines.join("\n")
}

/// Lists the skills of a session, and what was wrong with others.
pub fn skills(language: Language, snapshot: &SkillSnapshot) -> String {
    let line = |skill: &Skill| {
        let about = skill.description.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{}  {about} ({})", skill.name, skill.source)
    };
    let mut lines: Vec<String> = snapshot.skills.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(match language {
            Language::En => "This session has no skills.".to_owned(),
            Language::Zh => "本会话没有技能。".to_owned(),
        });
    }
    lines.extend(snapshot.diagnostics.iter().map(|diagnostic| format!("! {diagnostic}")));
    lines.join("\n")
}

/// Shows a skill.
pub fn skill(skill: &Skill, body: &str) -> String {
    let about = skill.description.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}: {about} ({})\n\n{}", skill.name, skill.source, body.trim())
}

/// Tells that a session has no such skill.
pub fn no_skill(language: Language, word: &str, snapshot: &SkillSnapshot) -> String {
    let names = snapshot.skills.iter().flat_map(|skill| [&skill.name].into_iter().chain(&skill.aliases));
    let near = nearest(word, names.map(String::as_str));
    match (language, near) {
        (Language::En, Some(near)) => format!("This session has no skill {word}. Did you mean {near}?"),
        (Language::En, None) => format!("This session has no skill {word}. /skills lists those it has."),
        (Language::Zh, Some(near)) => format!("本会话没有技能 {word}。是不是 {near}？"),
        (Language::Zh, None) => format!("本会话没有技能 {word}。/skills 可以列出。"),
    }
}

/// Tells that the configuration has no such agent or model.
pub(crate) fn not_configured(language: Language, command: Command, name: &str, known: &[String]) -> String {
    let (en, zh) = if command == Command::Model { ("model", "模型") } else { ("agent", "助手") };
    let names = known.join(if language == Language::En { ", " } else { "、" });
    match (language, known.is_empty()) {
        (Language::En, true) => format!("There is no {en} {name}: the configuration has none."),
        (Language::En, false) => format!("There is no {en} {name}. There are: {names}."),
        (Language::Zh, true) => format!("没有{zh} {name}：配置里一个也没有。"),
        (Language::Zh, false) => format!("没有{zh} {name}。现有：{names}。"),
    }
}

/// Tells that the persona stays as it is, because the files cannot be taken.
pub(crate) fn persona_refused(language: Language, error: &persona::Error) -> String {
    match language {
        Language::En => format!("Nothing was changed: {error}."),
        Language::Zh => {
            let persona::Error::TooLarge { bytes, bytes_max, largest } = error;
            format!("没有改动：人格设定有 {bytes} 字节，上限是 {bytes_max}；请缩短 {largest}。")
        }
    }
}

/// Tells that nobody says where skills and persona are.
pub(crate) fn no_host(language: Language) -> String {
    match language {
        Language::En => "Nothing was changed: this program was not told where skills and persona are.",
        Language::Zh => "没有改动：本程序不知道技能和人格设定在哪里。",
    }
    .to_owned()
}
