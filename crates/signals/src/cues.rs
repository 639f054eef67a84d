//! Cues: small closed lists of words that say what a message does rather than what it is about.
//!
//! The learned part could find them by itself in the sets it was fitted on. Written down they also
//! hold for texts that look like none of them.

use std::sync::LazyLock;

use crate::hash::WordHash;
use crate::text::{Reading, Token, Window, fold};

/// What a word or phrase does in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cue {
    Greeting,
    AnnouncedDeletion,
    Thanks,
    Closing,
    OfferMore,
    Agree,
    Disagree,
    Anaphora,
    Continue,
    Request,
    Question,
    Switch,
    Refer,
    Done,
}

impl Cue {
    pub(crate) const COUNT: usize = 14;
    const PHRASES: [(Self, &'static str); Self::COUNT] = [
        (
            Self::Greeting,
            "hi|hello|hey|good morning|good afternoon|good evening|greetings|你好|您好|哈喽|嗨|在吗|早上好|晚上好|下午好|亲",
        ),
        (
            Self::AnnouncedDeletion,
            "bye|goodbye|good bye|have a great|have a nice|have a good|have a wonderful|enjoy your|take care|see you|good night|good luck|再见|拜拜|祝您|祝你|玩得开心|玩的开心|旅途愉快|晚安|回头聊|下次聊",
        ),
        (Self::Thanks, "thank|thanks|thank you|thx|appreciate|grateful|谢谢|感谢|多谢|谢啦|麻烦你了|辛苦"),
        (
            Self::Closing,
            "that is all|thats all|that's it|nothing else|no more|all i need|all set|nothing more|im done|i am done|no thats|没有其他|没有其它|没有了|没了|就这些|没别的|没什么了|不用了|没问题了|没有问题了",
        ),
        (
            Self::OfferMore,
            "anything else|something else|any other|else i can|else can i|further assistance|more help|help you with|assist you|还有什么|还需要|其他需要|别的需要|其他问题|可以帮您|可以帮到|不客气|不用客气|youre welcome|welcome",
        ),
        (
            Self::Agree,
            "yes|yeah|yep|yup|ok|okay|sure|right|correct|great|good|perfect|fine|sounds|agreed|exactly|indeed|cool|awesome|nice|alright|好的|好|嗯|行|可以|是的|对|没错|当然|哦|啊|收到|明白|知道了|好吧|好呀|好啊|太好了|是呀|是啊|哈哈",
        ),
        (Self::Disagree, "no|nope|not|dont|wrong|incorrect|never|不|不是|不对|不要|错|没有|算了"),
        (
            Self::Anaphora,
            "it|its|that|this|they|them|their|those|these|there|one|ones|he|she|him|her|his|same|such|here|both|first|second|former|latter|它|他|她|它们|他们|这|那|这个|那个|这家|那家|这里|那里|该|其中|此|这些|那些|上述|前者|后者|该片|这部|哪部",
        ),
        (
            Self::Continue,
            "also|and|then|another|other|else|more|instead|again|too|what about|how about|but|so|because|still|besides|plus|additionally|next|further|now|还|也|再|另外|其他|别的|还有|那么|那|所以|但是|不过|而且|接着|接下来|然后|顺便|继续|又|就",
        ),
        (
            Self::Request,
            "i want|i need|id like|i would like|can you|could you|would you|will you|help me|find me|looking for|please|show me|tell me|give me|i am looking|im looking|search for|let me|lets|write|create|make|book|我想|我要|帮我|请|推荐|给我|麻烦|告诉我|帮忙|想找|能不能|可以帮|写一|我打算|我准备|需要",
        ),
        (
            Self::Question,
            "what|who|where|when|why|how|which|whats|is|are|do|does|did|can|could|would|should|will|什么|怎么|哪|吗|呢|多少|几|谁|为什么|如何|是否|怎样|哪里|哪个|知道|听说过|听过|了解",
        ),
        (
            Self::Switch,
            "by the way|unrelated|switch|different|change the subject|change of topic|on another note|anyway|moving on|speaking of|something different|off topic|new topic|对了|换个|话说|另一个|换一|不说这个|新的|说到|题外话",
        ),
        (
            Self::Refer,
            "your|you said|you mentioned|previous|above|earlier|rewrite|shorter|simplify|rephrase|summarize|condense|elaborate|explain|clarify|expand|your answer|your response|adjust|modify|change|revise|convert|translate|last|刚才|上面|刚刚|之前|你说的|你刚|上一|改成|修改|简短|解释|总结|翻译|详细",
        ),
        (
            Self::Done,
            "confirmed|booked|reserved|scheduled|successful|success|completed|complete|has been|have been|is set|done|finished|added|sent|playing|purchased|成功|完成|预订好|已经|好了|搞定|车牌|祝",
        ),
    ];

    /// Says yes, no, hello or thanks: what is said about any topic.
    const EMPTY: [Self; 6] =
        [Self::Greeting, Self::AnnouncedDeletion, Self::Thanks, Self::Closing, Self::Agree, Self::Disagree];

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of cues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CueSet(u32);

impl CueSet {
    pub(crate) fn has(self, cue: Cue) -> bool {
        self.0 & cue.bit() != 0
    }

    /// One number for each cue, in a fixed order.
    pub(crate) fn numbers(self) -> impl Iterator<Item = f32> {
        (0..Cue::COUNT).map(move |at| ((self.0 >> at) & 1) as f32)
    }
}

/// The cues of one message: anywhere, and among its first words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cues {
    pub(crate) anywhere: CueSet,
    pub(crate) opening: CueSet,
}

/// A question mark among the last characters, also before a closing quote or an emoji.
pub(crate) fn ends_with_question(text: &str) -> bool {
    text.chars().rev().take(4).any(|ch| fold(ch) == '?')
}

/// Words in the opening of a message.
const OPENING_TOKENS: usize = 3;
const PHRASE_TOKENS_MAX: usize = 4;
/// Size of the first filter, in bits; a power of two well above the number of phrases.
const FILTER_BITS: usize = 8_192;

/// The table of all phrases.
pub(crate) static CUES: LazyLock<CueTable> = LazyLock::new(CueTable::new);

/// All phrases by hash, ready for looking up.
#[derive(Clone, Debug)]
pub(crate) struct CueTable {
    phrases: Vec<(WordHash, Cue)>,
    /// Most words are no cue: one bit rules them out without a search.
    filter: Vec<u64>,
}

impl CueTable {
    fn new() -> Self {
        let mut phrases = Vec::new();
        for (cue, list) in Cue::PHRASES {
            for phrase in list.split('|') {
                let tokens = Reading::new(phrase, Window::MESSAGE).tokens;
                if let Some(hash) = tokens.iter().map(|token| token.hash).reduce(WordHash::then) {
                    phrases.push((hash, cue));
                }
            }
        }
        phrases.sort_by_key(|&(hash, cue)| (hash, cue as u32));
        let mut filter = vec![0_u64; FILTER_BITS / 64];
        for (hash, _) in &phrases {
            let bit = hash.0 as usize % FILTER_BITS;
            filter[bit / 64] |= 1 << (bit % 64);
        }
        Self { phrases, filter }
    }

    fn find(&self, hash: WordHash, found: &mut u32) {
        let bit = hash.0 as usize % FILTER_BITS;
        if self.filter[bit / 64] & (1 << (bit % 64)) == 0 {
            return;
        }
        let from = self.phrases.partition_point(|&(other, _)| other < hash);
        let same = self.phrases[from..].iter().take_while(|&&(other, _)| other == hash);
        *found |= same.fold(0, |bits, (_, cue)| bits | cue.bit());
    }

    /// Whether a message says no more than yes, no, hello or thanks.
    pub(crate) fn says_nothing(&self, tokens: &[Token]) -> bool {
        let empty = Cue::EMPTY.iter().fold(0, |bits, cue| bits | cue.bit());
        let is_empty = |hash: WordHash| {
            let mut found = 0;
            self.find(hash, &mut found);
            found & empty != 0
        };
        let mut at = 0;
        while at < tokens.len() {
            // The longest phrase of the lists that begins here.
            let mut phrase = None;
            let mut taken = 0;
            for (count, token) in tokens[at..].iter().take(PHRASE_TOKENS_MAX).enumerate() {
                let joined = phrase.map_or(token.hash, |start: WordHash| start.then(token.hash));
                if is_empty(joined) {
                    taken = count + 1;
                }
                phrase = Some(joined);
            }
            if taken == 0 {
                return false;
            }
            at += taken;
        }
        true
    }

    pub(crate) fn cues(&self, tokens: &[Token]) -> Cues {
        let (mut anywhere, mut opening) = (0, 0);
        for at in 0..tokens.len() {
            let mut found = 0;
            let mut phrase = None;
            for token in tokens[at..].iter().take(PHRASE_TOKENS_MAX) {
                let joined = phrase.map_or(token.hash, |start: WordHash| start.then(token.hash));
                self.find(joined, &mut found);
                phrase = Some(joined);
            }
            anywhere |= found;
            if at < OPENING_TOKENS {
                opening |= found;
            }
        }
        Cues { anywhere: CueSet(anywhere), opening: CueSet(opening) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cues(text: &str) -> Cues {
        CueTable::new().cues(&Reading::new(text, Window::MESSAGE).tokens)
    }

    #[test]
    fn phrases_are_found_in_both_languages() {
        assert!(cues("Thanks, that's all I need.").anywhere.has(Cue::Closing));
        assert!(cues("谢谢，没有其他问题了").anywhere.has(Cue::Closing));
        assert!(cues("你好，我想订酒店").opening.has(Cue::Greeting));
        assert_eq!(cues(""), Cues::default());
    }

    #[test]
    fn a_yes_says_nothing_about_a_topic() {
        let says_nothing = |text| CueTable::new().says_nothing(&Reading::new(text, Window::MESSAGE).tokens);
        assert!(says_nothing("ok, thanks!") && says_nothing("好的，谢谢") && says_nothing(""));
        assert!(!says_nothing("ok, the parser") && !says_nothing("好的酒店在哪"));
    }
}
