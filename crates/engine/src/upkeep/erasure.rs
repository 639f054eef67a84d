//! Erasure: what a session or a person said, found so that it can be erased.
//!
//! A person is whoever the configuration's `[users]` table would name: an identity link, or else `channel:peer`. Every
//! entry knows who said it: by its author, by its sender in a group, or else by the key of its scope.

use crate::engine::Engine;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::request::Request;
use crate::route::{Form, form_of, user_of};
use crate::turn::effects::Purge;
use segue_core::entry::{Body, CommandBy, Kind, Record, Seq, Spoken};
use segue_core::erasure::Place;
use segue_core::memory::{self, MemoryEntry};
use segue_core::message::Role;
use segue_core::pins::Pinned;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::title;
use segue_store::{QuarantineCause, Quarantined, QuarantinedFile};
use std::collections::BTreeSet;

/// What is to be erased.
#[derive(Debug, Default)]
pub struct Erasure {
    /// The person, as the engine names them, if it is one who is erased.
    pub person: Option<String>,
    /// What the log says, scope by scope.
    pub entries: Vec<(scope::Key, Vec<Seq>)>,
    /// How many messages and commands there are of which nobody can tell whether the person said them, scope by scope.
    pub unknown: Vec<(scope::Key, usize)>,
    /// What was set aside of the person or the session. A damaged file cannot be edited safely, so it goes as a whole, with
    /// what others said in it.
    pub theirs: Vec<QuarantinedFile>,
    /// What was set aside, and may hold words of the person, or is seen by other sessions too. Nobody deletes that unasked.
    pub perhaps: Vec<QuarantinedFile>,
    /// What was set aside of nobody knows whom.
    pub nobodys: Vec<QuarantinedFile>,
    /// What could not be looked into, one sentence each.
    pub unseen: BTreeSet<String>,
}

/// Whose words were set aside.
enum PersonMatch {
    /// They are seen to speak there, or it is their own scope.
    Theirs,
    /// Something cannot be read where they can speak.
    Perhaps,
    Others,
    Unknown,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    /// The person who is looked for.
    Person,
    /// Somebody else.
    Other,
    /// Nobody can tell.
    Unknown,
    /// No person: an agent, a tool, the engine.
    Nobody,
}

/// What a scope holds of a person.
#[derive(Debug, Default)]
struct PersonalEntries {
    /// Everything that holds words, if all of it is theirs; else what they said.
    entries: Vec<Seq>,
    /// What they may have said.
    unknown: usize,
}

/// Returns the text of the persona that an entry pins a session to.
fn persona_text(record: &Record) -> Option<Seq> {
    let persona = match record.body().ok().filter(|_| record.kind == Kind::Pinned)? {
        Body::Pinned(Pinned::Opening { pins, .. }) => pins.persona,
        Body::Pinned(Pinned::Persona { persona, .. }) => persona,
        _ => None,
    };
    persona.map(|persona| persona.files.seq)
}

impl Engine {
    /// Finds everything that was said in a session, what agents and tools did there, the commands that were typed, its
    /// titles, and what is kept and remembered of it.
    pub async fn said_in(&self, state: &State, session: Number) -> Result<Vec<Seq>, Error> {
        let view = state.view(session);
        let titles = title::entries(state, session);
        let kept: BTreeSet<Seq> = state.extras.kept.get(&session).into_iter().flatten().copied().collect();
        let remembered = |memory: &&MemoryEntry| memory.session == session;
        let memories = memory::kept(state).filter(remembered).map(|memory| memory.entry);
        let elsewhere: BTreeSet<Seq> = titles.iter().copied().chain(kept).chain(memories).collect();
        let mut said = Vec::new();
        self.each_after(&state.scope, Seq::ZERO, |record| {
            let is_inside = view.hold(record.segment, record.seq);
            // The command that gave a title stands right before it, perhaps in another session.
            let gave_title = record.kind == Kind::Command && titles.contains(&record.seq.next());
            if Place::is_kept_in(record) && (is_inside || gave_title || elsewhere.contains(&record.seq)) {
                said.push(record.seq);
            }
        })
        .await?;
        Ok(said)
    }

    /// Finds everything that a person said: their own scopes as a whole, answers and all, what they said in scopes that
    /// they share with others, and what was set aside of either. A person is a link's name or `channel:peer`; an address
    /// that is linked means the person whom it belongs to.
    ///
    /// A scope that cannot be looked into keeps nobody from being erased elsewhere.
    pub async fn to_erase_of(&self, person: &str) -> Result<Erasure, Error> {
        let canonical = self.config.routing.links.canonical_user(person);
        let person = canonical.unwrap_or_else(|| person.to_owned());
        let mut erasure = Erasure::default();
        for scope in self.every_scope().await? {
            match self.said_by(&scope, &person).await {
                Ok(PersonalEntries { entries, unknown }) => {
                    if !entries.is_empty() {
                        erasure.entries.push((scope.clone(), entries));
                    }
                    if unknown > 0 {
                        erasure.unknown.push((scope, unknown));
                    }
                }
                Err(error) => _ = erasure.unseen.insert(format!("{scope}: {error}")),
            }
        }
        let copies = self.quarantined(None).await?;
        erasure.unseen.extend(copies.unseen);
        for copy in copies.found {
            match self.whose(&copy, &person) {
                PersonMatch::Theirs => erasure.theirs.push(copy),
                PersonMatch::Perhaps => erasure.perhaps.push(copy),
                PersonMatch::Unknown => erasure.nobodys.push(copy),
                PersonMatch::Others => {}
            }
        }
        erasure.person = Some(person);
        Ok(erasure)
    }

    /// Finds everything that was said in a session, and what was set aside of it.
    pub async fn to_erase_in(&self, state: &State, session: Number) -> Result<Erasure, Error> {
        let entries = vec![(state.scope.clone(), self.said_in(state, session).await?)];
        let copies = self.quarantined(Some(&state.scope)).await?;
        let view = state.view(session);
        let is_seen = |copy: &QuarantinedFile| view.iter().any(|span| Some(span.segment) == copy.segment);
        // A file goes as a whole, and another session may be a fork of this one, or what it was merged into.
        let is_alone = |copy: &QuarantinedFile| copy.sessions.iter().all(|other| *other == session);
        let (theirs, perhaps) = copies.found.into_iter().filter(is_seen).partition(is_alone);
        let unseen = copies.unseen.into_iter().collect();
        Ok(Erasure { entries, theirs, perhaps, unseen, ..Erasure::default() })
    }

    /// Makes an erasure of single entries, with what was set aside and may hold them, or what was made of them.
    pub async fn to_erase_entries(&self, scope: &scope::Key, entries: Vec<Seq>) -> Result<Erasure, Error> {
        let Quarantined { found, unseen } = self.quarantined(Some(scope)).await?;
        let mut erasure = Erasure { unseen: unseen.into_iter().collect(), ..Erasure::default() };
        let mut damaged: Vec<QuarantinedFile> = found;
        // The rest goes with the append that erases.
        damaged.retain(|copy| copy.cause == QuarantineCause::Damaged);
        if !damaged.is_empty() && !entries.is_empty() {
            let records = self.store.get_many(scope, &entries).await?;
            // What was made of an entry stands behind it. One that is not in the log may be anywhere.
            let first =
                records.iter().map(|record| record.as_ref().map(|record| record.segment)).min().flatten();
            let may_hold = |copy: &QuarantinedFile| {
                let is_behind = copy.segment.zip(first).is_none_or(|(segment, first)| segment >= first);
                let is_readable = entries.iter().any(|seq| copy.entries.contains(seq));
                is_readable || (copy.unreadable > 0 && is_behind)
            };
            erasure.perhaps = damaged.into_iter().filter(may_hold).collect();
        }
        if !entries.is_empty() {
            erasure.entries.push((scope.clone(), entries));
        }
        Ok(erasure)
    }

    /// Erases entries of a scope. They may stand in the store's files until [`Engine::purge`] is called, which erasures in
    /// many scopes share.
    pub async fn erase_unpurged(&self, scope: &scope::Key, entries: &[Seq]) -> Result<Outcome, Error> {
        let mut turn = self.turn(scope.clone(), None, self.now(), "");
        turn.purge = Purge::Later;
        self.ask(&turn, &Request::Erase(entries.to_vec())).await
    }

    async fn quarantined(&self, scope: Option<&scope::Key>) -> Result<Quarantined, Error> {
        match self.store.quarantine() {
            Some(quarantine) => Ok(quarantine.list(scope).await?),
            None => Ok(Quarantined::default()),
        }
    }

    fn whose(&self, copy: &QuarantinedFile, person: &str) -> PersonMatch {
        let Some(scope) = &copy.scope else { return PersonMatch::Unknown };
        let speaks = copy.senders.iter().any(|sender| self.is_person(scope, sender, person));
        if speaks || self.owns(scope, person) {
            return PersonMatch::Theirs;
        }
        let may_be_theirs = copy.unreadable > 0 && self.may_speak_in(scope, person);
        // Nobody was ever told that it is kept.
        if may_be_theirs && copy.cause == QuarantineCause::Unacknowledged {
            return PersonMatch::Theirs;
        }
        // What cannot be read where many speak was said by anybody who can speak there.
        let is_shared = user_of(&self.config.routing, scope).is_none();
        match is_shared && may_be_theirs {
            true => PersonMatch::Perhaps,
            false => PersonMatch::Others,
        }
    }

    async fn said_by(&self, scope: &scope::Key, person: &str) -> Result<PersonalEntries, Error> {
        if self.store.head(scope).await?.is_none() {
            return Ok(PersonalEntries::default());
        }
        let is_theirs = user_of(&self.config.routing, scope).as_deref() == Some(person);
        let is_group = matches!(form_of(scope), Some(Form::Group { .. }));
        let (mut all, mut theirs) = (Vec::new(), Vec::new());
        let (mut others, mut unknown) = (0, 0);
        let mut personas = BTreeSet::new();
        self.each_after(scope, Seq::ZERO, |record| {
            personas.extend(persona_text(record));
            if !Place::is_kept_in(record) {
                return;
            }
            all.push(record.seq);
            match self.speaker(scope, record, person) {
                Speaker::Person => theirs.push(record.seq),
                Speaker::Other => others += 1,
                Speaker::Unknown => unknown += 1,
                Speaker::Nobody => {}
            }
        })
        .await?;
        // Where nobody else has ever spoken the answers are theirs, too.
        let is_alone = !is_group && !theirs.is_empty() && others == 0 && unknown == 0;
        if is_theirs || is_alone {
            // The persona that their sessions were pinned to has a file about the person.
            all.extend(personas);
            all.sort_unstable();
            return Ok(PersonalEntries { entries: all, unknown: 0 });
        }
        let unknown = if self.may_speak_in(scope, person) { unknown } else { 0 };
        Ok(PersonalEntries { entries: theirs, unknown })
    }

    /// Finds out whether the person said an entry.
    fn speaker(&self, scope: &scope::Key, record: &Record, person: &str) -> Speaker {
        let (role, sender, author) = match record.body() {
            Ok(Body::Message(role, message)) => (role, message.sender, message.author),
            Ok(Body::Command(spoken)) if spoken.by == CommandBy::Host => return Speaker::Nobody,
            Ok(Body::Command(spoken)) => (Role::User, spoken.sender, spoken.author),
            Ok(_) | Err(_) => return Speaker::Nobody,
        };
        let is_person = match (author, sender) {
            (Some(author), _) => self.named(&author) == person,
            (None, Some(sender)) => self.is_person(scope, &sender, person),
            (None, None) if role != Role::User => return Speaker::Nobody,
            (None, None) => match (self.owns(scope, person), user_of(&self.config.routing, scope)) {
                (true, _) => true,
                (false, Some(_)) => false,
                (false, None) => return Speaker::Unknown,
            },
        };
        if is_person { Speaker::Person } else { Speaker::Other }
    }

    /// Tells whether a scope is a person's own by its key: it names them, or an id that they have.
    fn owns(&self, scope: &scope::Key, person: &str) -> bool {
        let routing = &self.config.routing;
        match (user_of(routing, scope), form_of(scope)) {
            (Some(owner), _) => owner == person,
            (None, Some(Form::Peer(peer))) => routing.links.has_peer(person, peer),
            // A host's own key may be the person's name or address.
            (None, None) => self.named(scope.as_str()) == person,
            (None, Some(Form::Main | Form::Group { .. } | Form::Direct { .. })) => false,
        }
    }

    /// Tells whether a person may have spoken in a scope that is not one person's by its key.
    fn may_speak_in(&self, scope: &scope::Key, person: &str) -> bool {
        match form_of(scope) {
            Some(Form::Group { channel }) => self.config.routing.links.may_speak_in(person, channel),
            // Nobody but the host knows who speaks under a key of its own.
            Some(Form::Main) | None => true,
            Some(Form::Peer(_) | Form::Direct { .. }) => false,
        }
    }

    /// Tells whether whoever typed a command may delete a session. Where the scope is one person's, they may. In a group
    /// moderators may. Elsewhere it must hold nothing that somebody else is known to have said.
    pub(crate) async fn may_delete(
        &self,
        scope: &scope::Key,
        session: Number,
        spoken: Option<&Spoken>,
    ) -> Result<bool, Error> {
        let form = form_of(scope);
        if user_of(&self.config.routing, scope).is_some() || self.is_moderator(scope, spoken) {
            return Ok(true);
        }
        if let Some(Form::Group { .. }) = form {
            return Ok(false);
        }
        let Some(state) = self.find_state(scope).await? else { return Ok(true) };
        let who = |sender: Option<&str>, author: Option<&str>| author.or(sender).map(|name| self.named(name));
        let asks = spoken.and_then(|spoken| who(spoken.sender.as_deref(), spoken.author.as_deref()));
        let mut is_anothers = false;
        self.each_message(&state, session, |stored| {
            let said = stored.message.as_ref().filter(|_| stored.role == Role::User);
            let said = said.and_then(|said| who(said.sender.as_deref(), said.author.as_deref()));
            is_anothers |= said.is_some_and(|said| Some(said) != asks);
        })
        .await?;
        Ok(!is_anothers)
    }

    fn is_moderator(&self, scope: &scope::Key, spoken: Option<&Spoken>) -> bool {
        let sender = spoken.and_then(|spoken| spoken.author.as_deref().or(spoken.sender.as_deref()));
        let is_them = |person: &String| {
            person == "*" || sender.is_some_and(|sender| self.is_person(scope, sender, &self.named(person)))
        };
        self.config.moderators.iter().any(is_them)
    }

    fn named(&self, address: &str) -> String {
        self.config.routing.links.canonical_user(address).unwrap_or_else(|| address.to_owned())
    }

    /// A channel names its senders without the channel: `111` in a Telegram group is `telegram:111`.
    fn is_person(&self, scope: &scope::Key, sender: &str, person: &str) -> bool {
        let links = &self.config.routing.links;
        if sender == person || links.canonical_user(sender).as_deref() == Some(person) {
            return true;
        }
        let Some(Form::Group { channel } | Form::Direct { channel, .. }) = form_of(scope) else {
            return false;
        };
        let peer = links.safe(channel, sender);
        let linked = links.name_of(channel, &peer);
        linked.map_or_else(|| format!("{channel}:{peer}") == person, |name| name == person)
    }
}
