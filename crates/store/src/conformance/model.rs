//! A naive model of a scope: sessions are lists of message numbers and what they are pinned to, and nothing else is
//! known.

use segue_core::digest::Digest;
use segue_core::pins::{Agent, Change, Persona};
use segue_core::policy::Excess;
use std::collections::{BTreeMap, BTreeSet};

/// A message, by the order of arrival.
pub type Message = u64;
/// A session, by its number.
pub type Session = u32;

#[derive(Debug, Clone)]
enum Boundary {
    Created { from: Session, to: Session, since: Message, inherited: Inherited, archived: Vec<Session> },
    Resumed { from: Session, to: Session, since: Message },
    Cleared { session: Session, before: BTreeSet<Message> },
}

/// What becomes of what a new session began with when its making is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inherited {
    Returned,
    Forgotten,
}

#[derive(Debug, Clone, Default)]
pub struct Model {
    /// What each session that can be talked to says; messages are numbered in the order of arrival.
    pub live: BTreeMap<Session, BTreeSet<Message>>,
    merged: BTreeMap<Session, Session>,
    pub latest: Option<Session>,
    pub next: Session,
    pub erased: BTreeSet<Message>,
    /// The sessions that are there and not listed.
    pub archived: BTreeSet<Session>,
    /// The sessions that somebody asked to be kept.
    pub kept: BTreeSet<Session>,
    /// The sessions that were taken over from elsewhere.
    pub imported: BTreeSet<Session>,
    /// The agent and the persona of each session that has one.
    pub pins: BTreeMap<Session, (Option<String>, Option<String>)>,
    boundaries: Vec<Boundary>,
    walk: Option<Walk>,
    arrived: Message,
}

/// Where a person stands who goes back and forth between sessions.
#[derive(Debug, Clone, Default)]
struct Walk {
    /// The boundary that was taken back, and what both its sessions said.
    undone: Option<(Boundary, BTreeSet<Message>, BTreeSet<Message>)>,
    left: Vec<Session>,
    cursor: usize,
}

impl Model {
    pub fn new() -> Self {
        Self { next: 1, ..Self::default() }
    }

    fn ended(&mut self) {
        self.walk = None;
    }

    fn create(&mut self, begins_with: BTreeSet<Message>) -> Session {
        let session = self.next;
        self.next += 1;
        self.live.insert(session, begins_with);
        self.go_to(session);
        session
    }

    /// The latest session is always listed.
    fn go_to(&mut self, session: Session) {
        self.latest = Some(session);
        self.archived.remove(&session);
    }

    /// Lists the sessions that are not archived.
    pub fn listed(&self) -> impl DoubleEndedIterator<Item = Session> {
        self.live.keys().copied().filter(|session| !self.archived.contains(session))
    }

    fn create_from(
        &mut self,
        from: Session,
        begins_with: BTreeSet<Message>,
        inherited: Inherited,
    ) -> Session {
        let to = self.create(begins_with);
        self.remember(Boundary::Created { from, to, since: self.arrived, inherited, archived: Vec::new() });
        to
    }

    /// A person wants a session to be kept, or not any more.
    pub fn wish(&mut self, session: Session, keep: bool) {
        if keep {
            self.kept.insert(session);
        } else {
            self.kept.remove(&session);
        }
    }

    /// An archived session is listed again.
    pub fn restore(&mut self, session: Session) {
        self.archived.remove(&session);
    }

    /// Opens a session for what is taken over from elsewhere: it pushes nobody out.
    pub fn import(&mut self) {
        self.new_session();
        self.imported.extend(self.latest);
    }

    /// Goes back to the session before an import, if there was one, and tells whether there was.
    pub fn end_import(&mut self) -> bool {
        let Some(Boundary::Created { from, to, .. }) = self.boundaries.last() else { return false };
        if Some(*to) != self.latest {
            return false;
        }
        let from = *from;
        self.ended();
        self.boundaries.pop();
        self.go_to(from);
        true
    }

    fn join_wishes(&mut self, from: Session, into: Session) {
        if self.kept.remove(&from) {
            self.kept.insert(into);
        }
    }

    fn view(&mut self, session: Session) -> &mut BTreeSet<Message> {
        self.live.get_mut(&session).unwrap()
    }

    fn remember(&mut self, boundary: Boundary) {
        if self.boundaries.len() == 32 {
            self.boundaries.remove(0);
        }
        self.boundaries.push(boundary);
    }

    /// Pins a session to something, one field at a time.
    pub fn pin(&mut self, session: Session, by: u8) -> Change {
        let pins = self.pins.entry(session).or_default();
        let name = (by % 8 > 1).then(|| format!("agent {by}"));
        // Few texts, so that sessions share them.
        let text = (!by.is_multiple_of(5)).then(|| format!("persona {}", by % 3));
        if by.is_multiple_of(2) {
            pins.0.clone_from(&name);
            Change::Agent(name.map(|name| Agent { name, instructions: text }))
        } else {
            pins.1.clone_from(&text);
            Change::Persona(text.map(|files| Persona { version: Digest::NONE, files }))
        }
    }

    fn inherit(&mut self, parent: Session, child: Session) {
        if let Some(pins) = self.pins.get(&parent).cloned() {
            self.pins.insert(child, pins);
        }
    }

    pub fn say(&mut self, message: Message) {
        self.ended();
        let session = match self.latest {
            Some(session) => session,
            None => self.create(BTreeSet::new()),
        };
        self.arrived = message;
        self.view(session).insert(message);
    }

    pub fn reply(&mut self, session: Session, message: Message) {
        self.ended();
        let home = self.home(session).unwrap();
        self.arrived = message;
        self.view(home).insert(message);
    }

    pub fn home(&self, mut session: Session) -> Option<Session> {
        while let Some(into) = self.merged.get(&session) {
            session = *into;
        }
        self.live.contains_key(&session).then_some(session)
    }

    pub fn new_session(&mut self) {
        self.ended();
        match self.latest {
            Some(from) => _ = self.create_from(from, BTreeSet::new(), Inherited::Forgotten),
            None => _ = self.create(BTreeSet::new()),
        }
    }

    pub fn clear(&mut self) {
        self.ended();
        let Some(session) = self.latest else {
            let session = self.create(BTreeSet::new());
            self.remember(Boundary::Cleared { session, before: BTreeSet::new() });
            return;
        };
        let before = std::mem::take(self.view(session));
        self.remember(Boundary::Cleared { session, before });
    }

    pub fn resume(&mut self, to: Session) {
        self.ended();
        let from = self.latest.unwrap();
        self.go_to(to);
        self.remember(Boundary::Resumed { from, to, since: self.arrived });
    }

    pub fn fork(&mut self, parent: Session, at: Option<Message>) {
        self.ended();
        let from = self.latest.unwrap();
        let shared = self.live[&parent].iter().copied().filter(|m| at.is_none_or(|at| *m <= at)).collect();
        let to = self.create_from(from, shared, Inherited::Forgotten);
        self.inherit(parent, to);
    }

    pub fn split(&mut self, at: Message) {
        self.ended();
        let from = self.latest.unwrap();
        let later = self.view(from).split_off(&at);
        let to = self.create_from(from, later, Inherited::Returned);
        self.inherit(from, to);
    }

    pub fn merge(&mut self, from: Session, into: Session) {
        self.ended();
        let said = self.live.remove(&from).unwrap();
        self.view(into).extend(said);
        self.merged.insert(from, into);
        self.archived.remove(&from);
        if self.latest == Some(from) {
            self.go_to(into);
        }
        self.join_wishes(from, into);
        self.forget(from);
        self.forget(into);
    }

    pub fn can_undo(&self) -> bool {
        match &self.walk {
            Some(walk) => self.before(walk).is_some(),
            None => !self.boundaries.is_empty(),
        }
    }

    pub fn can_redo(&self) -> bool {
        self.walk.as_ref().is_some_and(|walk| !walk.left.is_empty() || walk.undone.is_some())
    }

    /// The session before, and how many boundaries are older.
    fn before(&self, walk: &Walk) -> Option<(Session, usize)> {
        (0..walk.cursor).rev().find_map(|older| match self.boundaries.get(older)? {
            Boundary::Created { from, .. } | Boundary::Resumed { from, .. }
                if Some(*from) != self.latest && self.live.contains_key(from) =>
            {
                Some((*from, older))
            }
            _ => None,
        })
    }

    /// Makes another session latest; all steps together leave one boundary.
    fn step(&mut self, mut walk: Walk, to: Session, forward: bool, cursor: usize) {
        let from = self.latest.unwrap();
        let start = walk.left.first().copied().unwrap_or(from);
        if !walk.left.is_empty() {
            self.boundaries.pop();
        }
        if forward {
            walk.left.pop();
        } else {
            walk.left.push(from);
        }
        walk.cursor = cursor;
        if !walk.left.is_empty() {
            walk.cursor -= usize::from(self.boundaries.len() == 32 && walk.cursor > 0);
            self.remember(Boundary::Resumed { from: start, to, since: self.arrived });
        }
        self.go_to(to);
        self.walk = Some(walk);
    }

    pub fn undo(&mut self) {
        if let Some(walk) = self.walk.take() {
            let (to, cursor) = self.before(&walk).unwrap();
            return self.step(walk, to, false, cursor);
        }
        let boundary = self.boundaries.pop().unwrap();
        let undone = match boundary.clone() {
            Boundary::Created { from, to, since, inherited, archived } => {
                // What somebody asked for is not taken apart again.
                let is_plain = !self.kept.contains(&to);
                let before = (self.live[&from].clone(), self.live[&to].clone());
                let said = self.live.remove(&to).unwrap();
                let returned = |m: &Message| inherited == Inherited::Returned || *m > since;
                let (back, shared): (BTreeSet<Message>, BTreeSet<Message>) =
                    said.into_iter().partition(returned);
                self.view(from).extend(back);
                self.archived.remove(&to);
                self.go_to(from);
                for session in archived {
                    self.archived.remove(&session);
                }
                let seen = |m: &Message| self.live.values().any(|said| said.contains(m));
                let orphans: BTreeSet<Message> = shared.into_iter().filter(|m| !seen(m)).collect();
                if orphans.is_empty() {
                    self.merged.insert(to, from);
                    self.join_wishes(to, from);
                    is_plain.then_some((boundary, before.0, before.1))
                } else {
                    self.live.insert(to, orphans);
                    None
                }
            }
            Boundary::Resumed { from, to, since } => {
                let before = (self.live[&from].clone(), self.live[&to].clone());
                let is_plain = !self.kept.contains(&to);
                let said = self.view(to).split_off(&(since + 1));
                self.view(from).extend(said);
                self.go_to(from);
                is_plain.then_some((boundary, before.0, before.1))
            }
            Boundary::Cleared { session, before } => {
                self.view(session).extend(before);
                None
            }
        };
        self.walk = Some(Walk { undone, left: Vec::new(), cursor: self.boundaries.len() });
    }

    pub fn redo(&mut self) {
        let mut walk = self.walk.take().unwrap();
        if let Some(to) = walk.left.last().copied() {
            let cursor = walk.cursor + 1;
            return self.step(walk, to, true, cursor);
        }
        let (boundary, before, behind) = walk.undone.take().unwrap();
        let (Boundary::Created { from, to, .. } | Boundary::Resumed { from, to, .. }) = boundary.clone()
        else {
            panic!("a clear is not done again")
        };
        self.live.insert(from, before);
        self.live.insert(to, behind);
        self.merged.remove(&to);
        self.go_to(to);
        if let Boundary::Created { archived, .. } = &boundary {
            self.archived.extend(archived.iter().filter(|session| self.live.contains_key(session)));
        }
        self.remember(boundary);
    }

    fn forget(&mut self, session: Session) {
        let names = |boundary: &Boundary| match boundary {
            Boundary::Created { from, to, .. } | Boundary::Resumed { from, to, .. } => {
                *from == session || *to == session
            }
            Boundary::Cleared { session: cleared, .. } => *cleared == session,
        };
        if let Some(newest) = self.boundaries.iter().rposition(names) {
            self.boundaries.drain(..=newest);
        }
    }

    pub fn drop_session(&mut self, session: Session) {
        self.ended();
        self.live.remove(&session);
        self.archived.remove(&session);
        self.kept.remove(&session);
        self.forget(session);
        let merged: Vec<Session> =
            self.merged.iter().filter(|(_, into)| **into == session).map(|(from, _)| *from).collect();
        for from in merged {
            self.merged.remove(&from);
            self.drop_session(from);
        }
    }

    /// Drops the oldest sessions, archived ones too, on request.
    pub fn prune(&mut self, keep: usize) {
        let excess = self.live.len().saturating_sub(keep);
        let may_go = |session: &Session| Some(*session) != self.latest && !self.kept.contains(session);
        let going: Vec<Session> = self.live.keys().copied().filter(may_go).take(excess).collect();
        self.drop_all(&going);
    }

    /// What a boundary does to a list that is too long. What is kept stays, and what was taken over from elsewhere pushes
    /// nobody out. The oldest goes first; where it is only archived, the session that was just left goes last.
    pub fn keep_backlog(&mut self, limit: usize, excess: Excess) {
        let left = match self.boundaries.last() {
            Some(Boundary::Created { from, .. } | Boundary::Resumed { from, .. }) => Some(*from),
            _ => None,
        };
        let all = self.listed().count();
        let own = self.listed().filter(|session| !self.imported.contains(session)).count();
        let may_go = |session: &Session| Some(*session) != self.latest && !self.kept.contains(session);
        let (mut imported, mut others): (Vec<Session>, Vec<Session>) =
            self.listed().filter(may_go).partition(|session| self.imported.contains(session));
        let goes_last = |session: Session| excess == Excess::Archive && Some(session) == left;
        others.sort_by_key(|session| (goes_last(*session), *session));
        others.truncate(own.saturating_sub(limit));
        match excess {
            Excess::Delete => self.drop_all(&others),
            Excess::Archive => {
                imported.truncate(all.saturating_sub(limit).saturating_sub(others.len()));
                imported.extend(others);
                self.archived.extend(&imported);
                if let Some(Boundary::Created { archived, .. }) = self.boundaries.last_mut() {
                    archived.extend(imported);
                }
            }
        }
    }

    fn drop_all(&mut self, going: &[Session]) {
        if !going.is_empty() {
            self.ended();
        }
        going.iter().for_each(|session| self.drop_session(*session));
    }
}
