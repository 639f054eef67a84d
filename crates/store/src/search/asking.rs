//! Words that say little about what is looked for: those that every sentence has, and those by which people ask.

/// Words without which a sentence says the same. They are not terms.
pub(super) const EMPTY: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "is", "it", "its", "me",
    "my", "of", "on", "or", "our", "she", "should", "so", "that", "the", "their", "them", "then", "there",
    "they", "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will",
    "with", "would", "you", "your", "s", "t", "m", "re", "ve", "ll", "d", "im",
];

/// Stems of words by which people ask for what was said, or say what kind of answer they want, rather than what it
/// was about.
pub(super) const ASKING: &[&str] = &[
    "about",
    "again",
    "ago",
    "agre",
    "am",
    "anoth",
    "another",
    "anything",
    "ask",
    "best",
    "better",
    "cal",
    "chat",
    "choos",
    "chosen",
    "conversat",
    "dat",
    "day",
    "decid",
    "decision",
    "discus",
    "earlier",
    "end",
    "exact",
    "exactl",
    "exactly",
    "far",
    "finally",
    "find",
    "get",
    "go",
    "hour",
    "kind",
    "last",
    "long",
    "mak",
    "many",
    "mention",
    "mor",
    "most",
    "much",
    "nam",
    "not",
    "number",
    "often",
    "old",
    "once",
    "person",
    "pick",
    "previou",
    "recommend",
    "rememb",
    "remember",
    "sa",
    "said",
    "say",
    "sent",
    "session",
    "settl",
    "some",
    "something",
    "suggest",
    "talk",
    "tell",
    "thing",
    "tim",
    "time",
    "told",
    "typ",
    "up",
    "us",
    "use",
    "wa",
    "want",
    "way",
    "went",
    "wrong",
];

/// Characters that seldom carry the meaning of a pair.
pub(super) const PARTICLES: &str = "的了吗呢吧啊么们是我你他她它这那哪什怎样在有和就都也还又把被给让跟与及或";

/// Pairs by which people ask for what was said.
pub(super) const ASKING_PAIRS: &[&str] = &[
    "之前", "上次", "以前", "当时", "后来", "最后", "记得", "说过", "聊过", "讨论", "提到", "问过", "时候",
    "什么", "怎么", "多少", "哪个", "哪里", "为什", "我们", "有没", "没有", "可以", "一下", "一个", "关于",
    "那次", "决定", "建议", "次说", "前说", "是怎", "是什", "是多", "几个", "哪些", "如何", "几点", "几天",
    "多长", "多久", "时间", "东西", "地方", "最终", "推荐", "情况", "原因",
];

/// Other Chinese words that do so; as parts of a pair they may say something.
const ASKING_WORDS: &[&str] = &[
    "谁",
    "天",
    "叫",
    "要",
    "用",
    "办",
    "弄",
    "做",
    "走",
    "去",
    "到",
    "不",
    "多",
    "几",
    "次",
    "人",
    "为什么",
];

/// Tells whether a word, by its stem, only asks.
pub(super) fn is_asking(stem: &str) -> bool {
    ASKING.contains(&stem) || ASKING_PAIRS.contains(&stem) || ASKING_WORDS.contains(&stem)
}
