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
    arrived: Message,
}

impl Model {
    pub fn new() -> Self {
        Self { next: 1, ..Self::default() }
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
        let session = match self.latest {
            Some(session) => session,
            None => self.create(BTreeSet::new()),
        };
        self.arrived = message;
        self.view(session).insert(message);
    }

    pub fn reply(&mut self, session: Session, message: Message) {
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
        let from = self.latest;
        let to = self.create(BTreeSet::new());
        if let Some(from) = from {
            let (since, inherited) = (self.arrived, Inherited::Forgotten);
            self.remember(Boundary::Created { from, to, since, inherited });
        }
    }

    pub fn clear(&mut self) {
        let Some(session) = self.latest else {
            let session = self.create(BTreeSet::new());
            self.remember(Boundary::Cleared { session, before: BTreeSet::new() });
            return;
        };
        let before = std::mem::take(self.view(session));
        self.remember(Boundary::Cleared { session, before });
    }

    pub fn resume(&mut self, to: Session) {
        let from = self.latest.unwrap();
        self.latest = Some(to);
        self.remember(Boundary::Resumed { from, to, since: self.arrived });
    }

    pub fn fork(&mut self, parent: Session, at: Option<Message>) {
        let from = self.latest.unwrap();
        let shared = self.live[&parent].iter().copied().filter(|m| at.is_none_or(|at| *m <= at)).collect();
        let to = self.create(shared);
        self.inherit(parent, to);
        let (since, inherited) = (self.arrived, Inherited::Forgotten);
        self.remember(Boundary::Created { from, to, since, inherited });
    }

    pub fn split(&mut self, at: Message) {
        let from = self.latest.unwrap();
        let later = self.view(from).split_off(&at);
        let to = self.create(later);
        self.inherit(from, to);
        let (since, inherited) = (self.arrived, Inherited::Returned);
        self.remember(Boundary::Created { from, to, since, inherited });
    }

    pub fn merge(&mut self, from: Session, into: Session) {
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
        !self.boundaries.is_empty()
    }

    pub fn undo(&mut self) {
        match self.boundaries.pop().unwrap() {
            Boundary::Created { from, to, since, inherited } => {
                let said = self.live.remove(&to).unwrap();
                let back = said.into_iter().filter(|m| inherited == Inherited::Returned || *m > since);
                let back: Vec<Message> = back.collect();
                self.view(from).extend(back);
                self.merged.insert(to, from);
                self.latest = Some(from);
            }
            Boundary::Resumed { from, to, since } => {
                let said = self.view(to).split_off(&(since + 1));
                self.view(from).extend(said);
                self.latest = Some(from);
            }
            Boundary::Cleared { session, before } => self.view(session).extend(before),
        }
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
