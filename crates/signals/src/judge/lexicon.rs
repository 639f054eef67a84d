//! Words by which a message leans on what stands before it, or stands alone.

use std::sync::LazyLock;

use crate::hash::WordHash;
use crate::text::{Reading, Token, Window};

/// What a word or phrase does at its place in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Says yes, thanks or hello before the message proper.
    Filler,
    /// Goes on from what was said: "and", "what about", 那, 还有.
    Link,
    /// Stands for something that was named before: "it", "they", 这个.
    Pronoun,
    /// Opens a request of its own: "can you", "how do I", 帮我, 请问.
    Fresh,
    /// Ends a conversation: "thanks", "that's all", 好了, 谢谢.
    Closing,
    /// Asks: "what", "is", 怎么, 吗.
    Asking,
    /// Grammar, which two messages share whatever they are about.
    Grammar,
}

const PHRASES: [(Mark, &str); 7] = [
    (
        Mark::Filler,
        "ok|okay|k|yes|yeah|yep|yup|sure|right|great|good|perfect|fine|cool|awesome|nice|alright|no|nope|hmm|hm|ah|oh|haha|lol|thanks|thank you|thx|ty|cheers|hi|hello|hey|well|um|uh|wow|ugh|true|got it|i see|makes sense|interesting|morning|good morning|evening|good evening|lovely|wonderful|excellent|\
好的|好|嗯|嗯嗯|行|行吧|可以|是的|对|没错|哦|噢|啊|收到|明白|明白了|知道了|懂了|好吧|好呀|好啊|好了|谢谢|谢了|多谢|哈哈|哈哈哈|你好|您好|早|早上好|晚上好|嗨|哎|唉|哇|呃|额|原来如此|这样啊|不|不是|不对|不用|不行",
    ),
    (
        Mark::Link,
        "and|or|but|so|also|then|because|still|plus|instead|too|what about|how about|what if|why not|how come|how so|which one|which ones|same|again|another one|more|less|with|without|not|even|only|just|next|now|done|worked|works|fixed|tried|did|went|installed|sent|got|gone|changed|added|found|made|used|wait|actually|except|maybe|though|shorter|longer|make it|add|change it|translate it|rewrite|or maybe|in that case|\
那|那么|更多|还有|还|也|再|所以|但是|但|可是|不过|而且|然后|接着|继续|又|就|要是|万一|除了|或者|要不|改成|换成|翻成|译成|写成|加上|去掉|删掉|只|都|已经|试了|试过|装了|改了|换了|加了|还是|比如|其中|太|有点|没|结果|到了|出来|短一点|长一点|不要|不能|不用",
    ),
    (
        Mark::Pronoun,
        "it|its|that|thats|this|they|them|their|theyre|those|these|there|he|she|hes|shes|him|her|his|such|the one|the first|the second|the other|that one|this one|\
它|他|她|它们|他们|她们|这|那个|这个|这种|那种|这样|那样|这些|那些|这里|那里|这边|那边|这么|上面|刚才|刚刚|前面",
    ),
    (
        Mark::Fresh,
        "can you|could you|would you|how do i|how can i|how do you|how to|how does|how do|what is|whats|what are|what does|whats the|what is the|is it|help me|i need|i want|id like|i would like|im looking|looking for|please|write|draft|explain|translate|suggest|recommend|give me|tell me|find|compare|plan|proofread|summarise|summarize|create|best|any|whats a|what is a|do you know|have you|who was|who is|when did|when was|why do|why does|why is|why are|which is|\
帮我|帮忙|请|请问|请帮|麻烦|写个|写一|写篇|给我|推荐|想|想要|想问|想买|想去|想给|我想|我要|怎么|如何|问下|问一下|问个|有个|你能|能不能帮|能帮我|解释|翻译|求|求推荐|什么是|咨询",
    ),
    (
        Mark::Asking,
        "what|whats|who|whos|which|why|how|hows|when|where|can|could|do|does|did|is|are|should|will|would|any|has|have|\
怎么|咋|什么|啥|为什么|为啥|多少|多久|几|哪|谁|吗|如何|怎样|能不能|是不是|会不会|有没有|要不要|行不|哪个|么",
    ),
    (
        Mark::Closing,
        "thanks|thank you|thx|cheers|bye|goodbye|good night|thats all|that is all|all set|perfect|great|solved|fixed|it works|works now|worked|sent|done|sorted|will do|got it|gone|nothing else|no thanks|booked|ordered|bought|saved|\
谢谢|谢了|谢啦|感谢|多谢|再见|拜拜|晚安|没有了|没了|就这些|好的|好了|搞定|解决了|可以了|成功了|明白了|懂了|知道了|收到|下单了|订了|买了|发了|存了|就这样|就它了|行了|够了|涨知识|好使|好用",
    ),
    (
        Mark::Grammar,
        "a|an|the|i|im|id|ive|ill|me|my|we|our|us|you|your|it|its|that|thats|this|they|them|their|there|those|these|one|he|she|him|her|his|is|are|was|were|be|been|am|do|does|did|dont|doesnt|didnt|done|have|has|had|can|cant|could|would|should|will|wont|may|might|must|and|or|but|so|if|then|than|because|as|of|to|in|on|at|by|for|from|with|without|about|into|over|out|up|down|off|not|no|yes|ok|what|which|who|when|where|why|how|also|too|just|only|even|still|any|some|all|each|every|more|most|much|many|very|really|now|again|here|get|got|go|going|make|made|use|want|need|like|know|say|says|said|tell|please|thanks|good|right|way|thing|something|anything|other|another|same|new|first|last|next|after|before|whats|isnt|arent|lets|let|yeah|sure|two|three|time|day|put|take|give|try|keep|come|see|look|think|mean|work|works|help|\
的|了|是|我|你|他|她|它|们|不|有|在|和|就|都|也|还|要|会|能|吗|呢|吧|啊|呀|这|那|个|一|什|么|怎|哪|几|多|少|很|太|可|以|没|到|说|对|好|把|被|给|用|去|来|上|下|里|想|让|跟|与|或|但|而|如|果|为|啥|谁|时|候|后|前|着|过|得|地|些|点|样|再|又|最|更|已|从|吃|做|行|只|才|自|己|大|小|看|出|起|两|三|二|今|天|年|月|日|号|该|当|之|于|所|其|请|问|嗯|哦|哈|咋|别|等|中|间|先|现|道|知|感|觉|直|接|般|定|种|应|写|改|加",
    ),
];

const PHRASE_TOKENS_MAX: usize = 5;

/// Size of the filter, in bits; a power of two well above the number of phrases.
const FILTER_BITS: usize = 16_384;

/// All phrases by hash.
pub(super) struct Lexicon {
    phrases: Vec<(WordHash, u32)>,
    /// Most words are no phrase: one bit rules them out without a search.
    filter: Vec<u64>,
}

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

/// Tells whether a word is grammar, which two messages share whatever they are about.
pub(crate) fn is_grammar(word: WordHash) -> bool {
    LEXICON.find(word).has(Mark::Grammar)
}

/// A set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u32);

impl Marks {
    pub(super) fn has(self, mark: Mark) -> bool {
        self.0 & (1 << mark as u32) != 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Lexicon {
    fn new() -> Self {
        let mut all: Vec<(WordHash, u32)> = Vec::new();
        for (mark, list) in PHRASES {
            for phrase in list.split('|') {
                let tokens = Reading::new(phrase, Window::MESSAGE).tokens;
                if let Some(hash) = tokens.iter().map(|token| token.hash).reduce(WordHash::then) {
                    all.push((hash, 1 << mark as u32));
                }
            }
        }
        all.sort_unstable();
        let mut merged: Vec<(WordHash, u32)> = Vec::with_capacity(all.len());
        for (hash, bits) in all {
            match merged.last_mut() {
                Some(last) if last.0 == hash => last.1 |= bits,
                _ => merged.push((hash, bits)),
            }
        }
        let mut filter = vec![0_u64; FILTER_BITS / 64];
        for (hash, _) in &merged {
            let bit = hash.0 as usize % FILTER_BITS;
            filter[bit / 64] |= 1 << (bit % 64);
        }
        Self { phrases: merged, filter }
    }

    pub(super) fn find(&self, hash: WordHash) -> Marks {
        let bit = hash.0 as usize % FILTER_BITS;
        if self.filter[bit / 64] & (1 << (bit % 64)) == 0 {
            return Marks::default();
        }
        let at = self.phrases.binary_search_by_key(&hash, |&(other, _)| other);
        at.map_or(Marks::default(), |at| Marks(self.phrases[at].1))
    }

    /// The marks of all phrases that begin with the first token, and how many tokens the longest filler takes.
    pub(super) fn begin(&self, tokens: &[Token]) -> (Marks, usize) {
        let (mut marks, mut filler) = (Marks::default(), 0);
        let mut phrase: Option<WordHash> = None;
        for (at, token) in tokens.iter().take(PHRASE_TOKENS_MAX).enumerate() {
            let joined = phrase.map_or(token.hash, |start| start.then(token.hash));
            let found = self.find(joined);
            if found.has(Mark::Filler) {
                filler = at + 1;
            }
            marks = marks.and(found);
            phrase = Some(joined);
        }
        (marks, filler)
    }

    /// The marks of all phrases anywhere.
    pub(super) fn anywhere(&self, tokens: &[Token]) -> Marks {
        (0..tokens.len()).fold(Marks::default(), |marks, at| marks.and(self.begin(&tokens[at..]).0))
    }
}
