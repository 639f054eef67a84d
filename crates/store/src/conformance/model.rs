//! A naive model of a scope: sessions are lists of message numbers and what they are pinned to, and nothing else is
//! known.

use segue_core::digest::Digest;
use segue_core::pins::{Agent, Change, Persona};
use std::collections::{BTreeMap, BTreeSet};

pub type Message = u64;
pub type Session = u32;

#[derive(Debug, Clone)]
enum Boundary {
    Created { from: Session, to: Session, since: Message, inherited: Inherited },
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
        self.latest = Some(session);
        session
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
        let from = self.latest;
        let to = self.create(BTreeSet::new());
        if let Some(from) = from {
            let (since, inherited) = (self.arrived, Inherited::Forgotten);
            self.remember(Boundary::Created { from, to, since, inherited });
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
        self.latest = Some(to);
        self.remember(Boundary::Resumed { from, to, since: self.arrived });
    }

    pub fn fork(&mut self, parent: Session, at: Option<Message>) {
        self.ended();
        let from = self.latest.unwrap();
        let shared = self.live[&parent].iter().copied().filter(|m| at.is_none_or(|at| *m <= at)).collect();
        let to = self.create(shared);
        self.inherit(parent, to);
        let (since, inherited) = (self.arrived, Inherited::Forgotten);
        self.remember(Boundary::Created { from, to, since, inherited });
    }

    pub fn split(&mut self, at: Message) {
        self.ended();
        let from = self.latest.unwrap();
        let later = self.view(from).split_off(&at);
        let to = self.create(later);
        self.inherit(from, to);
        let (since, inherited) = (self.arrived, Inherited::Returned);
        self.remember(Boundary::Created { from, to, since, inherited });
    }

    pub fn merge(&mut self, from: Session, into: Session) {
        self.ended();
        let said = self.live.remove(&from).unwrap();
        self.view(into).extend(said);
        self.merged.insert(from, into);
        if self.latest == Some(from) {
            self.latest = Some(into);
        }
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
        self.latest = Some(to);
        self.walk = Some(walk);
    }

    pub fn undo(&mut self) {
        if let Some(walk) = self.walk.take() {
            let (to, cursor) = self.before(&walk).unwrap();
            return self.step(walk, to, false, cursor);
        }
        let boundary = self.boundaries.pop().unwrap();
        let undone = match boundary.clone() {
            Boundary::Created { from, to, since, inherited } => {
                let before = (self.live[&from].clone(), self.live[&to].clone());
                let said = self.live.remove(&to).unwrap();
                let returned = |m: &Message| inherited == Inherited::Returned || *m > since;
                let (back, shared): (BTreeSet<Message>, BTreeSet<Message>) =
                    said.into_iter().partition(returned);
                self.view(from).extend(back);
                self.latest = Some(from);
                let seen = |m: &Message| self.live.values().any(|said| said.contains(m));
                let orphans: BTreeSet<Message> = shared.into_iter().filter(|m| !seen(m)).collect();
                if orphans.is_empty() {
                    self.merged.insert(to, from);
                    Some((boundary, before.0, before.1))
                } else {
                    self.live.insert(to, orphans);
                    None
                }
            }
            Boundary::Resumed { from, to, since } => {
                let before = (self.live[&from].clone(), self.live[&to].clone());
                let said = self.view(to).split_off(&(since + 1));
                self.view(from).extend(said);
                self.latest = Some(from);
                Some((boundary, before.0, before.1))
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
        self.latest = Some(to);
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
        self.forget(session);
        let merged: Vec<Session> =
            self.merged.iter().filter(|(_, into)| **into == session).map(|(from, _)| *from).collect();
        for from in merged {
            self.merged.remove(&from);
            self.drop_session(from);
        }
    }

    pub fn prune(&mut self, keep: usize) {
        self.prune_sparing(keep, None);
    }

    /// Prunes after a boundary: the session that was just left goes last.
    pub fn keep_backlog(&mut self, keep: usize) {
        let left = match self.boundaries.last() {
            Some(Boundary::Created { from, .. } | Boundary::Resumed { from, .. }) => Some(*from),
            _ => None,
        };
        self.prune_sparing(keep, left);
    }

    fn prune_sparing(&mut self, keep: usize, spare: Option<Session>) {
        while self.live.len() > keep {
            let others = self.live.keys().copied().filter(|s| Some(*s) != self.latest);
            let oldest = others.min_by_key(|s| (Some(*s) == spare, *s)).unwrap();
            self.drop_session(oldest);
        }
    }
}
