//! Taking a transcript over, part by part.

use super::files::Found;
use super::worktree::home_of;
use anyhow::Context as _;
use indicatif::ProgressBar;
use segue_core::entry::Seq;
use segue_core::message::{MessageId, ReplyEnd, Role};
use segue_core::scope;
use segue_core::session::{Id, Key};
use segue_engine::Engine;
use segue_engine::port::{Account, Bad, Format, Home, Importing, Part, Reading, Taken};
use segue_engine::route::route;
use std::collections::BTreeMap;

/// What marks the end of a text that was too long.
const CUT_MARK: &str = "\n[segue: cut off here; the whole is in the file that was imported]";

/// The longest id that a message without one is given, in bytes.
const OWN_ID_BYTES_MAX: usize = 128;

/// What became of one conversation.
pub struct ImportedConversation {
    pub id: Option<String>,
    pub parent: Option<String>,
    pub title: Option<String>,
    pub session: Option<Key>,
    pub taken: usize,
    pub known: usize,
    /// How many of those that were taken had been deleted here.
    pub back: usize,
}

/// What became of a transcript.
pub struct Done {
    pub format: Format,
    pub talks: Vec<ImportedConversation>,
    pub account: Account,
    /// Messages that cannot be kept as they are.
    pub unfit: Vec<Bad>,
}

impl Done {
    pub fn sum(&self, of: impl Fn(&ImportedConversation) -> usize) -> usize {
        self.talks.iter().map(of).sum()
    }
}

/// A conversation on its way.
struct Road {
    importing: Importing,
    at_home: usize,
    held: BTreeMap<Seq, String>,
    /// The scope that its ids are of, where it goes to another one.
    from: Option<scope::Key>,
}

/// Takes a transcript over, as far as it was not before.
pub async fn take_over(
    engine: &Engine,
    file: &Found,
    scope: Option<&scope::Key>,
    bar: &ProgressBar,
) -> anyhow::Result<Done> {
    let mut reading = Reading::open(file.format, file.open(bar)?, &file.context()?, engine.now())?;
    let mut roads: BTreeMap<usize, Road> = BTreeMap::new();
    let mut unfit = Vec::new();
    while let Some(Part { talk, mut messages }) = reading.part()? {
        let road = match roads.entry(talk) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                new.insert(begin(engine, &mut reading, talk, scope).await?)
            }
        };
        leave_out_unfit(engine, &mut messages, &mut unfit);
        let before = messages.len();
        messages.retain(|taken| {
            let same = |seq| road.held.get(&seq) == Some(&taken.message.text);
            !taken.seq.is_some_and(same)
        });
        road.at_home += before - messages.len();
        if let Some(from) = &road.from {
            rename_ids(engine, from, &mut messages);
        }
        engine.import_more(&mut road.importing, messages).await?;
    }
    let mut talks = Vec::new();
    for (talk, road) in roads {
        let Some(about) = reading.about(talk) else { continue };
        let (title, pins) = (about.title.clone(), about.pins.take());
        let (id, parent) = (about.id.clone(), about.parent.clone());
        let named = title.as_ref().map(|title| title.as_str().to_owned());
        let imported = engine.import_end(road.importing, title, pins).await?;
        talks.push(ImportedConversation {
            id,
            parent,
            title: named,
            session: imported.session,
            taken: imported.taken,
            known: imported.known + road.at_home,
            back: imported.back,
        });
    }
    Ok(Done { format: file.format, talks, account: reading.account().clone(), unfit })
}

async fn begin(
    engine: &Engine,
    reading: &mut Reading,
    talk: usize,
    scope: Option<&scope::Key>,
) -> anyhow::Result<Road> {
    let about = reading.about(talk).context("the file has lost a conversation")?;
    let repository = match &about.home {
        Home::Folder { folder, .. } => home_of(engine, folder).await?,
        Home::Scope(_) | Home::Address(_) | Home::Unknown => None,
    };
    let home = match &about.home {
        Home::Scope(scope) => Some(scope.clone()),
        home => home.address(|_| repository.clone()).map(|address| route(&engine.config().routing, &address)),
    };
    let (format, session) = (about.format, about.session_id);
    let scope = scope.cloned().or(home.clone());
    let scope = scope.context("the file names no scope: say where it goes with --scope KEY")?;
    let held = held(engine, &scope, session).await?;
    let from = home.filter(|home| format == Format::Segue && *home != scope);
    Ok(Road { importing: Importing::new(scope), at_home: 0, held, from })
}

/// Reads what the session that was exported still holds.
async fn held(
    engine: &Engine,
    scope: &scope::Key,
    session: Option<Id>,
) -> anyhow::Result<BTreeMap<Seq, String>> {
    let Some(state) = engine.store().load(scope).await? else { return Ok(BTreeMap::new()) };
    let is_it = |id: Id| session == Some(id);
    let Some(number) = state.sessions.iter().find(|(_, s)| is_it(s.id)).map(|(number, _)| *number) else {
        return Ok(BTreeMap::new());
    };
    let held = engine.all_messages(&state, number).await?;
    Ok(held.into_iter().map(|told| (told.seq, told.text)).collect())
}

/// Leaves out what a message could not be either. A result or a note of the host that is too long is cut: its call must not
/// stand alone.
fn leave_out_unfit(engine: &Engine, messages: &mut Vec<Taken>, unfit: &mut Vec<Bad>) {
    let max = engine.config().limits.message_bytes_max;
    let ids_max = engine.config().limits.message_id_bytes_max;
    messages.retain_mut(|taken| {
        let may_be_cut = matches!(taken.role, Role::Tool | Role::System);
        let besides = taken.message.bytes() - taken.message.text.len() + OWN_ID_BYTES_MAX;
        if may_be_cut && taken.message.text.len() + besides > max {
            let room = max.saturating_sub(CUT_MARK.len() + besides);
            let text = &taken.message.text;
            let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            taken.message.text = format!("{}{CUT_MARK}", text.get(..end).unwrap_or_default());
        }
        if taken.message.bytes() > max {
            // What was thought is worth less than what was said.
            taken.message.reasoning.clear();
        }
        let message = &taken.message;
        let bytes = message.bytes();
        let id_bytes = message.message_id.as_ref().map_or(0, |id| id.0.len());
        let says_none = message.end == ReplyEnd::Failed;
        let may_be_empty = taken.role == Role::Tool || !message.tool_calls.is_empty() || says_none;
        let why = if bytes > max {
            format!("the message has {bytes} bytes, at most {max} are taken")
        } else if id_bytes > ids_max {
            format!("the message id has {id_bytes} bytes, at most {ids_max} are taken")
        } else if message.text.trim().is_empty() && !may_be_empty {
            "the message is empty".to_owned()
        } else {
            return true;
        };
        unfit.push(Bad { line: taken.line, why });
        false
    });
}

/// Gives messages that go to another scope other ids: a channel numbers the messages of each chat from 1,
/// and a message must not pass for one of the other chat.
fn rename_ids(engine: &Engine, home: &scope::Key, messages: &mut [Taken]) {
    let max = engine.config().limits.message_id_bytes_max;
    for taken in messages {
        let id = taken.message.message_id.take();
        let id = id.map(|id| MessageId(format!("import:{home}:{}", id.0)));
        // Without an id that fits it gets one by its number.
        let by_number = || MessageId(format!("import:segue:{}", taken.seq.map_or(0, |seq| seq.0)));
        taken.message.message_id = Some(id.filter(|id| id.0.len() <= max).unwrap_or_else(by_number));
    }
}
