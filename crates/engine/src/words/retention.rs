//! Sessions that will go by themselves: how the person is told.

use super::mentioned::LISTED_MAX as NAMED_MAX;
use super::{Keys, Language, duration};
use jiff::civil::Date;
use segue_core::retention::Past;
use segue_core::session::Number;

pub(super) fn going_en(keys: &Keys<'_>, sessions: &[Number], past: Option<Past>, on: Date) -> String {
    let why = match past {
        Some(Past::Age { limit_ms }) => {
            format!("not used for more than {}", duration(Language::En, limit_ms))
        }
        Some(Past::Count { limit }) => format!("only {limit} are kept"),
        Some(Past::Size { limit_bytes }) => {
            format!("all together have more than {} of text", bytes(limit_bytes))
        }
        None => "past what is kept".to_owned(),
    };
    let (count, more) = (sessions.len(), sessions.len().saturating_sub(NAMED_MAX));
    let (plural, more) = match (count, more) {
        (1, _) => ("", String::new()),
        (_, 0) => ("s", String::new()),
        (_, more) => ("s", format!(" and {more} more")),
    };
    let named = named(keys, sessions, ", ");
    format!(
        "{count} old session{plural} will go from {on} on ({why}): {named}{more}. \
         /session list shows what goes, /session keep N keeps it."
    )
}

pub(super) fn going_zh(keys: &Keys<'_>, sessions: &[Number], past: Option<Past>, on: Date) -> String {
    let why = match past {
        Some(Past::Age { limit_ms }) => format!("超过 {}没有使用", duration(Language::Zh, limit_ms)),
        Some(Past::Count { limit }) => format!("只保留 {limit} 个"),
        Some(Past::Size { limit_bytes }) => format!("文字总量超过 {}", bytes(limit_bytes)),
        None => "超出保留范围".to_owned(),
    };
    let count = sessions.len();
    let more = match count.saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" 等，另有 {more} 个"),
    };
    let named = named(keys, sessions, "、");
    format!(
        "{count} 个旧会话将从 {on} 起清理（{why}）：{named}{more}。输入 /session list 查看，/session keep N 可保留。"
    )
}

fn named(keys: &Keys<'_>, sessions: &[Number], joint: &str) -> String {
    let named = sessions.iter().take(NAMED_MAX).map(|session| keys.of(*session));
    named.collect::<Vec<_>>().join(joint)
}

fn bytes(bytes: u64) -> String {
    match bytes {
        1_000_000.. => format!("{} MB", bytes / 1_000_000),
        1_000.. => format!("{} kB", bytes / 1_000),
        _ => format!("{bytes} B"),
    }
}
