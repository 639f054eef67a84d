//! What a session is about: its most telling words, each in the spelling of the person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::Speaker;
use crate::terms::Term;
use crate::text::{Kind, Reading, is_unspaced};

/// Words that are kept; the lightest give way.
const WORDS_MAX: usize = 256;
/// How many are kept when there is no room left, so that room is not made for each word.
const WORDS_KEPT: usize = 192;
const BEST_MAX: usize = 6;
/// What is left of a word's weight after a message without it: half after some thirty.
const DECAY: f32 = 0.98;
const AGENT_SHARE: f32 = 0.5;
/// A pair of words is a phrase when it was said in so many messages.
const PHRASE_USES_MIN: u32 = 2;
const WEIGHT_MIN: f32 = 0.15;
/// How often a word is used counts for as much as how rare it is.
const USE_SHARE: f32 = 0.5;
const WORD_CHARS_MAX: usize = 40;
const UNSPACED_CHARS: std::ops::RangeInclusive<usize> = 2..=4;

/// Words that say what people do in any conversation, not what this one is about.
const EMPTY: &str = "please thanks thank hello want wants wanted need needs like know think make makes made get gets got use used using good great nice okay yes yeah sure help tell show give look looks find let lets work works thing things way ways time times one ones two three new day today also really just maybe much many more most some something anything everything nothing question questions answer answers example take takes going goes went come comes see say says said try trying sorry right wrong best better well still even back first second last next same other another different lot bit kind sort sounds idea course actually probably instead again always never already able put keep start started begin done fine perfect cool welcome happy glad want would could should might must will shall here there what which when where who whom why how this that these those with without from into about over under than then them they their your yours mine ours have has had does did doing been being were was are because though although however while until since per via etc dont doesnt didnt cant couldnt wont wouldnt shouldnt isnt arent wasnt ive youre youve were weve its thats theres ill youll lets option options choose decide decided prefer 我们 你们 他们 可以 什么 怎么 怎样 谢谢 感谢 好的 需要 知道 帮我 一个 这个 那个 这些 那些 现在 还是 就是 没有 时候 觉得 如果 因为 所以 但是 然后 或者 以及 问题 推荐 想要 告诉 请问 一下 一些 不是 不要 不用 还有 已经 可能 应该 多少 哪里 哪个 为什么 如何 或许 今天 明天 昨天 比较 非常 真的 其实 大概 一样 这样 那样 怎么样 是否 能够 不能 不会 不过 而且 另外 其他 别的 对了 关于 建议 选择 决定 您好 你好 麻烦 继续 开始 有没有 能不能 是不是 左右 之后 之前 以后 以前 的话 东西 事情 那么 这么 只有 只是 直接 使用 进行 一点 有点 那家 这家 便宜 好吧 喜欢 打算 准备";

static EMPTY_SET: LazyLock<BTreeSet<&str>> = LazyLock::new(|| EMPTY.split(' ').collect());
/// Characters that stand beside words and are part of none.
const PARTICLES: &str = "的了是我你他她它在有和跟与就都也还要想去来吗呢吧啊把被让给对从到不没这那个些么什怎几多少很太最再又或但而且为因所以用好能会可请帮说看做一二三四五六七八九十前后上下里中大小年月日天点分";

/// One word and how it was used.
#[derive(Clone, Debug, PartialEq)]
struct Topic {
    shown: String,
    by: Speaker,
    weight: f32,
    uses: u32,
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Word,
    Phrase,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Topics {
    words: BTreeMap<String, Topic>,
}

/// A telling word of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mention {
    key: String,
    shown: String,
    weight: f32,
    shape: Shape,
}

impl Mention {
    /// Finds the telling words of a message.
    pub(super) fn all(reading: &Reading<'_>, terms: &[Term]) -> Vec<Self> {
        // A word said five times in one message is not five times as much the topic.
        let mut here: BTreeMap<String, (f32, String, Shape)> = BTreeMap::new();
        let mut add = |shown: &str, weight: f32, shape: Shape| {
            let entry = here.entry(key(shown)).or_insert((0.0, shown.to_owned(), shape));
            entry.0 = (entry.0 + weight * if entry.0 > 0.0 { 0.25 } else { 1.0 }).min(2.0 * weight);
        };
        let mut before: Option<Term> = None;
        for &term in terms {
            let shown = reading.between(term.first, term.last);
            let telling = is_telling(&term, shown);
            if telling {
                add(shown, value(&term), Shape::Word);
            }
            // A word that the vocabulary does not know falls apart; said again, its pieces are one.
            let piece = is_piece(&term, shown);
            if let Some(first) = before.filter(|first| (telling || piece) && joined(reading, first, &term)) {
                let phrase = reading.between(first.first, term.last);
                let chars = phrase.chars().count();
                if !phrase.chars().any(is_unspaced) || UNSPACED_CHARS.contains(&chars) {
                    add(phrase, value(&first) + value(&term), Shape::Phrase);
                }
            }
            before = (telling || piece).then_some(term);
        }
        let mention = |(key, (weight, shown, shape))| Self { key, shown, weight, shape };
        here.into_iter().map(mention).collect()
    }
}

impl Topics {
    pub(super) fn add(&mut self, by: Speaker, mentions: &[Mention]) {
        for topic in self.words.values_mut() {
            topic.weight *= DECAY;
        }
        for mention in mentions {
            self.mention(by, mention);
        }
        self.make_room();
    }

    fn mention(&mut self, by: Speaker, Mention { key, shown, weight, shape }: &Mention) {
        let weight = match by {
            Speaker::Person => *weight,
            Speaker::Agent => weight * AGENT_SHARE,
        };
        if !self.words.contains_key(key) {
            let new = Topic { shown: shown.clone(), by, weight: 0.0, uses: 0, shape: *shape };
            self.words.insert(key.clone(), new);
        }
        let Some(topic) = self.words.get_mut(key) else { return };
        topic.weight += weight;
        topic.uses = topic.uses.saturating_add(1);
        let capital = |text: &str| text.chars().next().is_some_and(char::is_uppercase);
        // A capital may be the sentence's and not the word's: the small one is the word's own.
        let own = topic.by == by && capital(&topic.shown) && !capital(shown);
        if own || (topic.by, by) == (Speaker::Agent, Speaker::Person) {
            shown.clone_into(&mut topic.shown);
            topic.by = by;
        }
    }

    fn make_room(&mut self) {
        if self.words.len() <= WORDS_MAX {
            return;
        }
        let mut weights: Vec<f32> = self.words.values().map(|topic| topic.weight).collect();
        weights.sort_by(|a, b| b.total_cmp(a));
        let least = weights.get(WORDS_KEPT).copied().unwrap_or(0.0);
        self.words.retain(|_, topic| topic.weight > least);
    }

    /// The heaviest words; a phrase stands for the words in it.
    pub(super) fn best(&self) -> Vec<String> {
        let mut all: Vec<&Topic> = self
            .words
            .values()
            .filter(|topic| match topic.shape {
                Shape::Word => true,
                Shape::Phrase => topic.uses >= PHRASE_USES_MIN,
            })
            .collect();
        // Stable: words of the same weight stay in the order of their keys.
        all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let mut best: Vec<&str> = Vec::new();
        for topic in all {
            let covers = |one: &str, other: &str| one.to_lowercase().contains(&other.to_lowercase());
            if best.len() == BEST_MAX {
                break;
            }
            if !best.iter().any(|taken| covers(taken, &topic.shown) || covers(&topic.shown, taken)) {
                best.push(&topic.shown);
            }
        }
        best.into_iter().map(str::to_owned).collect()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }
}

fn value(term: &Term) -> f32 {
    USE_SHARE + (1.0 - USE_SHARE) * term.weight
}

/// The plural is the same topic.
fn key(shown: &str) -> String {
    let lower = shown.to_lowercase();
    let singular = lower.strip_suffix('s').filter(|stem| stem.len() >= 4 && !stem.ends_with(['s', 'u', 'i']));
    singular.map_or(lower.clone(), str::to_owned)
}

fn is_telling(term: &Term, shown: &str) -> bool {
    let chars = shown.chars().count();
    let long_enough = match term.first.kind {
        Kind::Unspaced => UNSPACED_CHARS.contains(&chars),
        Kind::Word => {
            (3..=WORD_CHARS_MAX).contains(&chars) || chars == 2 && shown.chars().all(char::is_uppercase)
        }
        Kind::Number => false,
    };
    let lower: String =
        shown.chars().filter(|ch| ch.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    long_enough && term.weight >= WEIGHT_MIN && !EMPTY_SET.contains(lower.as_str())
}

fn is_piece(term: &Term, shown: &str) -> bool {
    let mut chars = shown.chars();
    let single = chars.next().filter(|_| chars.next().is_none());
    term.first.kind == Kind::Unspaced && single.is_some_and(|ch| !PARTICLES.contains(ch))
}

/// Whether two terms stand side by side: one space between words, nothing between characters.
fn joined(reading: &Reading<'_>, first: &Term, second: &Term) -> bool {
    if first.last.part != second.first.part || first.last.kind != second.first.kind {
        return false;
    }
    let text = reading.between(first.first, second.last);
    let gap = second.first.start.saturating_sub(first.last.end);
    match first.last.kind {
        Kind::Unspaced => gap == 0,
        Kind::Word => gap == 1 && text.split(' ').count() == 2 && !text.contains(char::is_control),
        Kind::Number => false,
    }
}
