//! Sessions that will go by themselves: how the person is told.

use super::mentioned::LISTED_MAX as NAMED_MAX;
use super::say::{count, say, word};
use super::{Keys, duration};
use jiff::civil::Date;
use segue_core::retention::Past;
use segue_core::session::Number;

pub(super) fn going(keys: &Keys<'_>, sessions: &[Number], past: Option<Past>, on: Date) -> String {
    let l = keys.language;
    let why = match past {
        Some(Past::Age { limit_ms }) => {
            let limit = duration(l, limit_ms);
            say!(l, "not used for more than {limit}", "超过 {limit}没有使用")
        }
        Some(Past::Count { limit }) => say!(l, "only {limit} are kept", "只保留 {limit} 个"),
        Some(Past::Size { limit_bytes }) => {
            let limit = bytes(limit_bytes);
            say!(l, "all together have more than {limit} of text", "文字总量超过 {limit}")
        }
        None => say!(l, "beyond what is kept", "超出保留范围"),
    };
    let old = count(l, u32::try_from(sessions.len()).unwrap_or(u32::MAX), "old session", "个旧会话");
    let more = match sessions.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => say!(l, " and {more} more", " 等，另有 {more} 个"),
    };
    let named = sessions.iter().take(NAMED_MAX).map(|session| keys.of(*session));
    let named = named.collect::<Vec<_>>().join(word(l, ", ", "、"));
    say!(
        l,
        "{old} will be deleted from {on} on ({why}): {named}{more}. /session list shows them, /session keep N keeps one.",
        "{old}将从 {on} 起删除（{why}）：{named}{more}。输入 /session list 查看，/session keep N 可保留。"
    )
}

fn bytes(bytes: u64) -> String {
    match bytes {
        1_000_000.. => format!("{} MB", bytes / 1_000_000),
        1_000.. => format!("{} kB", bytes / 1_000),
        _ => format!("{bytes} B"),
    }
}
