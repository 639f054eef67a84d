//! A toy coding agent that works as 001 wants it: it edits a file, asks, is interrupted, crashes (on purpose) and goes
//! on where it was.
//!
//! ```text
//! cargo run --example coding_agent -- /tmp/workspace
//! ```
//!
//! Run it again after it crashed: it finds its task, its question and what was said meanwhile in the store.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to who runs it")]

use segue_core::task::state::{StateName, TaskState};
use segue_engine::config::Config;
use segue_engine::tasks::{TaskSession, Tasks};
use segue_engine::{Engine, Inbound};
use segue_store::Location;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Where to work, if no argument says it: a test runs this file as a module.
pub const WORKSPACE: &str = "CODING_AGENT_WORKSPACE";

struct Agent {
    engine: Arc<Engine>,
    tasks: Tasks,
    scope: segue_core::scope::Key,
    workspace: PathBuf,
}

/// Works until the task is done, or until it crashes.
pub fn main() -> ExitCode {
    let given = std::env::var_os(WORKSPACE).or_else(|| std::env::args_os().nth(1));
    let Some(workspace) = given.map(PathBuf::from) else {
        eprintln!("usage: coding_agent WORKSPACE");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Into::into);
    match runtime.and_then(|runtime| runtime.block_on(run(&workspace))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(workspace: &Path) -> Result<()> {
    std::fs::create_dir_all(workspace)?;
    let store = Location::Sqlite(workspace.join("segue.db")).open()?;
    let config = Config::load(vec![], &jiff::tz::TimeZone::UTC)?;
    let engine = Arc::new(Engine::open(store, config).await?);
    let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse()?;
    let tasks = Tasks::new(engine.clone(), scope.clone());
    let agent = Agent { engine, tasks, scope, workspace: workspace.to_owned() };
    match agent.tasks.active_session().await? {
        None => agent.begin().await,
        Some(session) => agent.go_on(&session).await,
    }
}

impl Agent {
    /// The person says something.
    async fn person(&self, text: &str) -> Result<StateName> {
        println!("person: {text}");
        let said = Inbound::user(self.scope.clone(), self.engine.now(), text);
        Ok(self.engine.receive(said).await?.state)
    }

    /// A new task: look at the file, make a plan, ask, and crash while waiting.
    async fn begin(&self) -> Result<()> {
        self.person("Add retry logic to the connect function").await?;
        let session = self.tasks.start_session("Add retry logic to the connect function").await?;
        self.write(&session, "fn connect() { dial() }\n").await?;
        session.observe_plan("Wrap dial() in a loop").await?;
        let question = "Fixed delay, or exponential backoff?";
        session.ask(question).await?;
        println!("agent: {question}");
        println!("(the agent crashes)");
        // No destructor runs: what is not in the store is gone.
        std::process::abort()
    }

    /// After the crash: the question is still there. The person answers, and interrupts the work.
    async fn go_on(&self, session: &TaskSession) -> Result<()> {
        let told = self.tasks.resume().await?;
        println!("agent: {}", told.notice.unwrap_or_default());
        if let TaskState::AwaitingUser { .. } = session.full_state().await? {
            self.person("Exponential backoff").await?;
        }
        self.write(session, "fn connect() { for n in 0..3 { dial(); wait(1 << n) } }\n").await?;
        // Somebody speaks between two steps; the agent looks, and takes it in.
        self.engine.interrupt(&self.scope, self.engine.now(), "make it 5 retries instead of 3").await?;
        for said in session.check_interrupts().await? {
            println!("person, meanwhile: {}", said.text.unwrap_or_default());
            session.observe_decision("5 retries").await?;
            self.write(session, "fn connect() { for n in 0..5 { dial(); wait(1 << n) } }\n").await?;
        }
        session.observe_command("cargo test", Some(0), b"test result: ok").await?;
        session.flush_step().await?;
        session.finish("Retries with exponential backoff, 5 at most; tests pass").await?;
        println!("agent: Done. Does this look good?");
        let state = self.person("Perfect, thanks!").await?;
        println!("(the task is {state})");
        for kept in self.engine.kept(&self.scope).await? {
            let commit = kept.commit;
            println!(
                "kept: {} ({} decisions, {} files)",
                commit.summary,
                commit.decisions.len(),
                commit.files.len()
            );
        }
        Ok(())
    }

    /// Writes the file, and says so.
    async fn write(&self, session: &TaskSession, content: &str) -> Result<()> {
        std::fs::create_dir_all(self.workspace.join("src"))?;
        std::fs::write(self.workspace.join("src/net.rs"), content)?;
        session.observe_file_write("src/net.rs", content.as_bytes()).await?;
        Ok(())
    }
}
