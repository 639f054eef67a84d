//! The profile of the latest session: what it is about, so that a message can be judged without reading the session.
//!
//! It is a function of the log alone: the same log leads to the same profile, whether it was built message by message
//! or read back. A long session is therefore read from a fixed place, which moves in steps.

use super::change::Added;
use crate::context::Budget;
use crate::history::StoredMessage;
use segue_core::message::{Message, ReplyEnd, Role};
use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::context::{ContextUse, TokenCounter, judge_use};
use segue_signals::{KEPT_MAX, Remark};

/// The place from which a long session is looked at moves by so many messages.
const STEP: u32 = 512;

/// How many of the newest messages are kept to be shown to a model.
const SAID_MAX: usize = 6;

/// How much of each is kept, in characters.
const SAID_CHARS_MAX: usize = 2_000;

/// A longer message is read at once: of many scopes that wait for an answer, not all is kept.
const UNREAD_BYTES_MAX: usize = 4_096;

/// What messages are read with.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// The one counter of tokens: a session is as full as its context would be.
    pub(crate) counter: &'a dyn TokenCounter,
}

impl Reader<'_> {
    /// Counts what a message takes in a context.
    fn tokens(self, message: &Message) -> u64 {
        self.budget().message(message)
    }

    fn budget(&self) -> Budget<'_> {
        Budget::of_window(0, self.counter)
    }
}

/// What is known about the latest session.
#[derive(Debug, Clone)]
pub(crate) struct SessionProfile {
    session: Number,
    /// The newest messages, oldest first: as they were read, and who said what.
    recent: Vec<Remark>,
    said: Vec<(Role, String)>,
    tokens: u64,
    looked_at: u32,
    messages: u32,
    /// What the person said last, and how many tokens that takes, if it was not read yet.
    unread: Option<(Message, u64)>,
}

impl SessionProfile {
    /// Makes the profile of a session in which nothing was said.
    fn empty(session: Number) -> Self {
        Self {
            session,
            recent: Vec::new(),
            said: Vec::new(),
            tokens: 0,
            looked_at: 0,
            messages: 0,
            unread: None,
        }
    }

    /// Returns how many of a session's newest messages its profile is built from.
    pub(crate) fn reach(messages: u32) -> u32 {
        let from = (messages / STEP).saturating_sub(1) * STEP;
        messages - from
    }

    /// Builds the profile of a session from its newest messages, of which there must be [`SessionProfile::reach`].
    pub(crate) fn of(reader: Reader<'_>, state: &State, session: Number, stored: &[StoredMessage]) -> Self {
        let mut profile = Self::empty(session);
        let readable =
            stored.iter().filter_map(|stored| stored.message.as_ref().map(|message| (stored.role, message)));
        let older = readable.clone().count().saturating_sub(KEPT_MAX);
        for (at, (role, message)) in readable.enumerate() {
            profile.add(reader.tokens(message));
            if at >= older {
                profile.keep(role, message);
            }
        }
        profile.looked_at = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        profile.messages = state.messages_of(session);
        profile
    }

    /// Takes in what was added to the session; nothing if it is time to read from another place.
    pub(super) fn follow(self: Box<Self>, reader: Reader<'_>, added: &Added) -> Option<Box<Self>> {
        let mut profile = Some(self).filter(|profile| profile.session == added.session)?;
        for item in &added.items {
            let message = item.stored.message.as_ref()?;
            let tokens = item.cost(&reader.budget());
            profile = profile.add_written(item.stored.role, message, tokens)?;
        }
        Some(profile)
    }

    /// Takes in a message that was just written.
    ///
    /// The person's message is kept, and read when the answer to it is there: now the model waits for its context, and
    /// then nobody waits.
    fn add_written(self: Box<Self>, role: Role, message: &Message, tokens: u64) -> Option<Box<Self>> {
        let mut profile = self.caught_up()?;
        match role {
            Role::User if message.bytes() <= UNREAD_BYTES_MAX => {
                profile.unread = Some((message.clone(), tokens));
                Some(profile)
            }
            Role::User | Role::Assistant | Role::Tool | Role::System => profile.read(role, message, tokens),
        }
    }

    /// Reads what was not read yet; nothing if it is time to look from another place.
    pub(crate) fn caught_up(mut self: Box<Self>) -> Option<Box<Self>> {
        match self.unread.take() {
            Some((message, tokens)) => self.read(Role::User, &message, tokens),
            None => Some(self),
        }
    }

    fn read(mut self: Box<Self>, role: Role, message: &Message, tokens: u64) -> Option<Box<Self>> {
        self.add(tokens);
        self.keep(role, message);
        self.messages += 1;
        (Self::reach(self.messages) == self.looked_at).then_some(self)
    }

    fn add(&mut self, tokens: u64) {
        self.tokens += tokens;
        self.looked_at += 1;
    }

    /// Keeps one of the newest messages.
    fn keep(&mut self, role: Role, message: &Message) {
        // Nothing was said.
        if message.end == ReplyEnd::Failed {
            return;
        }
        if self.recent.len() == KEPT_MAX {
            self.recent.remove(0);
        }
        self.recent.push(Remark::of(speaker(role), &message.text));
        if self.said.len() == SAID_MAX {
            self.said.remove(0);
        }
        let end = message.text.char_indices().nth(SAID_CHARS_MAX).map_or(message.text.len(), |(end, _)| end);
        self.said.push((role, message.text[..end].to_owned()));
    }

    /// Tells how full the window is with the whole session, a message more included.
    pub(crate) fn use_with(&self, reader: Reader<'_>, text: &str, window: u64) -> ContextUse {
        let seen = u64::from(self.looked_at.max(1));
        // What was not looked at is taken to be as long as what was.
        let known = self.tokens * u64::from(self.messages.max(self.looked_at)) / seen;
        // A text has no more tokens than bytes. Mostly that is enough to know, and nothing is counted.
        let (least, most) = (judge_use(known, window), judge_use(known + text.len() as u64, window));
        match reader.counter.name().is_some() && (least.band, least.percent()) == (most.band, most.percent())
        {
            true => least,
            false => judge_use(known + reader.budget().text(text), window),
        }
    }

    /// Returns who said what lately, oldest first.
    pub(crate) fn said(&self) -> &[(Role, String)] {
        &self.said
    }

    /// Returns the newest messages as they were read, oldest first.
    pub(crate) fn recent(&self) -> &[Remark] {
        &self.recent
    }
}

/// Returns who speaks, as the signals know it. A summary that was carried over says what the session goes on with.
pub(crate) fn voice(role: Role, message: &Message) -> segue_signals::Role {
    match message.carried_from {
        Some(_) => segue_signals::Role::Assistant,
        None => speaker(role),
    }
}

/// Returns a role as the signals know it.
pub(crate) fn speaker(role: Role) -> segue_signals::Role {
    match role {
        Role::User => segue_signals::Role::User,
        Role::Assistant => segue_signals::Role::Assistant,
        Role::Tool => segue_signals::Role::Tool,
        Role::System => segue_signals::Role::System,
    }
}
