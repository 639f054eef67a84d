//! The nodes: processes of this program, each behind a proxy of its own to the database.

use super::clients::Target;
use super::history::{Action, Answer, ClientOutcome, Operation};
use super::same;
use anyhow::{Context as _, bail};
use segue_engine::clock::{Clock as _, SystemClock};
use segue_testing::postgres::{self, Durability};
use segue_testing::proxy::Proxy;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// How long a client waits for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// How long a client waits before it tries again.
const AGAIN: Duration = Duration::from_millis(100);

/// How long a cluster may take to be whole again.
const READY_MAX: Duration = Duration::from_secs(120);

/// A node.
struct Node {
    addr: SocketAddr,
    store: String,
    proxy: Option<Proxy>,
    judging: Judging,
    process: Mutex<Option<Child>>,
}

/// Whether nodes judge what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judging {
    /// Every message goes on where it was sent.
    Off,
    /// As configured by default.
    On,
}

/// Where the database is.
enum Database {
    /// It was started for this run.
    Own(Arc<Mutex<postgres::Cluster>>),
    /// It was there; commands hurt it.
    Given(Commands),
}

/// What hurts a database that was there.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// Takes the primary away, until another one leads.
    pub primary: Option<String>,
    /// Lets the primary crash, and start again where it is.
    pub restart: Option<String>,
    /// Fills the primary's disk for a while.
    pub disk: Option<String>,
}

/// How nodes reach the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wiring {
    /// Each through a proxy of its own, which can be cut.
    Proxied,
    /// Directly.
    Direct,
}

/// The cluster.
pub struct Cluster {
    nodes: Vec<Node>,
    database: Database,
    /// The store's URL, without a proxy.
    pub store: String,
    http: reqwest::Client,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cluster {
    /// Starts nodes on a store; without one, on a PostgreSQL server of its own.
    pub fn start(
        store: Option<&str>,
        count: usize,
        commands: Commands,
        wiring: Wiring,
        judging: Judging,
    ) -> anyhow::Result<Self> {
        let (store, database) = match store {
            Some(store) => (store.to_owned(), Database::Given(commands)),
            None => {
                let own = postgres::Cluster::start(Durability::Synced)?;
                let name = own.create()?;
                (own.url(&name), Database::Own(Arc::new(Mutex::new(own))))
            }
        };
        let nodes = (0..count).map(|_| Node::start(&store, wiring, judging));
        let nodes = nodes.collect::<anyhow::Result<Vec<_>>>()?;
        // A second one is refused, and not needed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(ANSWER_MAX).build()?;
        Ok(Self { nodes, database, store, http })
    }

    /// Returns how many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Kills a node, and starts it again.
    pub fn kill(&self, node: usize) -> anyhow::Result<()> {
        self.restart_ahead(node, 0)
    }

    /// Kills a node, and starts it again with another time.
    pub fn restart_ahead(&self, node: usize, ahead: i64) -> anyhow::Result<()> {
        self.node(node)?.run(ahead)
    }

    fn node(&self, node: usize) -> anyhow::Result<&Node> {
        self.nodes.get(node).context("there is no such node")
    }

    /// Starts nodes again that have ended by themselves, as a supervisor does.
    pub fn revive(&self) -> anyhow::Result<()> {
        for node in &self.nodes {
            let has_ended = match lock(&node.process).as_mut() {
                Some(process) => process.try_wait()?.is_some(),
                None => true,
            };
            if has_ended {
                node.run(0)?;
            }
        }
        Ok(())
    }

    /// Makes a node stand still.
    pub async fn pause(&self, node: usize) {
        self.signal(node, "-STOP").await;
    }

    /// Lets a node go on.
    pub async fn resume(&self, node: usize) {
        self.signal(node, "-CONT").await;
    }

    async fn signal(&self, node: usize, signal: &str) {
        let process = self.nodes.get(node).and_then(|node| lock(&node.process).as_ref().map(Child::id));
        if let Some(process) = process {
            // A process that was killed meanwhile needs none.
            drop(tokio::process::Command::new("kill").arg(signal).arg(process.to_string()).status().await);
        }
    }

    /// Takes the database away from a node.
    pub fn partition(&self, node: usize) {
        if let Some(proxy) = self.nodes.get(node).and_then(|node| node.proxy.as_ref()) {
            proxy.partition();
        }
    }

    /// Gives it back.
    pub fn heal(&self, node: usize) {
        if let Some(proxy) = self.nodes.get(node).and_then(|node| node.proxy.as_ref()) {
            proxy.heal();
        }
    }

    /// Takes the primary away: by the command that was given, or as a crash of the own server. Returns whether it was lost, and
    /// service is back.
    pub async fn lose_primary(&self) -> anyhow::Result<bool> {
        match &self.database {
            Database::Own(own) => {
                let own = Arc::clone(own);
                spawn_blocking(move || lock(&own).crash_and_restart(Durability::Synced)).await??;
                Ok(true)
            }
            Database::Given(commands) => command(commands.primary.as_deref(), "--primary-command").await,
        }
    }

    /// Lets the primary crash and start again where it is. Returns whether it did.
    pub async fn restart_primary(&self) -> anyhow::Result<bool> {
        match &self.database {
            Database::Own(_) => self.lose_primary().await,
            Database::Given(commands) => command(commands.restart.as_deref(), "--restart-command").await,
        }
    }

    /// Lets the database's disk be full for a while: by the command that was given, or by letting the writes of the own server
    /// fail.
    pub async fn fill_disk(&self, long: Duration) -> anyhow::Result<bool> {
        match &self.database {
            Database::Own(own) => {
                let failing = Arc::clone(own);
                spawn_blocking(move || lock(&failing).fail_writes()).await??;
                sleep(long).await;
                let own = Arc::clone(own);
                spawn_blocking(move || lock(&own).mend_writes(Durability::Synced)).await??;
                Ok(true)
            }
            Database::Given(commands) => command(commands.disk.as_deref(), "--disk-command").await,
        }
    }

    /// Waits until all nodes are ready.
    pub async fn ready(&self) -> anyhow::Result<()> {
        let ready = async {
            for node in &self.nodes {
                while !self.is_ready(node).await {
                    self.revive()?;
                    sleep(AGAIN).await;
                }
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(READY_MAX, ready).await.context("the nodes do not get ready")?
    }

    async fn is_ready(&self, node: &Node) -> bool {
        let answer = self.http.get(format!("http://{}/readyz", node.addr)).send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// Kills all nodes, and starts them again with the right time.
    pub fn restart_all(&self) -> anyhow::Result<()> {
        self.nodes.iter().try_for_each(|node| node.run(0))
    }

    /// Asks all nodes for the same, and says where they differ.
    pub async fn differences(&self, scopes: &[String]) -> anyhow::Result<Vec<String>> {
        same::differences(self.len(), scopes, async |node, scope, path| self.ask(node, scope, path).await)
            .await
    }

    async fn ask(&self, node: usize, scope: &str, path: &str) -> anyhow::Result<String> {
        let url = format!("http://{}/api/v1/scopes/{scope}/{path}", self.node(node)?.addr);
        let answer = self.http.get(url).send().await?;
        let status = answer.status();
        Ok(format!("{}{}", if status.is_success() { "" } else { status.as_str() }, answer.text().await?))
    }

    /// Ends the backends of all nodes in the database, as an administrator does. Returns whether that could be done.
    pub async fn terminate_backends(&self) -> anyhow::Result<bool> {
        let url = self.store.split_once('?').map_or(self.store.as_str(), |(url, _)| url);
        let Ok((client, connection)) = tokio_postgres::connect(url, tokio_postgres::NoTls).await else {
            return Ok(false);
        };
        let running = tokio::spawn(connection);
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE datname = current_database() AND application_name = 'segue'";
        let done = client.batch_execute(sql).await.is_ok();
        drop(client);
        // It has nothing more to do.
        drop(running.await);
        Ok(done)
    }

    fn request(&self, node: &Node, operation: &Operation) -> reqwest::RequestBuilder {
        let (base, scope) = (format!("http://{}/api/v1", node.addr), &operation.scope);
        let (text, id) = (&operation.text, &operation.id);
        let (request, body) = match &operation.action {
            Action::Message => {
                let body = json!({ "scope": scope, "text": text, "message_id": id });
                (self.http.post(format!("{base}/messages")), body)
            }
            Action::Reply { session } => {
                let body = json!({ "scope": scope, "session": session, "text": text, "message_id": id });
                (self.http.post(format!("{base}/replies")), body)
            }
            Action::Task { op } => {
                let body = match *op {
                    "start" => json!({ "task": text }),
                    "finish" => json!({ "summary": text }),
                    "note" => json!({ "text": text }),
                    _ => json!({}),
                };
                (self.http.post(format!("{base}/scopes/{scope}/task/{op}")), body)
            }
            Action::Erase { seq, .. } => {
                return self.http.delete(format!("{base}/scopes/{scope}/messages/{seq}"));
            }
        };
        request.header("content-type", "application/json").body(body.to_string())
    }

    /// Returns the milliseconds of processor time that the nodes have taken so far.
    pub fn cpu_ms(&self) -> f64 {
        let ids = self.nodes.iter().filter_map(|node| lock(&node.process).as_ref().map(Child::id));
        ids.map(segue_testing::processes::cpu_ms).sum()
    }

    /// Ends all nodes.
    pub fn stop(&self) {
        for node in &self.nodes {
            node.end();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Target for Cluster {
    async fn send(&self, node: usize, operation: &Operation) -> Answer {
        let Some(node) = self.nodes.get(node) else { return ClientOutcome::Failed.into() };
        let told = match self.request(node, operation).send().await {
            Ok(answer) if answer.status().is_success() => match answer.text().await {
                Ok(answer) => match answer_of(&answer) {
                    Some(answer) if answer.told == ClientOutcome::Acknowledged => return answer,
                    Some(answer) => answer.told,
                    None => ClientOutcome::Unknown,
                },
                Err(_) => ClientOutcome::Unknown,
            },
            Ok(answer) if answer.status().is_client_error() => ClientOutcome::Failed,
            Ok(_) => ClientOutcome::Unknown,
            // What was never sent was never done.
            Err(error) if error.is_connect() && operation.tries == 1 => ClientOutcome::Failed,
            Err(_) => ClientOutcome::Unknown,
        };
        sleep(AGAIN).await;
        told.into()
    }

    fn nodes(&self) -> usize {
        self.len()
    }

    fn now_us(&self) -> u64 {
        SystemClock.ticks_us()
    }
}

impl Node {
    fn start(store: &str, wiring: Wiring, judging: Judging) -> anyhow::Result<Self> {
        let addr = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let (store, proxy) = match wiring {
            Wiring::Proxied => behind_proxy(store)?,
            Wiring::Direct => (store.to_owned(), None),
        };
        let node = Self { addr, store, proxy, judging, process: Mutex::new(None) };
        node.run(0)?;
        Ok(node)
    }

    /// Starts the process, after the one before was killed.
    fn run(&self, ahead: i64) -> anyhow::Result<()> {
        self.end();
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["node", "--store", &self.store, "--addr", &self.addr.to_string()]);
        command.arg("--ahead").arg(ahead.to_string());
        if self.judging == Judging::On {
            command.arg("--judge");
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        *lock(&self.process) = Some(child);
        Ok(())
    }

    fn end(&self) {
        if let Some(mut process) = lock(&self.process).take() {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Reads what a node has answered. A refusal (P-10) is an answer, too: nothing was done.
fn answer_of(answer: &str) -> Option<Answer> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let told = match answer["action"] == "refused" {
        true => ClientOutcome::Failed,
        false => ClientOutcome::Acknowledged,
    };
    let session = answer["session"].as_str().map(str::to_owned);
    Some(Answer { told, seq: answer["seq"].as_u64(), session })
}

/// Puts a proxy before the database, if the store is one that is reached by a network.
fn behind_proxy(store: &str) -> anyhow::Result<(String, Option<Proxy>)> {
    let Some((scheme, rest)) = store.split_once("://") else { return Ok((store.to_owned(), None)) };
    let (authority, path) = rest.split_once('/').context("the store's URL names no database")?;
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let host = if host.contains(':') { host.to_owned() } else { format!("{host}:5432") };
    let Some(address) = host.to_socket_addrs()?.next() else { bail!("{host} is not known") };
    let proxy = Proxy::start(address)?;
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    Ok((format!("{scheme}://{user}127.0.0.1:{}/{path}", proxy.port()), Some(proxy)))
}

/// Runs a command. Returns whether it succeeded: a cluster that is still healing refuses, and the next time is soon enough.
async fn command(command: Option<&str>, option: &str) -> anyhow::Result<bool> {
    let Some(command) = command else { bail!("this fault needs {option}") };
    let status = tokio::process::Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .status()
        .await?;
    if !status.success() {
        eprintln!("{command}: {status}");
    }
    Ok(status.success())
}
