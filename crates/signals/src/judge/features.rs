//! The numbers that the models see: of the message, of the talk before it, and of the two together.
//!
//! Never the clock, nor how long the session is: the conversations that the models are fitted on were put together.

use segue_encoder::DIMENSIONS;

use super::embedder::Embedder;
use super::lexicon::Mark;
use super::note::Note;
use super::words::shared;
use crate::code::Code;
use crate::hash::WordHash;
use crate::intent;
use crate::remark::Remark;
use crate::role::Role;

/// How many of the last messages are looked back at.
const REACH: usize = 8;
/// How much of what was said before counts in the means, message by message.
const DECAY: f32 = 0.6;

const MARKS: [Mark; 6] = [Mark::Filler, Mark::Link, Mark::Pronoun, Mark::Fresh, Mark::Closing, Mark::Asking];

/// The message, and the talk before it.
pub(super) struct Pair<'a> {
    pub(super) message: &'a Remark,
    users: Vec<&'a Remark>,
    all: Vec<&'a Remark>,
    /// The person's last message.
    user: &'a Remark,
    /// The assistant's answer to it, if that is the last message.
    pub(super) reply: Option<&'a Remark>,
}

impl<'a> Pair<'a> {
    /// Nothing if the person said nothing before, or only that something else shall begin.
    pub(super) fn of(recent: &'a [Remark], message: &'a Remark) -> Option<Self> {
        let spoken = recent.iter().filter(|remark| matches!(remark.role, Role::User | Role::Assistant));
        let all: Vec<&Remark> = spoken.collect();
        let all = all[all.len().saturating_sub(REACH)..].to_vec();
        let users: Vec<&Remark> = all.iter().copied().filter(|remark| remark.role == Role::User).collect();
        let user = users.last().copied().filter(|user| users.len() > 1 || !is_bare_wish(user))?;
        let reply = all.last().copied().filter(|last| last.role == Role::Assistant);
        Some(Self { message, users, all, user, reply })
    }

    /// What words, cues and shape say.
    pub(super) fn words(&self) -> Vec<f32> {
        let mut out = Vec::with_capacity(160);
        let (mine, user) = (&self.message.note, &self.user.note);
        let reply = self.reply.map(|reply| &reply.note);
        alone(&mut out, mine);
        out.extend(mine.opening.numbers());
        self.together(&mut out, mine);
        // The person's last message.
        out.extend([
            user.size.ln_1p(),
            mine.size.ln_1p() - user.size.ln_1p(),
            flag(user.question),
            flag(user.asks),
            flag(user.colon),
            flag(user.material),
            flag(user.closes),
            flag(user.says_nothing),
            code(user),
            user.signs,
            user.lines.ln_1p(),
            flag(mine.capital == user.capital),
            flag(mine.stop == user.stop),
            flag(mine.question == user.question),
            flag(mine.listed == user.listed),
            (code(mine) - code(user)).abs(),
            script(mine, user),
        ]);
        out.extend(user.anywhere.numbers());
        // The answer to it.
        out.push(flag(reply.is_none()));
        out.push(reply.map_or(0.0, |reply| reply.size.ln_1p()));
        out.push(reply.map_or(0.0, |reply| flag(reply.leaves_open)));
        out.push(reply.map_or(0.0, |reply| flag(reply.asks)));
        out.push(reply.map_or(0.0, |reply| flag(reply.colon)));
        out.push(reply.map_or(0.0, code));
        out.push(reply.map_or(0.0, |reply| script(mine, reply)));
        match reply {
            Some(reply) => out.extend(reply.anywhere.numbers()),
            None => out.extend(crate::cues::CueSet::default().numbers()),
        }
        out
    }

    /// Words that the message shares with others.
    fn together(&self, out: &mut Vec<f32>, mine: &Note) {
        let (user, reply) = (&self.user.note, self.reply.map(|reply| &reply.note));
        let union = |words: fn(&Note) -> &[WordHash]| {
            let mut all: Vec<WordHash> =
                self.all.iter().flat_map(|other| words(&other.note)).copied().collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let (words, names) = (union(|note| &note.words), union(|note| &note.names));
        let count = mine.words.len() as f32;
        let share = |number: usize| number as f32 / count.max(1.0);
        let [by_user, by_reply, by_all] = [
            shared(&mine.words, &user.words),
            reply.map_or(0, |reply| shared(&mine.words, &reply.words)),
            shared(&mine.words, &words),
        ];
        let names_shared = shared(&mine.names, &names);
        out.extend([
            by_user.min(6) as f32,
            by_reply.min(6) as f32,
            by_all.min(8) as f32,
            share(by_user),
            share(by_reply),
            share(by_all),
            (count - by_all as f32).ln_1p(),
            flag(by_all == 0 && mine.content >= 3.0),
            shared(&mine.names, &user.names).min(4) as f32,
            names_shared.min(4) as f32,
            (mine.names.len() - names_shared).min(6) as f32,
            flag(mine.first.is_some() && mine.first == user.first),
            flag(mine.first.is_some() && self.users.iter().any(|user| user.note.first == mine.first)),
        ]);
    }

    /// What the embeddings say: how near the message is to what was said, and how near that is to itself.
    pub(super) fn nearness(&self, meanings: &Meanings) -> Vec<f32> {
        let Meanings { message, users, all, user, reply, mean_users, mean_all } = meanings;
        let to_user = dot(message, user);
        let to_reply = reply.as_ref().map(|reply| dot(message, reply));
        let last: Vec<f32> = users.iter().rev().take(3).map(|user| dot(message, user)).collect();
        let highest = |of: &[f32]| of.iter().copied().fold(-1.0, f32::max);
        let all: Vec<f32> = all.iter().map(|other| dot(message, other)).collect();
        vec![
            to_user,
            to_reply.unwrap_or(to_user),
            dot(message, mean_users),
            dot(message, mean_all),
            highest(&all),
            highest(&last),
            last.iter().sum::<f32>() / last.len().max(1) as f32,
            reply.as_ref().map_or(0.5, |reply| dot(user, reply)),
            dot(user, mean_users),
            dot(user, mean_all),
            to_user.max(to_reply.unwrap_or(-1.0)),
        ]
    }
}

/// A longer message says more than that something else shall begin.
const BARE_WISH_WORDS_MAX: f32 = 16.0;

fn is_bare_wish(remark: &Remark) -> bool {
    remark.note.size <= BARE_WISH_WORDS_MAX && intent::is_bare_wish(&remark.text)
}

/// The message alone.
fn alone(out: &mut Vec<f32>, note: &Note) {
    out.extend([
        note.size.ln_1p(),
        note.content.ln_1p(),
        note.numbers.ln_1p(),
        note.sentences,
        note.lines.ln_1p(),
        note.signs,
        note.script.unwrap_or(0.0),
        (note.names.len() as f32).ln_1p(),
        flag(note.filler),
        flag(note.capital),
        flag(note.stop),
        flag(note.colon),
        flag(note.question),
        flag(note.asks),
        flag(note.material),
        flag(note.listed),
        code(note),
        flag(note.says_nothing),
        flag(note.closes),
    ]);
    out.extend(MARKS.map(|mark| flag(note.marks.has(mark))));
    out.extend(MARKS.map(|mark| flag(note.early.has(mark))));
    out.extend(MARKS.map(|mark| flag(note.all_marks.has(mark))));
    out.extend(note.anywhere.numbers());
}

fn flag(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

fn code(note: &Note) -> f32 {
    match note.code {
        Code::Absent => 0.0,
        Code::Some => 1.0,
        Code::Block => 2.0,
    }
}

/// How far apart two messages are in their scripts.
fn script(mine: &Note, other: &Note) -> f32 {
    mine.script.zip(other.script).map_or(0.0, |(mine, other)| (mine - other).abs())
}

/// A direction.
pub(super) type Meaning = [f32; DIMENSIONS];

/// Where the message and what was said before it lie.
pub(super) struct Meanings {
    pub(super) message: Meaning,
    users: Vec<Meaning>,
    all: Vec<Meaning>,
    pub(super) user: Meaning,
    pub(super) reply: Option<Meaning>,
    pub(super) mean_users: Meaning,
    pub(super) mean_all: Meaning,
}

impl Meanings {
    pub(super) fn of(embedder: &Embedder, pair: &Pair<'_>) -> Option<Self> {
        let meaning = |remark: &Remark| Some(unit(embedder.embed(&remark.text)?.numbers()));
        let users: Vec<Meaning> = pair.users.iter().map(|user| meaning(user)).collect::<Option<_>>()?;
        let all: Vec<Meaning> = pair.all.iter().map(|other| meaning(other)).collect::<Option<_>>()?;
        Some(Self {
            message: meaning(pair.message)?,
            user: meaning(pair.user)?,
            reply: pair.reply.and_then(meaning),
            mean_users: mean(&users),
            mean_all: mean(&all),
            users,
            all,
        })
    }
}

/// The mean of meanings, of which the last count most.
fn mean(meanings: &[Meaning]) -> Meaning {
    let add = |sum: Meaning, next: &Meaning| std::array::from_fn(|at| sum[at] * DECAY + next[at]);
    unit(meanings.iter().fold([0.0; DIMENSIONS], add))
}

fn unit(meaning: Meaning) -> Meaning {
    let length = dot(&meaning, &meaning).sqrt();
    if length > 0.0 { meaning.map(|number| number / length) } else { meaning }
}

pub(super) fn dot(a: &Meaning, b: &Meaning) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum()
}
