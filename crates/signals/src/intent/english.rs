//! The wish to start over, in English.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::clauses::Clause;
use super::pattern::Pattern;
use super::typo::{self, Spelled};
use super::{Finding, Match, MentionKind};

/// The phrases of 003, with their inflections.
const LISTED: &str = "new chat|chats
new conversation|conversations
new topic|topics
start|starting over
fresh start
a? different subject|subjects
switch|switching the|this? topic|topics
talk|chat|speak about something|anything else
change|changing the|this|our? subject|subjects
an? unrelated question|questions";

/// Other words for the same wish.
const PARAPHRASES: &str = "start|begin|open|create|make|have|launch|do|want|need|get|spin a|the|an|another|up|me? completely|totally|entirely|whole|brand|quite? new|fresh|clean|different|separate|blank|another chat|conversation|session|thread|discussion|topic|subject|context|dialogue|dialog|slate|window|page
start|begin|starting|beginning afresh|anew|fresh|clean|again|new
start|begin|go|take|do it|this|everything|all|again|back? again? from|at the|square? scratch|zero|beginning|top|start|one
start|begin|do it|this|everything|all? all? over again
restart|reset|reboot|wipe|clear|erase|delete|clean the|this|our|your|my|whole|entire|all? chat|conversation|session|context|history|thread|memory|discussion|slate|board clean?
restart|reset everything|all
wipe the slate clean
clean|blank slate
forget|ignore|disregard|scrap|drop|discard everything|all of? that|this|it|the|above? weve|we|youve|you|ive|i|so|before|said|above? have? discussed|said|talked|far|told|just|before|above? about|you|said|before|so? far?
forget|ignore|disregard the|our|this|that|all|any? previous|earlier|last|prior|old|whole conversation|chat|messages|context|discussion|topic|instructions|history
forget what|anything|everything i|we|you have|just? said|discussed|asked|wrote|talked about|before|earlier?
change|switch|drop|leave|ditch|park|shelve the|this|that|of|our|up? topic|topics|subject|gears|conversation|tracks|discussion
change|switch of topic|topics|subject|gears|tack|scene
talk|chat|speak|discuss|move|switch|jump|go|turn|get|ask|do|try about|on|to|onto|you? to|about|over? something|anything|another|a|an completely|totally|entirely|quite|wholly? else|different|new|unrelated|topic|subject|matter entirely|completely|altogether|topic|subject|matter|thing|question|instead?
discuss|try something|anything completely|totally|entirely? else|different|new
ask|question|questions about|on|you? about? something completely|totally|entirely? else|different|new|unrelated
on|onto|to something completely|totally|entirely? else|different|new
something completely|totally|entirely|wholly|quite different|unrelated|else|new
something else entirely|completely|altogether
a|an|one|whole|quite? completely|totally|entirely|whole|brand|very|wholly|quite|another? unrelated|different|new|separate|other|fresh topic|question|subject|thing|matter|issue|theme|conversation
another topic|subject|matter entirely|completely|altogether?
next topic|subject
completely|totally|entirely unrelated
unrelated but|though?
off topic but|though|here?
on a|another completely|totally|different|separate|unrelated|another? note|subject|topic|matter
enough about|of|with|on this|that|it|the|these topic|subject|conversation?
enough of this|that topic|subject?
done|finished|through with|talking|discussing about|this|that|the this|that|topic|subject|conversation topic|subject?
move|moving|lets on from this|that|here topic|subject?
leave|put|set|park that|this|it aside|there|behind|be
a? change|switch of subject|topic
hit|press the? reset button?
take it from the top
begin|start a|the? new|another|different one
pretend this|that|we|none never|of|just|havent|didnt happened|this|met|talked|spoken|start happened?
turn the page
clean|clear the slate
tabula rasa
pretend we|this|none|i havent|havent|never|of|just not? talked|spoken|met|chatted|happened|said|this|started anything|yet|happened|never|before?
moving|move|jumping|switching|turning|going on|over|along? to something|a|another|an|the completely|totally|entirely|whole|quite|very|wholly? different|unrelated|new|else|other|next topic|subject|thing|matter|question|issue?
nothing to do with this|that|it|any|the|what of|above|we|last? this|that|it|above|were|topic? talking|discussing? about?
scratch|erase|clear|scrap|wipe|delete|ditch|bin all|everything of|weve|we|youve|so|above? this|that|it|said|discussed|far|have|the? said|discussed|talked|so? far|about? so? far?
scratch|erase|clear|scrap|wipe|delete|ditch|bin this|that|the|our whole|entire? thread|conversation|chat|session|discussion|history
back to zero|square|scratch|the|start one|beginning|start?
topic|subject change|switch|shift
on an|a|another completely|totally|entirely|quite|wholly? unrelated|different|separate|new note|topic|subject|matter
that|this topic|subject|one|chapter is closed|done|over|finished
next one|topic|subject|question
enough about *
dont want to talk|chat|speak|hear|think about * anymore
chat|talk|speak about anything|something but|besides|except *
dont|do|no not|longer? want to talk|chat|speak|discuss|hear about? this|that|it anymore|now|longer|any? more?
chat|talk|speak about anything|something but|other
sick|tired|bored of|with this|that topic|subject|conversation?
a? separate|completely|totally|entirely|wholly|quite different|separate|unrelated|new|other thing|question|topic|subject|matter|issue";

/// Polite and empty words that may stand around a wish.
const FRAMES: &str = "ok okay k so well now alright right hey hi hello please pls plz kindly can could we you i id ill im like to want wanna would let lets let's us just me need gotta gonna going shall may might actually hmm hm um uh umm anyway anyways and then maybe really sorry thanks thank a an the my this that our for here again completely totally entirely whole its it is time go ahead how about think guess rather mind if dont suppose ok fine good great cool sure yes yeah yep oh ah have got with do today instead altogether one quick quickly also simply perhaps wish hope prefer love ready lets' be from scratch over all everything everyone bit little some kind of sort on in at hereby fully at once right away immediately asap thx cheers lol haha actually literally honestly tbh imo btw by way up out guys mate dude friend bot assistant claude chatgpt gpt ai there said moment point minute sec real quick back at it as well though but try should were youre ready wondering was possible possibly";
/// Words that begin the next sentence where someone forgot the full stop.
const NEXT: [&str; 15] = [
    "but", "and", "then", "because", "cause", "since", "so", "how", "what", "whats", "why", "who", "can",
    "could", "tell",
];
/// What a new topic may be introduced with.
const ABOUT: [&str; 6] = ["about", "to", "on", "regarding", "like", "namely"];
const NEGATIONS: [&str; 20] = [
    "dont", "not", "never", "without", "wont", "cant", "cannot", "didnt", "doesnt", "wouldnt", "shouldnt",
    "avoid", "stop", "rather", "isnt", "arent", "wasnt", "neither", "nor", "no",
];
const ASKING: [&str; 16] = [
    "how", "what", "whats", "why", "does", "do", "is", "did", "should", "where", "which", "when", "are",
    "was", "who", "will",
];
/// Words that are no misspelling of any other.
const REAL_WORDS: &str = "cat hat coat chart that what char chant cheat chit chai chap cheap stars state stat smart star stare stark tart storm stand store story oven cover offer ever other lover hover offers tonic tropic optic object flesh french chance charge orange range hang walk tall task tale tank stitch swatch sandwich related conversion conservation season mission passion version lesson threat bread tread rest preset resent being began scratch sketch fork form from forms want went wait whet knew view news nee few dew hew mew sew net men near neat next text dear deal ideal title table subjective objective projects project questions questing fourth forth else's false pulse court tout about abut gout topics chose those these theme there three thing think things going doing point joint print ours hours yours tours start's starts started starter restarted restarts talked talks talking changed changes charged switched switches chats chatting chatted fresher freshman difference differently indifferent conversations conversational subjected topical topped tops";

/// The phrases, and what is known about each word of the lists.
struct Grammar {
    /// The listed phrases, then the paraphrases.
    patterns: Vec<(Pattern, Match)>,
    words: HashMap<&'static str, Known>,
    /// Words that may be meant by a misspelled one, sorted.
    vocabulary: Vec<Spelled<'static>>,
}

/// What is known about a word. One look into the lists answers everything that is asked about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    /// It may stand around a wish.
    is_frame: bool,
    /// It is no misspelling of another.
    is_real: bool,
    /// One of those that every wish has.
    is_anchor: bool,
    /// A listed phrase has it.
    is_listed: bool,
    /// The patterns that can begin with it, one bit each.
    begins: u128,
}

impl Grammar {
    fn known(&self, word: &str) -> Known {
        self.words.get(word).copied().unwrap_or_default()
    }
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let patterns = |list: &'static str, how: Match| list.lines().map(move |line| (Pattern::parse(line), how));
    let patterns: Vec<(Pattern, Match)> =
        patterns(LISTED, Match::Exact).chain(patterns(PARAPHRASES, Match::Paraphrase)).collect();
    let mut words: HashMap<&'static str, Known> = HashMap::new();
    for (at, (pattern, how)) in patterns.iter().enumerate() {
        for word in pattern.words() {
            let known = words.entry(word).or_default();
            known.is_real = true;
            known.is_listed |= *how == Match::Exact;
        }
        for word in pattern.beginnings() {
            words.entry(word).or_default().begins |= 1 << at;
        }
    }
    for word in ANCHORS.split(' ') {
        words.entry(word).or_default().is_anchor = true;
    }
    for word in FRAMES.split(' ') {
        words.entry(word).or_default().is_frame = true;
    }
    for word in REAL_WORDS.split(' ').chain(NEXT).chain(NEGATIONS).chain(ASKING) {
        words.entry(word).or_default().is_real = true;
    }
    let mut vocabulary: Vec<&str> =
        words.iter().filter(|(_, known)| known.is_listed).map(|(word, _)| *word).collect();
    vocabulary.sort_unstable();
    Grammar { patterns, words, vocabulary: vocabulary.into_iter().map(Spelled::new).collect() }
});

/// Words without apostrophes, so that "let's" and "lets" are one.
fn words(text: &str) -> Vec<Cow<'_, str>> {
    text.split(|ch: char| !(ch.is_alphanumeric() || ch == '\'' || ch == '\u{fffc}'))
        .map(|word| match word.contains('\'') {
            true => Cow::Owned(word.replace('\'', "")),
            false => Cow::Borrowed(word),
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// More words than this are no clause but a text without punctuation.
const WORDS_MAX: usize = 40;

/// One of these is in every wish; most clauses have none and need no closer look.
const ANCHORS: &str = "afresh again anew another anything back begin beginning blank change chat chats clean clear context conversation conversations different discuss else enough erase everything forget fresh gears ignore new next nothing off over page pretend question questions reset restart scrap scratch separate session slate something start starting subject subjects switch talk thread topic topics unrelated wipe aside behind zero done finished rasa restarting reboot sick tired bored";
/// In a longer clause a misspelled phrase would not stand alone anyway.
const TYPO_WORDS_MAX: usize = 10;

pub(super) fn judge(clause: &Clause<'_>) -> Finding {
    let words = words(clause.text);
    if words.is_empty() || words.len() > WORDS_MAX {
        return Finding::Nothing;
    }
    let plain: Vec<&str> = words.iter().map(Cow::as_ref).collect();
    let known: Vec<Known> = plain.iter().map(|word| GRAMMAR.known(word)).collect();
    if known.iter().any(|known| known.is_anchor) {
        let exact = find(&plain, &known, clause);
        if exact != Finding::Nothing {
            return exact;
        }
    }
    if plain.len() > TYPO_WORDS_MAX {
        return Finding::Nothing;
    }
    let Some((corrected, distance)) = correct(&plain, &known) else { return Finding::Nothing };
    let fixed: Vec<&str> = corrected.iter().map(AsRef::as_ref).collect();
    let known: Vec<Known> = fixed.iter().map(|word| GRAMMAR.known(word)).collect();
    match find(&fixed, &known, clause) {
        Finding::Wish { phrase, .. } => Finding::Wish { phrase, how: Match::Typo { distance } },
        Finding::Mention(_) | Finding::Nothing => Finding::Nothing,
    }
}

/// How many words of a clause are neither part of the phrase nor merely polite.
pub(super) fn left_over(clause: &Clause<'_>, phrase: &str) -> usize {
    let counts = |word: &&Cow<'_, str>| {
        !GRAMMAR.known(word).is_frame && !phrase.split(' ').any(|part| part == word.as_ref())
    };
    words(clause.text).iter().filter(counts).count()
}

fn find(words: &[&str], known: &[Known], clause: &Clause<'_>) -> Finding {
    let mut mention = Finding::Nothing;
    // Only patterns that can begin with one of the words are tried, in their order.
    let mut begun = known.iter().fold(0, |all, known| all | known.begins);
    while begun != 0 {
        let at = begun.trailing_zeros() as usize;
        begun &= begun - 1;
        let (pattern, how) = &GRAMMAR.patterns[at];
        for (from, _) in known.iter().enumerate().filter(|(_, known)| known.begins & (1 << at) != 0) {
            let Some(count) = pattern.matches(&words[from..]).filter(|&count| count > 0) else {
                continue;
            };
            match around(&words[..from], &words[from + count..], clause) {
                None => {
                    let phrase = words[from..from + count].join(" ");
                    return Finding::Wish { phrase, how: *how };
                }
                // Only the listed phrases are worth reporting as mentions.
                Some(kind) if *how == Match::Exact => mention = Finding::Mention(kind),
                Some(_) => {}
            }
        }
    }
    mention
}

/// What the words around a phrase make of it; nothing if they leave it a wish.
fn around(left: &[&str], right: &[&str], clause: &Clause<'_>) -> Option<MentionKind> {
    let left = match left {
        ["why", "dont", "we" | "you", rest @ ..] | ["why", "not", rest @ ..] => rest,
        ["if", "you" | "its" | "thats", "dont" | "ok" | "okay" | "alright" | "fine", "mind", rest @ ..] => {
            rest
        }
        ["what", "if", "we", rest @ ..] => rest,
        _ => left,
    };
    let frame = |word: &&str| GRAMMAR.known(word).is_frame;
    let denied = left.iter().enumerate().any(|(at, word)| {
        let mind = *word == "dont" && left.get(at + 1).is_some_and(|next| *next == "mind");
        // "I'd rather start over" wants it; "rather than start over" does not.
        let rather = *word == "rather" && left.get(at + 1).is_none_or(|next| *next != "than");
        NEGATIONS.contains(word) && !mind && !rather
    });
    if denied {
        return Some(MentionKind::Negated);
    }
    if clause.conditional && !left.starts_with(&["if", "you", "dont", "mind"]) {
        return Some(MentionKind::Inside);
    }
    if tells(left) {
        return Some(MentionKind::Inside);
    }
    let right_frames = right.iter().take_while(|word| frame(word)).count();
    let rest = &right[right_frames..];
    let continues = matches!(right, ["with", "a", "clean" | "fresh" | "new" | "blank" | "empty", ..] if right.len() <= 5)
        || right.first().is_some_and(|word| ABOUT.contains(word) && right.len() > 1)
        || rest.first().is_some_and(|word| NEXT.contains(word) && !rest.contains(&"over"))
        || right.first().is_some_and(|word| NEXT.contains(word) && right.get(1) != Some(&"over"));
    if left.iter().all(frame) && (rest.is_empty() || continues) {
        // "it is a fresh start" tells; "is it a new chat?" asks.
        let asks = clause.asks && left.first().is_some_and(|word| ASKING.contains(word));
        return asks.then_some(MentionKind::Question);
    }
    let asking = clause.asks || left.first().is_some_and(|word| ASKING.contains(word));
    Some(if asking { MentionKind::Question } else { MentionKind::Inside })
}

/// "I change the subject" tells what someone does; "can I change the subject" asks for it.
fn tells(left: &[&str]) -> bool {
    const WISHING: [&str; 17] = [
        "can", "could", "may", "might", "shall", "let", "lets", "if", "about", "should", "not", "dont",
        "would", "will", "must", "do", "then",
    ];
    let Some((subject, before)) = left.split_last() else { return false };
    matches!(*subject, "i" | "we" | "you" | "they" | "it")
        && !before.iter().any(|word| WISHING.contains(word))
}

/// Puts listed words in the place of misspelled ones; at most two letters in all.
fn correct<'a>(words: &[&'a str], known: &[Known]) -> Option<(Vec<Cow<'a, str>>, u8)> {
    let mut left = 2;
    let mut total = 0;
    let mut out = Vec::with_capacity(words.len());
    for (word, known) in words.iter().zip(known) {
        let fixed = if known.is_frame || known.is_real { None } else { nearest(word, left) };
        match fixed {
            Some((meant, distance)) => {
                left -= distance;
                total += distance;
                out.extend(meant.into_iter().map(Cow::Owned));
            }
            None => out.push(Cow::Borrowed(*word)),
        }
    }
    (total > 0).then_some((out, total as u8))
}

/// Two words of a phrase that were written as one have so many letters each.
const PART_LETTERS_MIN: usize = 3;

fn nearest(word: &str, left: usize) -> Option<(Vec<String>, usize)> {
    let grammar = &*GRAMMAR;
    if left == 0 || !word.is_ascii() {
        return None;
    }
    let spelled = Spelled::new(word);
    // A missing space: "newchat".
    let parts =
        grammar.vocabulary.iter().filter(|first| spelled.has_letters_of(**first)).filter_map(|first| {
            let rest = word.strip_prefix(first.word)?;
            let is_long = first.word.len() >= PART_LETTERS_MIN && rest.len() >= PART_LETTERS_MIN;
            (is_long && grammar.known(rest).is_listed).then_some((first.word, rest))
        });
    if let Some((first, second)) = parts.min_by_key(|(first, _)| first.len()) {
        return Some((vec![first.to_owned(), second.to_owned()], 1));
    }
    if ["nwe", "enw", "nw", "neww", "nww"].contains(&word) {
        return Some((vec!["new".to_owned()], 1));
    }
    let near = |meant: Spelled<'_>| {
        let limit = match meant.word.len() {
            0..=3 => 0,
            4..=6 => 1,
            letters => typo::allowed(letters + 4),
        };
        typo::distance(spelled, meant, limit.min(left))
    };
    grammar
        .vocabulary
        .iter()
        .filter_map(|meant| near(*meant).map(|distance| (distance, meant.word)))
        .min()
        .map(|(distance, meant)| (vec![meant.to_owned()], distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tries every pattern at every word.
    fn find_slowly(words: &[&str], clause: &Clause<'_>) -> Finding {
        let mut mention = Finding::Nothing;
        for (pattern, how) in &GRAMMAR.patterns {
            for from in 0..words.len() {
                let Some(count) = pattern.matches(&words[from..]).filter(|&count| count > 0) else {
                    continue;
                };
                match around(&words[..from], &words[from + count..], clause) {
                    None => {
                        return Finding::Wish { phrase: words[from..from + count].join(" "), how: *how };
                    }
                    Some(kind) if *how == Match::Exact => mention = Finding::Mention(kind),
                    Some(_) => {}
                }
            }
        }
        mention
    }

    #[test]
    fn every_pattern_has_its_bit() {
        assert!(GRAMMAR.patterns.len() <= 128);
        for (pattern, _) in &GRAMMAR.patterns {
            assert!(pattern.beginnings().all(|word| word != "*"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn r3_the_short_way_finds_what_the_long_way_finds(
            picked in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
            asks in any::<bool>(),
            conditional in any::<bool>(),
        ) {
            // Words that stand side by side in a pattern, so that something is found often enough.
            let mut words = Vec::new();
            for (pattern, word) in picked {
                let (pattern, _) = pattern.get(&GRAMMAR.patterns);
                let all: Vec<&str> = pattern.words().collect();
                let at = word.index(all.len());
                words.push(all[at]);
                words.extend(all.get(at + 1));
            }
            let text = words.join(" ");
            let clause = Clause { text: &text, asks, conditional, alone: true };
            let known: Vec<Known> = words.iter().map(|word| GRAMMAR.known(word)).collect();
            prop_assert_eq!(find(&words, &known, &clause), find_slowly(&words, &clause));
        }
    }
}
