//! Pages of spans as rows: what sessions share of long views is written once.
//!
//! A page that is there has all pages before it there: they are written together, and go when no session sees them.

use super::fault::{OrFault, fault};
use super::rows::{ScopeId, digest, json, parse};
use crate::error::Error;
use rusqlite::{Connection, params};
use segue_core::digest::Digest;
use segue_core::span::{Page, Span, Spans};
use segue_core::state::State;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A view in the row of its session: a list, or the last page and what is behind it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Row {
    Listed(Vec<Span>),
    Paged(Paged),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paged {
    page: Digest,
    spans: Vec<Span>,
}

impl Row {
    pub(super) fn of(view: &Spans) -> Self {
        let spans = view.tail().to_vec();
        match view.pages() {
            None => Self::Listed(spans),
            Some(page) => Self::Paged(Paged { page: page.id(), spans }),
        }
    }
}

/// The pages of a scope.
#[derive(Debug, Default)]
pub(super) struct Pages(BTreeMap<Digest, Arc<Page>>);

impl Pages {
    pub(super) fn load(db: &Connection, scope: ScopeId) -> Result<Self, Error> {
        let mut query =
            db.prepare_cached("SELECT id, before, spans FROM span_pages WHERE scope=?1").or_fault()?;
        let mut rows = query.query([scope.0]).or_fault()?;
        let mut unread = BTreeMap::new();
        while let Some(row) = rows.next().or_fault()? {
            let id = digest(&row.get::<_, Vec<u8>>(0).map_err(fault)?)?;
            let before =
                row.get::<_, Option<Vec<u8>>>(1).map_err(fault)?.map(|id| digest(&id)).transpose()?;
            let spans: Vec<Span> = parse("a page of spans", &row.get::<_, String>(2).map_err(fault)?)?;
            unread.insert(id, (before, spans));
        }
        let mut pages = Self::default();
        while let Some(id) = unread.keys().next().copied() {
            pages.build(id, &mut unread)?;
        }
        Ok(pages)
    }

    /// Builds a page and those before it.
    fn build(
        &mut self,
        id: Digest,
        unread: &mut BTreeMap<Digest, (Option<Digest>, Vec<Span>)>,
    ) -> Result<(), Error> {
        let mut chain = Vec::new();
        let mut next = Some(id);
        let mut before = loop {
            let Some(id) = next else { break None };
            if let Some(page) = self.0.get(&id) {
                break Some(Arc::clone(page));
            }
            let (earlier, spans) = unread.remove(&id).ok_or_else(|| missing(id))?;
            chain.push((id, spans));
            next = earlier;
        };
        while let Some((id, spans)) = chain.pop() {
            let page = Page::new(before, spans).filter(|page| page.id() == id);
            let page = page.ok_or_else(|| Error::damaged("a page of spans", format!("{id} was changed")))?;
            self.0.insert(id, Arc::clone(&page));
            before = Some(page);
        }
        Ok(())
    }

    /// Makes the view that a row stands for.
    pub(super) fn view(&self, row: Row) -> Result<Spans, Error> {
        let (page, spans) = match row {
            Row::Listed(spans) => return Ok(spans.into_iter().collect()),
            Row::Paged(Paged { page, spans }) => (page, spans),
        };
        let page = self.0.get(&page).cloned().ok_or_else(|| missing(page))?;
        let why = "it lists more than a page";
        Spans::of_parts(Some(page), spans).ok_or_else(|| Error::damaged("a session's spans", why))
    }
}

fn missing(id: Digest) -> Error {
    Error::damaged("a page of spans", format!("{id} is missing"))
}

/// Writes the pages of a view that are not there yet.
pub(super) fn save(db: &Connection, scope: ScopeId, view: &Spans) -> Result<(), Error> {
    let mut next = view.pages();
    while let Some(page) = next {
        let before = page.before().map(|page| page.id().0);
        let mut insert = db
            .prepare_cached(
                "INSERT OR IGNORE INTO span_pages (scope, id, before, spans) VALUES (?1, ?2, ?3, ?4)",
            )
            .or_fault()?;
        let spans = json(&page.spans())?;
        if insert.execute(params![scope.0, page.id().0, before, spans]).or_fault()? == 0 {
            break;
        }
        next = page.before();
    }
    Ok(())
}

/// Deletes the pages that sessions do not see any more. It looks at all sessions only if there may be some.
pub(super) fn forget(db: &Connection, scope: ScopeId, old: &State, new: &State) -> Result<(), Error> {
    let mut left: Vec<&Arc<Page>> = Vec::new();
    for (number, session) in old.sessions.unshared(&new.sessions) {
        let Some(page) = session.spans.pages() else { continue };
        let now = new.sessions.get(number).and_then(|session| session.spans.pages());
        // Most views only grow.
        let mut still = std::iter::successors(now, |page| page.before()).take(2);
        if !still.any(|still| still.id() == page.id()) {
            left.push(page);
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    let seen = seen(new);
    for page in left {
        let mut next = Some(page);
        while let Some(page) = next.filter(|page| !seen.contains(&page.id())) {
            db.prepare_cached("DELETE FROM span_pages WHERE scope=?1 AND id=?2")
                .and_then(|mut delete| delete.execute(params![scope.0, page.id().0]))
                .or_fault()?;
            next = page.before();
        }
    }
    Ok(())
}

/// Lists the pages that sessions see.
fn seen(state: &State) -> BTreeSet<Digest> {
    let mut seen = BTreeSet::new();
    for session in state.sessions.values() {
        let mut next = session.spans.pages();
        while let Some(page) = next.filter(|page| seen.insert(page.id())) {
            next = page.before();
        }
    }
    seen
}

/// Counts the pages that no session sees.
pub(super) fn strays(db: &Connection, scope: ScopeId, state: &State) -> Result<usize, Error> {
    let seen = seen(state);
    let mut query = db.prepare_cached("SELECT id FROM span_pages WHERE scope=?1").or_fault()?;
    let mut rows = query.query([scope.0]).or_fault()?;
    let mut strays = 0;
    while let Some(row) = rows.next().or_fault()? {
        let id = digest(&row.get::<_, Vec<u8>>(0).map_err(fault)?)?;
        strays += usize::from(!seen.contains(&id));
    }
    Ok(strays)
}
