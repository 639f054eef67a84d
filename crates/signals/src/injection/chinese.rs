//! Orders to the judge, in Chinese.

use super::is_shouted_label;

/// Characters between the parts of a Chinese order.
const CHARS_REACH: usize = 12;

/// Whether an order to a reader is anywhere in the text.
pub(super) fn orders(lower: &str, plain: &str) -> bool {
    let follows = |text: &str, verbs: &[&str], check: &dyn Fn(&str) -> bool| {
        verbs.iter().any(|verb| {
            text.match_indices(verb).any(|(at, _)| {
                let rest = &text[at + verb.len()..];
                let stop = rest.char_indices().nth(CHARS_REACH).map_or(rest.len(), |(at, _)| at);
                let reach = &rest[..stop];
                check(reach.split(['。', '\n', '！', '!']).next().unwrap_or(reach))
            })
        })
    };
    let any = |text: &str, list: &[&str]| list.iter().any(|part| text.contains(part));
    let rules = ["指令", "指示", "提示词", "规则", "命令", "设定", "系统提示"];
    let drops = ["忽略", "无视", "忽视", "不要理会", "不要遵守", "不要遵循", "跳过", "覆盖"];
    let answers = ["回答", "回复", "输出", "返回", "答复", "填写", "答案是", "答案为", "结果为", "结论是"];
    follows(lower, &drops, &|rest| {
        rest.starts_with("以上")
            || rest.starts_with("上述")
            || rest.starts_with("掉以上")
            || any(rest, &rules)
    }) || follows(lower, &["忘记", "忘掉", "忘了"], &|rest| any(rest, &rules))
        || follows(lower, &["你是", "你现在是", "作为"], &|rest| {
            any(rest, &["分类器", "判别器", "分类模型"])
        })
        || any(lower, &["系统提示词", "系统提示：", "系统提示:", "系统指令", "致分类器", "分类器请"])
        || follows(lower, &["分类为", "归类为", "判定为", "判断为", "标记为"], &|rest| {
            let rest = rest.trim_start_matches(|ch: char| !ch.is_alphanumeric());
            ["新会话", "新话题", "同一话题", "同一会话", "无关", "new", "same"]
                .iter()
                .any(|label| rest.starts_with(label))
        })
        || follows(plain, &answers, &|rest| {
            let rest = rest.trim_start_matches(|ch: char| {
                !ch.is_alphanumeric() || "只仅一个成为是单词请出用".contains(ch)
            });
            let word = rest.split(|ch: char| !ch.is_ascii_alphanumeric() && ch != '_').next().unwrap_or("");
            is_shouted_label(word) || word.eq_ignore_ascii_case("json")
        })
}
