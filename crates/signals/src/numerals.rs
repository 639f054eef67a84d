//! Numerals: numbers in Chinese characters. A date that is kept as 5月7日 is asked for as 五月七号.

/// What is longer is a play on words.
const CHARS_MAX: usize = 12;

/// Before these even one character is a number: a month, a day, an hour, an age, so many days or weeks.
const COUNTED: &str = "月日号点岁天周";

/// Reads one digit.
pub(crate) fn digit(c: char) -> Option<u64> {
    Some(match c {
        '〇' | '零' => 0,
        '一' => 1,
        '二' | '两' => 2,
        '三' => 3,
        '四' => 4,
        '五' => 5,
        '六' => 6,
        '七' => 7,
        '八' => 8,
        '九' => 9,
        _ => return None,
    })
}

fn unit(c: char) -> Option<u64> {
    Some(match c {
        '十' => 10,
        '百' => 100,
        '千' => 1_000,
        '万' => 10_000,
        '亿' => 100_000_000,
        _ => return None,
    })
}

fn is_numeral(c: char) -> bool {
    digit(c).is_some() || unit(c).is_some()
}

/// Writes the numbers that a text has in Chinese characters in digits; the rest stays.
pub(crate) fn in_digits(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_numeral) {
        let (before, from) = rest.split_at(begin);
        let end = from.find(|c| !is_numeral(c)).unwrap_or(from.len());
        let (run, after) = from.split_at(end);
        written.push_str(before);
        match number(run, after.chars().next()) {
            Some(number) => written.push_str(&number),
            None => written.push_str(run),
        }
        rest = after;
    }
    written + rest
}

/// Reads a run of numerals. One alone is seldom a number (一下, 万一), and neither is one that begins with a unit (千万).
fn number(run: &str, after: Option<char>) -> Option<String> {
    let count = run.chars().count();
    let is_counted = count > 1 || after.is_some_and(|c| COUNTED.contains(c));
    let begins = run.starts_with(|c| digit(c).is_some() || c == '十');
    if !is_counted || !begins || count > CHARS_MAX {
        return None;
    }
    if run.chars().all(|c| digit(c).is_some()) {
        // A year or a room, digit by digit; two in a row say about how many there are (两三个, 七八天).
        let is_spelled = count == 1 || count > 2 && !run.contains('两');
        return is_spelled.then(|| run.chars().filter_map(digit).map(|digit| digit.to_string()).collect());
    }
    let (mut whole, mut sum, mut section, mut last) = (0_u64, 0_u64, 0_u64, 1_u64);
    let mut pending = None;
    for c in run.chars() {
        if let Some(digit) = digit(c) {
            pending = Some(digit);
            // After a nought the next digit counts by itself: 一百零五.
            last = if digit == 0 { 1 } else { last };
        } else if let Some(unit) = unit(c) {
            match unit {
                100_000_000 => {
                    whole = sum.saturating_add(section + pending.unwrap_or(0)).saturating_mul(unit);
                    (sum, section) = (0, 0);
                }
                10_000 => {
                    sum = sum.saturating_add(section + pending.unwrap_or(0)).saturating_mul(unit);
                    section = 0;
                }
                _ => section += pending.unwrap_or(1) * unit,
            }
            (last, pending) = (unit, None);
        }
    }
    // The last unit may be left out: 两千六 is 2600.
    let left = pending.unwrap_or(0) * (last / 10).max(1);
    Some(whole.saturating_add(sum).saturating_add(section + left).to_string())
}

#[cfg(test)]
mod tests {
    use super::in_digits;

    #[test]
    fn numbers_are_read_as_they_are_said() {
        for (text, number) in [
            ("二十三", "23"),
            ("十一", "11"),
            ("四十", "40"),
            ("两千六", "2600"),
            ("一百零五", "105"),
            ("一万八", "18000"),
            ("两万五千", "25000"),
            ("二〇二六年", "2026年"),
            ("三千五百亿", "350000000000"),
            ("一亿两千万", "120000000"),
            ("五月二十三号花了三千八", "5月23号花了3800"),
        ] {
            assert_eq!(in_digits(text), number, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_stays() {
        for text in
            ["一两天", "两三个", "七八个", "一下", "万一", "千万别忘", "三个人", "harbour", "", "2600"]
        {
            assert_eq!(in_digits(text), text);
        }
        assert_eq!(in_digits(&"万一".repeat(10_000)), "万一".repeat(10_000));
        assert_eq!(in_digits("九万万万万万一万"), u64::MAX.to_string());
    }
}
