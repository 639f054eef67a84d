//! Transcripts of Claude Code: a line for each block of a message, with a `uuid`, in a folder that is named after the
//! workspace. Results of tools come as messages of the user; what the program itself puts in is marked `isMeta`, or stands
//! in tags. What a helper did on the side is a conversation of its own, in a file of its own or between the others.

use super::account::Verdict;
use super::blocks::{Content, text, time};
use super::branches::{Node, Weight, given_up};
use super::host_words::{Words, words};
use super::reading::{Place, Reader};
use super::transcript::{FileContext, Format, Home, Transcript, Unreadable};
use super::{GIVEN_UP, attachment};
use segue_core::message::{Message, MessageId, Reasoning, Role};
use segue_core::session::Title;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// What a helper is asked so that the next one starts faster. Nobody said it.
const WARM_UP: &str = "Warmup";

/// What the first look has found.
#[derive(Default)]
struct Survey {
    nodes: Vec<Node>,
    given_up: BTreeSet<usize>,
    /// A person's title, the program's, and its summary.
    titles: [Option<Title>; 3],
    summaries: Vec<(String, Title)>,
    folder: Option<String>,
    session: Option<String>,
    agent: Option<String>,
    /// How many messages are on the side, and how many are not.
    talk: [usize; 2],
    prompts: usize,
}

pub(super) struct ClaudeCode {
    /// What the file is called.
    name: String,
    survey: Survey,
    talks: Vec<Transcript>,
    main: Voice,
    sides: Vec<(Transcript, Voice)>,
    /// Which conversation on the side an entry is of, by its id or its helper's.
    side_of: HashMap<String, usize>,
    has_talk: bool,
    cleared: bool,
    /// The ids so far: one that is used again is another message.
    ids: HashMap<String, usize>,
}

/// What was said last in a conversation, as far as more can belong to it.
#[derive(Default)]
struct Voice {
    /// The message that the last lines were blocks of.
    open: Option<String>,
    /// What the model thought before it said something, and the message that it is a block of.
    thoughts: (Option<String>, Vec<Reasoning>),
}

fn is(value: &Value, name: &str) -> bool {
    value.get(name) == Some(&Value::Bool(true))
}

impl ClaudeCode {
    pub(super) fn new(context: &FileContext) -> Self {
        Self {
            name: context.name.clone(),
            survey: Survey::default(),
            talks: Vec::new(),
            main: Voice::default(),
            sides: Vec::new(),
            side_of: HashMap::new(),
            has_talk: false,
            cleared: false,
            ids: HashMap::new(),
        }
    }

    /// A file of one helper only is that helper's conversation.
    fn is_helpers_own(&self) -> bool {
        self.survey.talk[0] == 0
    }

    /// Makes a conversation of this file.
    fn talk(&self, id: Option<String>, parent: Option<String>) -> Transcript {
        let home = Home::workspace("claude-code", self.survey.folder.as_deref());
        Transcript { id, parent, home, ..Transcript::new(Format::ClaudeCode) }
    }

    /// Finds the conversation on the side that an entry belongs to: that of its helper, or of the entry before it.
    fn side(&mut self, value: &Value) -> usize {
        let agent = text(value, "agentId").map(|agent| format!("agent:{agent}"));
        let before = text(value, "parentUuid");
        let known = agent.as_deref().and_then(|agent| self.side_of.get(agent));
        let known = known.or_else(|| before.and_then(|id| self.side_of.get(id))).copied();
        let at = known.unwrap_or_else(|| {
            let session = self.survey.session.clone();
            let first = text(value, "agentId").or(text(value, "uuid")).unwrap_or("side").to_owned();
            let talk = self.talk(Some(first), session);
            self.sides.push((talk, Voice::default()));
            self.sides.len() - 1
        });
        let own = text(value, "uuid").map(str::to_owned);
        for key in agent.into_iter().chain(own) {
            self.side_of.insert(key, at);
        }
        at
    }

    fn message(&mut self, place: Place, value: &Value) -> Verdict {
        let Some(message) = value.get("message").filter(|message| message.is_object()) else {
            return Verdict::bad("it has no message");
        };
        let said = MessageRecord::of(value, message);
        if is(value, "isSidechain") && !self.is_helpers_own() {
            let at = self.side(value);
            let Some((talk, voice)) = self.sides.get_mut(at) else { return Verdict::left_out("side chain") };
            return voice.take(talk, place.line, said, &mut self.ids);
        }
        let is_real = matches!(said.words, Some(Words::Said(Role::User)) | None) && !said.by_the_host;
        if self.cleared && is_real {
            self.cleared = false;
            let first = self.talks.first().and_then(|talk| talk.id.clone()).unwrap_or_default();
            let id = format!("{first}/{}", self.talks.len() + 1);
            let next = self.talk(Some(id), Some(first));
            self.talks.push(next);
            self.main = Voice::default();
        }
        match &said.words {
            Some(Words::Clear(_)) if self.has_talk => self.cleared = true,
            _ if is_real => self.has_talk = true,
            _ => {}
        }
        match self.talks.last_mut() {
            Some(talk) => self.main.take(talk, place.line, said, &mut self.ids),
            None => Verdict::bad("there is no conversation"),
        }
    }

    fn note(&mut self, place: Place, value: &Value, role: Role, said: String) -> Verdict {
        let id = text(value, "uuid");
        let at = time(value.get("timestamp"));
        let talk = match is(value, "isSidechain") && !self.is_helpers_own() {
            true => {
                let at = self.side(value);
                self.sides.get_mut(at).map(|(talk, _)| talk)
            }
            false => self.talks.last_mut(),
        };
        let Some(talk) = talk else { return Verdict::bad("there is no conversation") };
        let (message_id, former) = ids(talk, id, "", &mut self.ids);
        talk.say(place.line, at, role, Message { message_id, ..Message::text(said) });
        set_former(talk, former);
        Verdict::Taken
    }
}

impl Reader for ClaudeCode {
    fn survey(&mut self, place: Place, value: &Value) {
        let survey = &mut self.survey;
        survey.nodes.extend(node(place.record, value));
        let own = |name| text(value, name).map(str::to_owned);
        survey.folder = survey.folder.take().or_else(|| own("cwd"));
        // A file that goes on from another one repeats its lines; the file's name is its own session.
        let session = own("sessionId");
        if survey.session.is_none() || session.as_deref() == Some(self.name.as_str()) {
            survey.session = session.or(survey.session.take());
        }
        let title = |name| text(value, name).and_then(Title::new);
        match text(value, "type").unwrap_or_default() {
            "user" | "assistant" => {
                let on_the_side = is(value, "isSidechain");
                survey.talk[usize::from(on_the_side)] += 1;
                survey.agent = survey.agent.take().or_else(|| own("agentId").filter(|_| on_the_side));
                let said = value.get("message").map(|message| MessageRecord::of(value, message));
                let is_prompt = said.is_some_and(|said| said.is_prompt());
                survey.prompts += usize::from(is_prompt);
            }
            "custom-title" => survey.titles[0] = title("customTitle").or(survey.titles[0].take()),
            "ai-title" => survey.titles[1] = title("aiTitle").or(survey.titles[1].take()),
            "summary" => {
                survey.summaries.extend(own("leafUuid").zip(title("summary")));
            }
            _ => {}
        }
    }

    fn surveyed(&mut self) -> Result<(), Unreadable> {
        self.survey.given_up = given_up(&self.survey.nodes);
        // Summaries at the head of a file are of other sessions; one of this session names an entry of it.
        let nodes = std::mem::take(&mut self.survey.nodes);
        let of_this = |leaf: &str| nodes.iter().any(|node| node.id == leaf);
        let summaries = std::mem::take(&mut self.survey.summaries);
        let own: Vec<(String, Title)> = summaries.into_iter().filter(|(leaf, _)| of_this(leaf)).collect();
        self.survey.titles[2] = own.last().map(|(_, title)| title.clone());
        self.survey.summaries = own;
        let session = self.survey.session.clone();
        let (id, parent) = match self.survey.agent.clone().filter(|_| self.is_helpers_own()) {
            // What a helper did is of the session that sent it.
            Some(agent) => (Some(agent), session),
            None => (session, None),
        };
        let mut talk = self.talk(id, parent);
        talk.title = self.survey.titles.iter().flatten().next().cloned();
        if self.is_helpers_own() && self.survey.prompts == 0 {
            talk.title = talk.title.or_else(|| helper_title(talk.id.as_deref()));
        }
        self.talks.push(talk);
        Ok(())
    }

    fn take(&mut self, place: Place, value: &Value) -> Verdict {
        if self.survey.given_up.contains(&place.record) {
            return Verdict::left_out(GIVEN_UP);
        }
        let kind = text(value, "type").unwrap_or_default();
        match kind {
            "user" | "assistant" => self.message(place, value),
            "custom-title" | "ai-title" => Verdict::left_out("title"),
            "summary" => {
                let leaf = text(value, "leafUuid").unwrap_or_default();
                let is_own = self.survey.summaries.iter().any(|(own, _)| own == leaf);
                Verdict::left_out(if is_own { "title" } else { "summary of another session" })
            }
            "attachment" => match attachment::read(value.get("attachment").unwrap_or(&Value::Null)) {
                Ok((role, said)) => self.note(place, value, role, said),
                Err(reason) => Verdict::LeftOut(reason),
            },
            "system" => {
                let said = text(value, "content").unwrap_or_default();
                match (text(value, "subtype"), words(said)) {
                    (Some("local_command"), Words::Host(role, said)) => self.note(place, value, role, said),
                    (Some("local_command"), Words::Clear(said)) => {
                        self.cleared = self.has_talk;
                        self.note(place, value, Role::System, said)
                    }
                    (Some(subtype), _) => Verdict::LeftOut(format!("system: {subtype}")),
                    (None, _) => Verdict::left_out("system: notice"),
                }
            }
            "progress" => {
                let of = value.get("data").and_then(|data| text(data, "type")).unwrap_or("progress");
                Verdict::LeftOut(format!("progress: {of}"))
            }
            "" => Verdict::bad("it has no type"),
            other => Verdict::LeftOut(other.to_owned()),
        }
    }

    fn talks(&mut self) -> &mut Vec<Transcript> {
        &mut self.talks
    }

    fn finish(&mut self) -> Result<(), Unreadable> {
        for (mut talk, _) in std::mem::take(&mut self.sides) {
            let is_prompt = |said: &super::Taken| said.role == Role::User && said.message.text != WARM_UP;
            if !talk.messages.iter().any(is_prompt) {
                talk.title = helper_title(talk.id.as_deref());
            }
            self.talks.push(talk);
        }
        Ok(())
    }
}

fn helper_title(id: Option<&str>) -> Option<Title> {
    let id: String = id.unwrap_or_default().chars().take(8).collect();
    Title::new(format!("Sub-agent {id}").trim_end())
}

/// Returns a record as a link of the chain. Of a person's words there can be another version, and of an answer as a whole;
/// results of tools, and what the program puts in, have none.
fn node(record: usize, value: &Value) -> Option<Node> {
    if is(value, "isSidechain") {
        return None;
    }
    let id = text(value, "uuid")?.to_owned();
    // A compaction begins a chain of its own, and says what it goes on from.
    let parent = text(value, "parentUuid").or(text(value, "logicalParentUuid")).map(str::to_owned);
    let message = value.get("message").filter(|message| message.is_object());
    let said = message.map(|message| MessageRecord::of(value, message));
    let (weight, rival) = match (text(value, "type"), &said) {
        (Some("assistant"), Some(said)) => (Weight::Talk, said.group.clone().map(|of| ("assistant", of))),
        (Some("user"), Some(said)) if !said.content.results.is_empty() => (Weight::Talk, None),
        (Some("user"), Some(said)) => match (said.by_the_host, &said.words) {
            (false, Some(Words::Said(Role::User))) => (Weight::Talk, Some(("user", id.clone()))),
            _ => (Weight::Aside, None),
        },
        _ => (Weight::Aside, None),
    };
    Some(Node { record, weight, id, parent, rival })
}

/// A line of a message.
struct MessageRecord<'a> {
    value: &'a Value,
    content: Content,
    /// What the text of a user's line is; nothing for an agent's.
    words: Option<Words>,
    /// The program itself has put it in.
    by_the_host: bool,
    /// The message that an agent's line is a block of.
    group: Option<String>,
    model: String,
}

impl<'a> MessageRecord<'a> {
    fn of(value: &'a Value, message: &Value) -> Self {
        let content = Content::of(message.get("content"));
        let is_agent = text(value, "type") == Some("assistant");
        let by_the_host =
            is(value, "isMeta") || is(value, "isCompactSummary") || is(value, "isApiErrorMessage");
        Self {
            value,
            words: (!is_agent).then(|| words(&content.texts.join("\n"))),
            content,
            by_the_host,
            group: text(message, "id").filter(|_| is_agent).map(str::to_owned),
            model: text(message, "model").unwrap_or_default().to_owned(),
        }
    }

    /// Tells whether a person asked something.
    fn is_prompt(&self) -> bool {
        let said = self.content.texts.iter().any(|text| !text.trim().is_empty() && text != WARM_UP);
        said && !self.by_the_host && self.words == Some(Words::Said(Role::User))
    }
}

impl Voice {
    /// Adds thoughts to those of the same message that nothing has come of yet.
    fn think(&mut self, of: Option<&str>, more: Vec<Reasoning>) -> Vec<Reasoning> {
        let (before, thoughts) = std::mem::take(&mut self.thoughts);
        self.thoughts.0 = of.map(str::to_owned);
        let same = of.is_some() && before.as_deref() == of;
        thoughts.into_iter().filter(|_| same).chain(more).collect()
    }

    fn take(
        &mut self,
        talk: &mut Transcript,
        line: usize,
        said: MessageRecord<'_>,
        seen: &mut HashMap<String, usize>,
    ) -> Verdict {
        let MessageRecord { value, mut content, words, by_the_host, group, model } = said;
        let (at, uuid) = (time(value.get("timestamp")), text(value, "uuid"));
        let signed: Vec<Reasoning> = std::mem::take(&mut content.reasoning);
        let signed: Vec<Reasoning> =
            signed.into_iter().map(|one| Reasoning { model: model.clone(), ..one }).collect();
        let is_thought = !signed.is_empty();
        let reasoning = self.think(group.as_deref(), signed);
        for ((of, said), part) in content.results.iter().zip(1..) {
            let (message_id, former) = ids(talk, uuid, &format!("/{part}"), seen);
            let said = Message { message_id, tool_call_id: Some(of.clone()), ..Message::text(said.as_str()) };
            talk.say(line, at, Role::Tool, said);
            set_former(talk, former);
        }
        let is_result = !content.results.is_empty();
        let role = match &words {
            _ if by_the_host => Role::System,
            None => Role::Assistant,
            Some(Words::Said(role) | Words::Host(role, _)) => *role,
            Some(Words::Clear(_)) => Role::System,
            Some(Words::Nothing(why)) if !is_result => return Verdict::left_out(*why),
            Some(Words::Nothing(_)) => return Verdict::Taken,
        };
        if let Some(Words::Host(_, said) | Words::Clear(said)) = words {
            content.texts = vec![said];
        }
        let Some(said) = content.message() else {
            self.thoughts.1 = reasoning;
            return match (is_result || is_thought, role) {
                (true, _) => Verdict::Taken,
                (false, Role::Assistant) => Verdict::left_out("thinking without a signature"),
                (false, _) => Verdict::left_out("empty message"),
            };
        };
        let reasoning = if role == Role::Assistant { reasoning } else { Vec::new() };
        let (message_id, former) = ids(talk, uuid, "", seen);
        let said = Message { message_id, reasoning, ..said };
        let group = group.filter(|_| role == Role::Assistant);
        let goes_on = group.is_some() && group == self.open;
        self.open = group;
        match talk.assistant().filter(|_| goes_on) {
            Some(taken) => {
                taken.line = line;
                taken.join(said);
            }
            None => talk.say(line, at, role, said),
        }
        set_former(talk, former);
        Verdict::Taken
    }
}

/// Makes the id of a message: the session's and the entry's. Sessions repeat entries of each other, and stay several; an
/// entry's id that comes twice in a file is two messages. The second one is what earlier versions of Segue made.
fn ids(
    talk: &Transcript,
    uuid: Option<&str>,
    part: &str,
    seen: &mut HashMap<String, usize>,
) -> (Option<MessageId>, Option<MessageId>) {
    let Some(uuid) = uuid else { return (None, None) };
    let session = talk.id.as_deref().unwrap_or_default();
    let nth = seen.entry(format!("{session}:{uuid}{part}")).or_default();
    *nth += 1;
    let again = if *nth > 1 { format!("~{nth}") } else { String::new() };
    let id = |text: String| Some(MessageId(text));
    let former = id(format!("import:claude-code:{uuid}{part}")).filter(|_| *nth == 1);
    (id(format!("import:claude-code:{session}:{uuid}{part}{again}")), former)
}

fn set_former(talk: &mut Transcript, former: Option<MessageId>) {
    if let Some(taken) = talk.messages.last_mut() {
        taken.former = former;
    }
}
