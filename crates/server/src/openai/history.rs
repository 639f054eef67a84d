//! Clients that send their whole history: which of it is known, and what is new.
//!
//! What people and models said is compared in order. Calls of tools and their results are compared by their ids, since
//! clients differ in how they order them. What was changed since, or asked for again, is a fork.

use super::request_message::RequestMessage;
use crate::app::App;
use crate::own::Order;
use crate::problem::Problem;
use segue_core::entry::Seq;
use segue_core::message::Role;
use segue_core::session::Number;
use segue_core::span::Spans;
use segue_core::state::State;
use segue_engine::history::StoredMessage;
use std::collections::{BTreeMap, HashMap};

/// How many sessions are looked through for a history, newest first.
const SESSIONS_MAX: usize = 20;

/// How many messages of a session are compared.
const MESSAGES_MAX: usize = 20_000;

/// At how many places of a session a history may begin.
const STARTS_MAX: usize = 64;

/// What of a history is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// The session that holds it.
    pub(crate) session: Number,
    /// The last message that is known, if there is one.
    pub(crate) last: Option<Seq>,
    /// Whether the session goes on after it: then what is new is a fork.
    pub(crate) goes_on: bool,
    /// The messages that are new, by their places in the request.
    pub(crate) new: Vec<usize>,
    /// Where the log holds the others, by their places in the request.
    pub(crate) held: Vec<(usize, Seq)>,
}

impl App {
    /// Finds the session that holds the beginning of a history.
    pub(crate) async fn recognise(
        &self,
        state: &State,
        said: &[RequestMessage],
    ) -> Result<Option<Known>, Problem> {
        let latest = state.latest();
        let mut numbers: Vec<Number> = state.list().map(|(number, _)| number).collect();
        numbers.sort_unstable_by_key(|number| (Some(*number) != latest, std::cmp::Reverse(*number)));
        let mut best: Option<(Known, usize)> = None;
        for session in numbers.into_iter().take(SESSIONS_MAX) {
            let stored = self.stored(state, &state.view(session)).await?;
            let Some((known, length)) = compare(session, &stored, said) else { continue };
            // A session that holds all but the news, and ends there, is the one.
            if !known.goes_on {
                return Ok(Some(known));
            }
            if best.as_ref().is_none_or(|(_, longest)| length > *longest) {
                best = Some((known, length));
            }
        }
        Ok(best.map(|(known, _)| known))
    }

    /// Finds the beginning of a history in all sessions together, in the order of the log: where the context is ours,
    /// a client's thread may have become several sessions.
    pub(crate) async fn recognise_anywhere(
        &self,
        state: &State,
        said: &[RequestMessage],
    ) -> Result<Option<Known>, Problem> {
        let Some(latest) = state.latest() else { return Ok(None) };
        let views = state.all().map(|(number, _)| state.view(number));
        let stored = self.stored(state, &views.fold(Spans::default(), |all, view| all.union(&view))).await?;
        let known = compare(latest, &stored, said).map(|(known, _)| known);
        Ok(known.map(|mut known| {
            let holds = |number: &Number| {
                let of_number = state.view(*number);
                let inside = |last: Seq| of_number.iter().any(|span| span.first <= last && last <= span.last);
                known.last.is_some_and(inside)
            };
            let holder = state.all().map(|(number, _)| number).filter(holds).max();
            known.session = holder.unwrap_or(latest);
            known
        }))
    }

    /// Reads the messages of a view that a client may know of.
    pub(crate) async fn stored(&self, state: &State, view: &Spans) -> Result<Vec<StoredMessage>, Problem> {
        let mut stored = self.stored_messages(state, view).await?;
        stored.retain(|stored| stored.role != Role::System);
        Ok(stored)
    }

    /// Reads the messages of a view.
    pub(crate) async fn stored_messages(
        &self,
        state: &State,
        view: &Spans,
    ) -> Result<Vec<StoredMessage>, Problem> {
        let (stored, _) = self.page(&state.scope, view, None, Order::Asc, MESSAGES_MAX).await?;
        Ok(stored)
    }
}

/// What can be compared.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Copy)]
enum Atom<'a> {
    Text(Role, &'a str),
    /// What was erased matches whatever its speaker says.
    Erased(Role),
    Call(&'a str, usize),
    Output(&'a str, usize),
}

fn atoms<'a>(
    messages: impl Iterator<Item = (Role, Option<&'a segue_core::message::Message>)>,
) -> Vec<(usize, Atom<'a>)> {
    let mut found = Vec::new();
    let (mut calls, mut outputs) = (HashMap::new(), HashMap::new());
    let nth = |counts: &mut HashMap<&'a str, usize>, id: &'a str| {
        let count = counts.entry(id).or_insert(0);
        *count += 1;
        *count
    };
    for (at, (role, message)) in messages.enumerate() {
        let Some(message) = message else {
            found.push((at, Atom::Erased(role)));
            continue;
        };
        match (role, &message.tool_call_id) {
            (Role::Tool, Some(id)) => found.push((at, Atom::Output(id, nth(&mut outputs, id)))),
            _ => {
                let text = message.text.trim();
                // What a model thought is no text.
                let is_silent = !message.tool_calls.is_empty() || !message.reasoning.is_empty();
                if !text.is_empty() || !is_silent {
                    found.push((at, Atom::Text(role, text)));
                }
            }
        }
        for call in &message.tool_calls {
            found.push((at, Atom::Call(&call.id, nth(&mut calls, &call.id))));
        }
    }
    found
}

/// Tells whether a client's text is one that was stored. A reply may have been shown with a notice before it.
fn same(stored: Atom<'_>, sent: Atom<'_>) -> bool {
    match (stored, sent) {
        (Atom::Erased(a), Atom::Text(b, _)) => a == b,
        (Atom::Text(Role::Assistant, stored), Atom::Text(Role::Assistant, sent)) => {
            let shown = || sent.strip_suffix(stored).is_some_and(|notice| notice.ends_with("\n\n"));
            stored == sent || shown()
        }
        (stored, sent) => stored == sent,
    }
}

fn is_text(atom: &Atom<'_>) -> bool {
    matches!(atom, Atom::Text(..) | Atom::Erased(_))
}

/// Compares a session with a history. Returns what is known, and how many texts that is.
fn compare(session: Number, stored: &[StoredMessage], said: &[RequestMessage]) -> Option<(Known, usize)> {
    let ours = atoms(stored.iter().map(|stored| (stored.role, stored.message.as_ref())));
    let theirs = atoms(said.iter().map(|said| (said.role, Some(&said.message))));
    let our_texts: Vec<&(usize, Atom<'_>)> = ours.iter().filter(|(_, atom)| is_text(atom)).collect();
    let their_texts: Vec<&(usize, Atom<'_>)> = theirs.iter().filter(|(_, atom)| is_text(atom)).collect();
    let (start, length) = align(&our_texts, &their_texts)?;
    // From the first text on that is not known, everything is new.
    let border = their_texts.get(length).map_or(usize::MAX, |(at, _)| *at);
    let texts = their_texts.iter().take(length).zip(our_texts.iter().skip(start));
    // What of theirs is known, and where it is in the session.
    let mut known: BTreeMap<usize, usize> = texts.map(|((at, _), (place, _))| (*at, *place)).collect();
    for (at, atom) in theirs.iter().filter(|(at, atom)| *at < border && !is_text(atom)) {
        if let Some((place, _)) = ours.iter().find(|(_, ours)| ours == atom) {
            known.entry(*at).and_modify(|known| *known = (*known).max(*place)).or_insert(*place);
        }
    }
    let last = known.values().copied().max()?;
    let new = (0..said.len()).filter(|at| !known.contains_key(at)).collect();
    let goes_on = last + 1 < stored.len();
    let has_reply = known.keys().any(|at| said.get(*at).is_some_and(|said| said.role == Role::Assistant));
    let is_reply = |texts: &[&(usize, Atom<'_>)], at: usize| {
        matches!(texts.get(at), Some((_, Atom::Text(Role::Assistant, _) | Atom::Erased(Role::Assistant))))
    };
    // Another reply to the same message is one that was edited.
    let is_edited = is_reply(&our_texts, start + length) && is_reply(&their_texts, length);
    // Clients begin every thread with the same words about its surroundings: that alone is no common past.
    if goes_on && !has_reply && !is_edited && known.len() < said.len() {
        return None;
    }
    let seq_of = |place: &usize| stored.get(*place).map(|stored| stored.seq);
    let held = known.iter().filter_map(|(at, place)| Some((*at, seq_of(place)?))).collect();
    Some((Known { session, last: seq_of(&last), goes_on, new, held }, length))
}

/// Compares what a session holds from some point on with what was said from there on. Returns what is known, and how many
/// messages that is.
pub(crate) fn compare_from_start(
    session: Number,
    stored: &[StoredMessage],
    said: &[RequestMessage],
) -> (Known, usize) {
    let fresh = || {
        let new = (0..said.len()).collect();
        (Known { session, last: None, goes_on: !stored.is_empty(), new, held: Vec::new() }, 0)
    };
    let same_start = match (stored.first(), said.first()) {
        (Some(_), Some(_)) => compare(session, stored, said),
        _ => None,
    };
    same_start.unwrap_or_else(fresh)
}

/// Finds where the texts of a history begin in a session, and how many follow in order.
fn align(ours: &[&(usize, Atom<'_>)], theirs: &[&(usize, Atom<'_>)]) -> Option<(usize, usize)> {
    let first = theirs.first()?.1;
    let starts = ours.iter().enumerate().filter(|(_, (_, atom))| same(*atom, first)).map(|(at, _)| at);
    let mut best: Option<(usize, usize)> = None;
    for start in starts.take(STARTS_MAX) {
        let pairs = ours.iter().skip(start).zip(theirs);
        let length = pairs.take_while(|((_, ours), (_, theirs))| same(*ours, *theirs)).count();
        // A history that begins amid a session is one only if it leads to its end, or is known but for the last word:
        // people say "ok" more than once.
        let counts =
            start == 0 || (length >= 2 && (start + length == ours.len() || length + 1 >= theirs.len()));
        if counts && best.is_none_or(|(_, longest)| length > longest) {
            best = Some((start, length));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::message::{Message, ToolCall};

    fn message(text: &str) -> (Role, Message) {
        let (role, rest) = text.split_once(' ').unwrap();
        match role {
            "call" => {
                let call = ToolCall { id: rest.into(), name: "t".into(), arguments: String::new() };
                (Role::Assistant, Message { tool_calls: vec![call], ..Message::default() })
            }
            "output" => (Role::Tool, Message { tool_call_id: Some(rest.into()), ..Message::text("r") }),
            role => (Role::named(role).unwrap(), Message::text(rest)),
        }
    }

    /// Compares, and tells what is new and whether it is a fork.
    fn check(stored: &[&str], sent: &[&str], new: &[usize], goes_on: bool) {
        let stored: Vec<StoredMessage> = stored
            .iter()
            .enumerate()
            .map(|(at, text)| {
                let (role, message) = message(text);
                let (seq, at) = (Seq(at as u64 + 1), jiff::Timestamp::UNIX_EPOCH);
                StoredMessage { seq, role, text: message.text.clone(), at, message: Some(message) }
            })
            .collect();
        let sent: Vec<RequestMessage> = sent
            .iter()
            .map(|text| {
                let (role, message) = message(text);
                RequestMessage { place: 0, role, message, content: None }
            })
            .collect();
        let (known, _) = compare(Number::FIRST, &stored, &sent).expect("known");
        assert_eq!((known.new.as_slice(), known.goes_on), (new, goes_on));
    }

    #[test]
    fn s2_only_what_is_new_is_taken_over() {
        check(&["user a", "assistant b"], &["user a", "assistant b", "user c"], &[2], false);
        check(&["user a", "assistant b"], &["user a", "assistant b"], &[], false);
    }

    #[test]
    fn s2_a_changed_or_repeated_message_is_a_fork() {
        let stored = ["user a", "assistant b", "user c", "assistant d"];
        check(&stored, &["user a", "assistant b", "user other"], &[2], true);
        check(&stored, &["user a", "assistant b", "user c"], &[], true);
    }

    /// Also the first one of a session.
    #[test]
    fn s2_an_edited_reply_is_a_fork() {
        let stored = ["user a", "assistant b", "user c", "assistant d"];
        check(&stored, &["user a", "assistant other", "user c"], &[1, 2], true);
        check(&stored, &["user a", "assistant b", "user c", "assistant other", "user e"], &[3, 4], true);
        check(
            &["user a", "call 1", "output 1", "assistant b"],
            &["user a", "call 1", "output 1", "assistant x"],
            &[3],
            true,
        );
    }

    #[test]
    fn s2_calls_are_known_by_their_ids_in_any_order() {
        let stored = ["user a", "call 1", "call 2", "output 1"];
        check(&stored, &["user a", "call 1", "output 1", "call 2", "output 2"], &[4], false);
        // An endpoint that uses an id twice.
        let stored = ["user a", "call 1", "output 1", "assistant b", "user c", "call 1"];
        let sent = ["user a", "call 1", "output 1", "assistant b", "user c", "call 1", "output 1"];
        check(&stored, &sent, &[6], false);
    }

    #[test]
    fn s2_a_notice_before_a_reply_does_not_make_it_another_one() {
        check(&["user a", "assistant b"], &["user a", "assistant Started #2\n\nb", "user c"], &[2], false);
    }

    #[test]
    fn s2_the_same_first_words_are_no_common_past() {
        let stored = |texts: &[&str]| -> Vec<StoredMessage> {
            let stored = |(at, text): (usize, &&str)| {
                let (role, message) = message(text);
                let (seq, at) = (Seq(at as u64 + 1), jiff::Timestamp::UNIX_EPOCH);
                StoredMessage { seq, role, text: message.text.clone(), at, message: Some(message) }
            };
            texts.iter().enumerate().map(stored).collect()
        };
        let said = |texts: &[&str]| -> Vec<RequestMessage> {
            let said = |text: &&str| {
                let (role, message) = message(text);
                RequestMessage { place: 0, role, message, content: None }
            };
            texts.iter().map(said).collect()
        };
        let stored = stored(&["user <environment>", "user a", "assistant b"]);
        let sent = said(&["user <environment>", "user other"]);
        assert!(compare(Number::FIRST, &stored, &sent).is_none(), "another thread");
        let sent = said(&["user <environment>", "user a"]);
        assert!(compare(Number::FIRST, &stored, &sent).is_some(), "the same asked for again");
    }

    #[test]
    fn s2_a_word_said_twice_is_no_beginning() {
        let stored: Vec<StoredMessage> = Vec::new();
        assert!(compare(Number::FIRST, &stored, &[]).is_none());
    }
}
