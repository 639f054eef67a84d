//! The acts of a message: what each clause does.

use super::lexicon;
use crate::intent::clauses;

/// What one clause does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Drop,
    Accept,
    Answer,
    Hesitate,
    /// Says something of its own.
    Speak,
}

/// What the whole message does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Acts {
    pub(super) list: Vec<Act>,
    /// Says that something else begins.
    pub(super) marks_new: bool,
    /// Says that what is there is to be changed.
    pub(super) marks_change: bool,
    /// Says so in words that an answer rarely has.
    pub(super) extends: bool,
    /// Begins like a request.
    pub(super) requests: bool,
    /// "Now ...", "next ...": what comes after something finished.
    pub(super) moves_on: bool,
    pub(super) asks: bool,
    /// Nothing but signs; a thumb up accepts.
    pub(super) wordless: bool,
    pub(super) cheers: bool,
    /// Says thank you.
    pub(super) thanks: bool,
    /// Says of something that it is not wanted any more.
    pub(super) ends_wish: bool,
    /// Ends with dots, or with a word that something must follow.
    pub(super) trails_off: bool,
    /// Words, or characters where there are no spaces, of the clauses that speak.
    pub(super) spoken: usize,
}

const POLITE: &str = "ok okay so well now alright hey hi please pls plz just oh ah and then really sorry thanks thank you actually yes yeah no hmm um i think lets let's that its it is this we can you all of very so much pretty really for now guys mate man here again then just fully completely to me for me from my side at the moment anymore a lot honestly im i'm think ill i'll totally simply do all";
const POLITE_CHINESE: [&str; 36] = [
    "嗯", "哦", "噢", "啊", "呃", "额", "那", "那就", "好的", "好", "好吧", "我", "我们", "咱们", "你", "请",
    "吧", "了", "啦", "呢", "哈", "呀", "嘛", "的", "先", "就", "都", "这个", "这", "现在", "觉得", "感觉",
    "真的", "非常", "太", "很",
];

impl Acts {
    pub(super) fn of(text: &str) -> Self {
        let stripped = clauses::strip(text);
        let mut acts = Self {
            wordless: !text.chars().any(char::is_alphanumeric),
            trails_off: trails_off(text),
            cheers: text.chars().any(|ch| "👍👌✅🎉🙏❤🥳💯😍👏🙌😊🤩✔".contains(ch)),
            ..Self::default()
        };
        for clause in clauses::split(&stripped.text) {
            let words = clean(clause.text);
            if words.is_empty() {
                continue;
            }
            let act = act(&words, clause.asks);
            acts.asks |= clause.asks;
            acts.thanks |= ["thank", "thx", "cheers", "谢", "辛苦"].iter().any(|word| words.contains(word));
            acts.ends_wish |= ends_wish(&words);
            if act == Act::Speak {
                acts.spoken += length(&words);
                let padded = format!(" {words} ");
                acts.marks_new |= lexicon::NEW_MARKS.is_in(&padded);
                acts.marks_change |= lexicon::CHANGE_MARKS.is_in(&padded);
                acts.extends |= lexicon::EXTENDS.is_in(&padded);
                acts.requests |= requests(&padded);
            } else if words == "now" || words == "next" {
                acts.moves_on = true;
            }
            acts.moves_on |= [
                "now ",
                "next ",
                "then ",
                "okay now ",
                "ok now ",
                "现在",
                "接下来",
                "下一步",
                "接着",
                "下面",
            ]
            .iter()
            .any(|start| words.starts_with(start));
            acts.list.push(act);
        }
        // Code and quotations are something of one's own, too.
        if !stripped.hidden.is_empty() && !acts.has(Act::Speak) {
            acts.list.push(Act::Speak);
            acts.spoken += 3;
        }
        acts
    }

    /// Whether it opens with an answer, whatever follows.
    pub(super) fn answers_first(&self) -> bool {
        matches!(self.list.first(), Some(Act::Answer | Act::Accept))
    }

    pub(super) fn has(&self, act: Act) -> bool {
        self.list.contains(&act)
    }

    /// Whether the message does nothing but these acts.
    pub(super) fn only(&self, allowed: &[Act]) -> bool {
        !self.list.is_empty() && self.list.iter().all(|act| allowed.contains(act))
    }
}

const UNFINISHED: [&str; 24] = [
    "about", "and", "but", "or", "the", "a", "of", "to", "is", "with", "for", "so", "if", "from", "because",
    "then", "like", "i", "my", "than", "was", "are", "who", "hmm",
];

fn trails_off(text: &str) -> bool {
    let text = text.trim_end();
    let last = text.rsplit(|ch: char| !ch.is_alphanumeric()).next().unwrap_or("").to_lowercase();
    text.ends_with("..") || text.ends_with('…') || UNFINISHED.contains(&last.as_str())
}

/// Letters that are drawn out are said once or twice: "hmmmm" is "hmm".
fn drawn_in(word: &str) -> String {
    let mut out = String::new();
    for ch in word.chars() {
        let tail: Vec<char> = out.chars().rev().take(2).collect();
        if tail != [ch, ch] {
            out.push(ch);
        }
    }
    out
}

/// Words in lower case without apostrophes and signs, one space between.
fn clean(text: &str) -> String {
    let words: Vec<String> = text
        .split(|ch: char| !(ch.is_alphanumeric() || ch == '\''))
        .map(|word| drawn_in(&word.replace('\'', "")))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn length(words: &str) -> usize {
    words.split(' ').map(|word| word.chars().filter(|&ch| crate::text::is_unspaced(ch)).count().max(1)).sum()
}

fn act(words: &str, asks: bool) -> Act {
    let core = core(words);
    let in_list = |list: &lexicon::Whole| list.has(words) || list.has(&core);
    if ceases(&core) {
        return Act::Drop;
    }
    // "done?" asks, "done" accepts.
    if asks && in_list(&lexicon::HESITATE) {
        Act::Hesitate
    } else if in_list(&lexicon::DROP) {
        Act::Drop
    } else if (in_list(&lexicon::ACCEPT) || praises(&core)) && !asks {
        Act::Accept
    } else if in_list(&lexicon::ANSWER) {
        Act::Answer
    } else if in_list(&lexicon::HESITATE) || stalls(words) {
        Act::Hesitate
    } else {
        Act::Speak
    }
}

/// "不去了", "别拆了", "先不约了": a short verb between a no and a 了 says that something is not done any more.
fn ceases(core: &str) -> bool {
    if ["算了", "算啦", "罢了", "拉倒"].iter().any(|word| core.starts_with(word)) {
        return true;
    }
    let rest = core
        .trim_start_matches("还是")
        .trim_start_matches('先')
        .trim_start_matches("我们")
        .trim_start_matches("今天");
    let Some(verb) = ["不用", "不要", "不想", "不", "别"].iter().find_map(|no| rest.strip_prefix(no))
    else {
        return false;
    };
    let verb = verb.trim_end_matches(['吧', '啦', '哈']);
    let verb = verb.strip_suffix('了').unwrap_or("");
    // "Not right", "not bad" and "no problem" have the same shape and say something else.
    let other =
        ["对", "行", "错", "好", "谢", "够", "见", "动", "同", "改", "说这个", "聊这个", "要改", "用改"];
    (1..=3).contains(&verb.chars().count()) && !other.contains(&verb) && verb.chars().all(crate::text::is_han)
}

/// "Sounds wonderful", "特别好": a few words that end in praise and deny nothing.
fn praises(core: &str) -> bool {
    const PRAISE: [&str; 22] = [
        "good",
        "great",
        "wonderful",
        "perfect",
        "perfectly",
        "fine",
        "lovely",
        "beautiful",
        "beautifully",
        "well",
        "amazing",
        "excellent",
        "brilliant",
        "right",
        "correct",
        "nice",
        "fantastic",
        "superb",
        "happy",
        "delighted",
        "pleased",
        "satisfied",
    ];
    const CHINESE: [&str; 16] = [
        "好",
        "棒",
        "赞",
        "不错",
        "满意",
        "完美",
        "漂亮",
        "厉害",
        "到位",
        "周到",
        "清楚",
        "给力",
        "喜欢",
        "我要的",
        "我想要的",
        "对",
    ];
    let words: Vec<&str> = core.split(' ').collect();
    let plain = !["not", "isnt", "doesnt", "no", "never", "dont"].iter().any(|no| words.contains(no));
    let english = words.len() <= 4 && plain && words.last().is_some_and(|last| PRAISE.contains(last));
    let chinese = core.chars().count() <= 7
        && CHINESE.iter().any(|word| core.ends_with(word))
        && ["特别", "真", "太", "非常", "超", "挺", "很", "蛮", "都", "刚好", "正是", "就是", "确实", "十分"]
            .iter()
            .any(|word| core.starts_with(word) || core.contains("都对"))
        && !core.contains('不');
    english || chinese
}

/// Asks for a moment, in whatever words.
fn stalls(words: &str) -> bool {
    const OPENINGS: [&str; 14] = [
        "hang on",
        "hold on",
        "one sec",
        "one moment",
        "just a m",
        "just a s",
        "give me a",
        "let me look",
        "let me see",
        "let me check",
        "等我",
        "让我看",
        "让我想",
        "稍等",
    ];
    length(words) <= 6 && OPENINGS.iter().any(|opening| words.starts_with(opening))
}

/// A clause that says of a thing that it is not wanted any more.
fn ends_wish(words: &str) -> bool {
    let han =
        words.contains('不') && words.ends_with('了') || words.contains("取消") || words.contains("用不");
    let english = [
        " anymore",
        " any more",
        " after all",
        " any longer",
        "no longer ",
        "cancelled",
        "canceled",
        " is off",
        "s off",
    ];
    han || english.iter().any(|sign| words.contains(sign))
}

/// The clause without polite words at its ends; itself if nothing else is left.
fn core(words: &str) -> String {
    let mut list: Vec<&str> = words.split(' ').collect();
    let polite = |word: &str| POLITE.split(' ').any(|known| known == word);
    while list.len() > 1 && list.first().is_some_and(|word| polite(word)) {
        list.remove(0);
    }
    while list.len() > 1 && list.last().is_some_and(|word| polite(word)) {
        list.pop();
    }
    let mut core = list.join(" ");
    loop {
        let next = POLITE_CHINESE.iter().find_map(|word| {
            let rest = core.strip_prefix(word).or_else(|| core.strip_suffix(word))?;
            (rest.chars().count() >= 2).then(|| rest.trim().to_owned())
        });
        let lists = [&lexicon::DROP, &lexicon::ACCEPT, &lexicon::ANSWER, &lexicon::HESITATE];
        let whole = lists.iter().any(|list| list.has(&core));
        match next {
            Some(shorter) if !whole => core = shorter,
            _ => return core,
        }
    }
}

fn requests(padded: &str) -> bool {
    let words: Vec<&str> = padded.split_whitespace().collect();
    let skip = words.iter().take_while(|word| POLITE.split(' ').any(|known| known == **word)).count();
    let start = format!(" {} ", words[skip.min(words.len())..].join(" "));
    lexicon::REQUEST.begins(padded, &start)
}
