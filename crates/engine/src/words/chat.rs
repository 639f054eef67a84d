//! What `segue chat` says itself.

use super::Language;
use super::say::{count, say, word};
use crate::models::{Failure, Flaw, Trouble, Unusable};
use segue_core::session::Number;

/// What a chat is told when it begins: who answers, and where it is kept.
pub fn greeting(l: Language, model: Option<&str>, store: &str) -> String {
    match model {
        Some(model) => say!(
            l,
            "{model} answers; kept in {store}; /help lists the commands, Ctrl-D ends",
            "由 {model} 回答；保存在 {store}；/help 列出命令，Ctrl-D 结束"
        ),
        None => say!(
            l,
            "no model answers (see --model; --explain shows each decision); kept in {store}; /help lists the commands, Ctrl-D ends",
            "没有模型回答（见 --model；--explain 显示每次判断）；保存在 {store}；/help 列出命令，Ctrl-D 结束"
        ),
    }
}

/// The commands that only a chat in a terminal has.
pub fn help(l: Language) -> &'static str {
    word(
        l,
        "In this chat: /retry asks the model again; exit, quit or Ctrl-D ends it.",
        "在本聊天里：/retry 让模型重新回答；exit、quit 或 Ctrl-D 结束。",
    )
}

/// A line that was typed while a reply came, and waits for its turn.
pub fn queued(l: Language, line: &str) -> String {
    say!(l, "(next: {line})", "（接下来：{line}）")
}

/// There is no message that a model could be asked about again.
pub fn nothing_to_retry(l: Language) -> &'static str {
    word(
        l,
        "There is nothing to try again: the last answer is whole, or nothing was said yet.",
        "没有可以重试的内容：上一个回答是完整的，或者还没有说过话。",
    )
}

/// There is no model that could answer.
pub fn no_model(l: Language) -> &'static str {
    word(l, "No model answers in this chat: see --model.", "这个聊天没有模型回答，见 --model。")
}

/// A reply could not be kept.
pub fn not_kept(l: Language, why: &str) -> String {
    say!(l, "The reply was not kept: {why}", "回答没有保存：{why}")
}

/// What a model would be given.
pub fn would_be_given(l: Language, session: Number, messages: u32, tokens: u32) -> String {
    let (messages, tokens) = (count(l, messages, "message", "条消息"), count(l, tokens, "token", "个词元"));
    say!(
        l,
        "A model would be given {messages} of #{session}, {tokens}.",
        "模型会得到 #{session} 的 {messages}，{tokens}。"
    )
}

/// Why a model gave no answer, or no whole one, and what to do about it. What the endpoint says itself stays in its words.
pub fn model_failed(l: Language, model: &str, trouble: &Trouble) -> String {
    let why = failure(l, trouble.failure);
    let said = trouble.said.as_ref().map_or(String::new(), |said| match l {
        Language::En => format!(": {said}"),
        Language::Zh => format!("：{said}"),
    });
    let hint = match trouble.failure {
        Failure::Unreachable => {
            word(l, "; is it running, and is its address right?", "；它在运行吗？地址对吗？")
        }
        Failure::Status(401 | 403) => word(l, "; check its key", "；请检查它的密钥"),
        Failure::Status(404) => {
            word(l, "; check its address and the model's name", "；请检查它的地址和模型名")
        }
        Failure::Status(429) => {
            word(l, "; it has too much to do, try again in a while", "；它太忙了，请稍后再试")
        }
        _ => "",
    };
    say!(l, "{model} did not answer: {why}{said}{hint}", "{model} 没有回答：{why}{said}{hint}")
}

/// How to ask a model again, to stand behind why that is needed.
pub fn asks_again(l: Language) -> &'static str {
    word(l, " (/retry asks again)", "（/retry 重新提问）")
}

fn failure(l: Language, failure: Failure) -> String {
    if l == Language::En {
        return failure.to_string();
    }
    match failure {
        Failure::Timeout => "等待模型的时间太长".to_owned(),
        Failure::Unreachable => "无法连接到模型".to_owned(),
        Failure::BrokenOff => "连接中断".to_owned(),
        Failure::Status(status) => format!("模型返回了 HTTP 状态 {status}"),
        Failure::TooLong => "回答太长".to_owned(),
        Failure::Malformed(flaw) => format!(
            "读不懂回答：{}",
            match flaw {
                Flaw::NotACompletion => "不是聊天回答",
                Flaw::NoText => "没有文字",
                Flaw::Error => "里面报告了一个错误",
            }
        ),
        Failure::Unusable(why) => format!(
            "这个模型无法使用：{}",
            match why {
                Unusable::Address => "它的 base_url 不是网址",
                Unusable::KeyMissing => "api_key_env 指定的环境变量没有设置",
                Unusable::Key => "它的密钥里有无法发送的字符",
                Unusable::Tls => "这台机器没有可以用来检查对方的证书",
                Unusable::NotBuiltIn => "这个版本不带模型客户端（功能 models 没有打开）",
            }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything in both languages.
    #[test]
    fn fc19_a_chat_says_everything_in_both_languages() {
        let failures = [
            Failure::Timeout,
            Failure::Unreachable,
            Failure::BrokenOff,
            Failure::Status(401),
            Failure::Status(404),
            Failure::Status(429),
            Failure::Status(500),
            Failure::TooLong,
            Failure::Malformed(Flaw::NotACompletion),
            Failure::Malformed(Flaw::NoText),
            Failure::Malformed(Flaw::Error),
            Failure::Unusable(Unusable::Address),
            Failure::Unusable(Unusable::KeyMissing),
            Failure::Unusable(Unusable::Key),
            Failure::Unusable(Unusable::Tls),
            Failure::Unusable(Unusable::NotBuiltIn),
        ];
        let all = |l: Language| {
            let mut all = vec![
                greeting(l, Some("qwen3"), "sqlite:log.db"),
                greeting(l, None, "sqlite:log.db"),
                help(l).to_owned(),
                queued(l, "..."),
                nothing_to_retry(l).to_owned(),
                no_model(l).to_owned(),
                not_kept(l, "..."),
                would_be_given(l, Number(2), 1, 7),
                would_be_given(l, Number(2), 3, 1),
                asks_again(l).to_owned(),
            ];
            all.extend(failures.map(|failure| model_failed(l, "qwen3", &Trouble { failure, said: None })));
            let said = Some("...".to_owned());
            all.push(model_failed(l, "qwen3", &Trouble { failure: Failure::Status(400), said }));
            all.join("\n")
        };
        insta::assert_snapshot!(all(Language::En));
        insta::assert_snapshot!(all(Language::Zh));
    }
}
