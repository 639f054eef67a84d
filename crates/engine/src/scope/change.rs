//! What an append changes in a scope, as far as its memory is concerned.

use crate::context::{Item, Turned};
use crate::turn::request::Request;
use segue_core::decide::{Decided, TaskCommand, TaskVerb};
use segue_core::digest::Digest;
use segue_core::entry::{Kind, Seq};
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::{Span, Spans};
use segue_core::state::State;
use segue_core::task::identity::TaskId;
use segue_store::Append;
use std::sync::Arc;

/// What an append changes. It is taken before the store is given the append, and applied once that is durable.
pub(crate) struct Change {
    /// The state after it.
    pub(crate) next: Arc<State>,
    prior: Seq,
    /// The messages that are written; nothing is known if something is erased with them.
    messages: Option<Vec<Item>>,
    /// What was decided, and in which segment that is written.
    pub(crate) turned: Option<(segment::Number, Turned)>,
    /// The contents that a task holds now.
    pub(crate) contents: Option<(TaskId, Vec<Digest>)>,
    /// Whether something is dropped or erased.
    pub(crate) loses: Loses,
}

/// Whether an append drops or erases something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loses {
    /// It does: copies of the log in memory may hold too much.
    Something,
    /// It does not.
    Nothing,
}

/// What is added to the latest session, if nothing else happens to it.
pub(crate) struct Added {
    pub(crate) session: Number,
    pub(crate) view: Spans,
    pub(crate) items: Vec<Item>,
}

impl Change {
    /// Takes down what an append changes.
    pub(crate) fn of(append: &Append, decided: &Decided, request: &Request) -> Self {
        let written = append.records.iter().filter(|record| record.kind.role().is_some());
        let decision = append.records.iter().rev().find(|record| record.kind == Kind::Decision);
        let turned = decision
            .zip(decided.about)
            .map(|(record, about)| (record.segment, Turned { action: decided.action, about }));
        let is_safe = append.erase.is_empty() && append.garbage.is_empty();
        Self {
            next: Arc::clone(&append.next),
            prior: append.prior.head,
            messages: append.erase.is_empty().then(|| written.filter_map(Item::of).collect()),
            turned,
            contents: contents(decided, request),
            loses: if is_safe { Loses::Nothing } else { Loses::Something },
        }
    }

    /// Returns what is added to the session that is latest before and after; nothing if the append does anything else
    /// to that session.
    pub(super) fn added(&self, prior: &State) -> Option<Added> {
        let session = prior.latest().filter(|session| self.next.latest() == Some(*session))?;
        let (before, view) = (prior.view(session), self.next.view(session));
        let items = self.messages.as_ref()?.iter();
        let items: Vec<Item> =
            items.filter(|item| view.hold(item.segment, item.stored.seq)).cloned().collect();
        let is_all = before.messages() as usize + items.len() == view.messages() as usize;
        let is_next = prior.head == self.prior;
        (is_next && is_all && same_until(&before, &view, prior.head)).then_some(Added {
            session,
            view,
            items,
        })
    }

    /// Tells whether the append does nothing to any session but add to the latest: no boundary, no late reply.
    pub(super) fn is_only(&self, added: &Added, prior: Option<&State>) -> bool {
        let are_all = self.messages.as_ref().is_some_and(|messages| messages.len() == added.items.len());
        are_all && prior.is_some_and(|prior| Arc::ptr_eq(&prior.sessions, &self.next.sessions))
    }
}

fn contents(decided: &Decided, request: &Request) -> Option<(TaskId, Vec<Digest>)> {
    let Request::Task(TaskCommand { verb: TaskVerb::Observe { observations }, .. }) = request else {
        return None;
    };
    let task = decided.state.extras.tasks.get(&decided.session)?;
    Some((task.id, observations.iter().filter_map(super::stored).collect()))
}

/// Tells whether two views see the same entries up to one.
fn same_until(a: &Spans, b: &Spans, seq: Seq) -> bool {
    let part = |span: &Span| (span.first <= seq).then(|| (span.segment, span.first, span.last.min(seq)));
    let (a, b) = a.differing(b);
    a.filter_map(part).eq(b.filter_map(part))
}
