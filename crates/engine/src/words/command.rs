//! The slash commands, as people type them.

/// A slash command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Command {
    /// Starts a new session.
    New,
    /// The same.
    Reset,
    /// Takes back the last boundary.
    Undo,
    /// Goes forward again.
    Redo,
    /// Lists the sessions.
    SessionList,
    /// Makes an older session latest again.
    SessionResume,
    /// Lists an archived session again.
    SessionRestore,
    /// Moves the last exchange to another session.
    SessionMove,
    /// Shows a session.
    SessionShow,
    /// Gives a session a title.
    SessionRename,
    /// Starts a session with the past of another one.
    SessionFork,
    /// Moves the later part of a session to a new one.
    SessionSplit,
    /// Keeps a session, whatever its age.
    SessionKeep,
    /// Drops a session.
    SessionDelete,
    /// Answers a question: it goes on.
    Continue,
    /// Answers a question: it starts fresh.
    Fresh,
    /// Answers a question: it belongs to the older session.
    Older,
    /// Gives the session a control model of its own.
    Control,
    /// Lists the agents.
    AgentList,
    /// Shows an agent.
    AgentShow,
    /// Changes to another agent.
    AgentUse,
    /// Lists the skills of the session.
    Skills,
    /// Shows a skill.
    Skill,
    /// Takes the skills in anew.
    ReloadSkills,
    /// Takes the persona in anew.
    ReloadPersona,
    /// Tells or changes the model that answers.
    Model,
    /// Looks into earlier sessions.
    Recall,
    /// Tells where the conversation stands.
    Status,
    /// Tells why the last messages went where they went.
    Why,
    /// Lists the commands.
    Help,
}

impl Command {
    /// All commands, in the order of `/help`.
    pub const ALL: [Self; 30] = [
        Self::New,
        Self::Reset,
        Self::Undo,
        Self::Redo,
        Self::SessionList,
        Self::SessionResume,
        Self::SessionRestore,
        Self::SessionMove,
        Self::SessionShow,
        Self::SessionRename,
        Self::SessionFork,
        Self::SessionSplit,
        Self::SessionKeep,
        Self::SessionDelete,
        Self::Continue,
        Self::Fresh,
        Self::Older,
        Self::Control,
        Self::AgentList,
        Self::AgentShow,
        Self::AgentUse,
        Self::Skills,
        Self::Skill,
        Self::ReloadSkills,
        Self::ReloadPersona,
        Self::Model,
        Self::Recall,
        Self::Status,
        Self::Why,
        Self::Help,
    ];

    /// Returns how the command is typed, without what it is given.
    pub fn name(self) -> &'static str {
        let syntax = self.syntax();
        let end = syntax
            .find(" [")
            .into_iter()
            .chain(syntax.find(" N"))
            .chain(syntax.find(" M"))
            .chain(syntax.find(" QUERY"))
            .min();
        end.and_then(|end| syntax.get(..end)).unwrap_or(syntax)
    }

    /// Returns how the command is typed, with what it is given: `N` is the number of a session, `M`
    /// the number of a message.
    pub fn syntax(self) -> &'static str {
        match self {
            Self::New => "/new [MESSAGE]",
            Self::Reset => "/reset [MESSAGE]",
            Self::Undo => "/undo",
            Self::Redo => "/redo",
            Self::SessionList => "/session list [all]",
            Self::SessionRestore => "/session restore N",
            Self::SessionMove => "/session move N",
            Self::SessionResume => "/session resume N",
            Self::SessionShow => "/session show [N]",
            Self::SessionRename => "/session rename [N] TITLE",
            Self::SessionFork => "/session fork [M]",
            Self::SessionSplit => "/session split M",
            Self::SessionKeep => "/session keep N [off]",
            Self::SessionDelete => "/session delete N",
            Self::Continue => "/continue",
            Self::Fresh => "/fresh",
            Self::Older => "/older",
            Self::Control => "/control [NAME]",
            Self::AgentList => "/agent list",
            Self::AgentShow => "/agent show [NAME]",
            Self::AgentUse => "/agent use NAME",
            Self::Skills => "/skills",
            Self::Skill => "/skill NAME",
            Self::ReloadSkills => "/reload_skills",
            Self::ReloadPersona => "/reload_persona",
            Self::Model => "/model [NAME]",
            Self::Recall => "/recall QUERY",
            Self::Status => "/status",
            Self::Why => "/why [COUNT]",
            Self::Help => "/help",
        }
    }
}
