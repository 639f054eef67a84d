//! Names and numbers in Chinese text.

use crate::text::{fold, is_han};

const UNITS: [&str; 36] = [
    "公里",
    "公斤",
    "小时",
    "分钟",
    "万元",
    "亿元",
    "美元",
    "欧元",
    "日元",
    "人民币",
    "平方米",
    "毫秒",
    "个月",
    "个人",
    "元",
    "块",
    "万",
    "亿",
    "人",
    "天",
    "岁",
    "间",
    "晚",
    "张",
    "次",
    "米",
    "度",
    "克",
    "斤",
    "页",
    "行",
    "秒",
    "周",
    "号",
    "点",
    "楼",
];
const HONORIFICS: [&str; 8] = ["先生", "女士", "老师", "小姐", "经理", "医生", "教授", "同学"];
const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤";
const TITLE_CHARS_MAX: usize = 20;
/// The longest unit, in characters.
const UNIT_CHARS_MAX: usize = 3;

/// Adds what one line holds.
pub(super) fn find(line: &str, found: &mut Vec<String>) {
    if !line.chars().any(is_han) {
        return;
    }
    let chars: Vec<char> = line.chars().map(fold).collect();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let taken = amount(rest).or_else(|| title(rest)).or_else(|| person(rest));
        match taken {
            // A number in the middle of a word or a longer number is part of it.
            Some(count) if at == 0 || !chars[at - 1].is_ascii_alphanumeric() && chars[at - 1] != '.' => {
                found.push(rest[..count].iter().collect());
                at += count;
            }
            _ => at += 1,
        }
    }
}

/// "120元", "3月12日", "2026年3月": how many characters it takes.
fn amount(chars: &[char]) -> Option<usize> {
    let digits = |from: usize| {
        chars[from..]
            .iter()
            .take_while(|ch| ch.is_ascii_digit() || **ch == '.' || **ch == ',')
            .take(16)
            .count()
    };
    let first = digits(0);
    if first == 0 || !chars[0].is_ascii_digit() {
        return None;
    }
    let mut end = 0;
    let mut number = first;
    // Years, months and days join to one date.
    while let Some(&unit) = chars.get(end + number).filter(|unit| "年月日号".contains(**unit)) {
        end += number + 1;
        number = digits(end);
        if number == 0 || "日号".contains(unit) {
            break;
        }
    }
    if end > 0 {
        return Some(end);
    }
    let unit: String = chars[first..].iter().take(UNIT_CHARS_MAX).collect();
    let known =
        UNITS.iter().filter(|known| unit.starts_with(**known)).map(|known| known.chars().count()).max()?;
    Some(first + known)
}

/// "《红楼梦》".
fn title(chars: &[char]) -> Option<usize> {
    if *chars.first()? != '《' {
        return None;
    }
    let end = chars.iter().take(TITLE_CHARS_MAX).position(|ch| *ch == '》')?;
    (end > 1).then_some(end + 1)
}

/// "王先生", "李小明老师": a family name, at most two characters, and how one is addressed.
fn person(chars: &[char]) -> Option<usize> {
    if !SURNAMES.contains(*chars.first()?) {
        return None;
    }
    (1..=3).find_map(|given| {
        let text: String = chars.get(given..given + 2)?.iter().collect();
        HONORIFICS.contains(&text.as_str()).then_some(given + 2)
    })
}
