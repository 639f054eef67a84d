//! The nodes: processes of this program, each behind a proxy of its own to the database.

use super::clients::Target;
use super::history::{Operation, Told};
use anyhow::{Context as _, bail};
use segue_engine::clock::{Clock as _, SystemClock};
use segue_testing::postgres::{self, Durability};
use segue_testing::proxy::Proxy;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
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
    process: Mutex<Option<Child>>,
}

/// Where the database is.
enum Database {
    /// It was started for this run.
    Own(Mutex<postgres::Cluster>),
    /// It was there; commands hurt it.
    Given { primary: Option<String>, disk: Option<String> },
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
        primary: Option<String>,
        disk: Option<String>,
    ) -> anyhow::Result<Self> {
        let (store, database) = match store {
            Some(store) => (store.to_owned(), Database::Given { primary, disk }),
            None => {
                let own = postgres::Cluster::start(Durability::Synced)?;
                let name = own.create()?;
                (own.url(&name), Database::Own(Mutex::new(own)))
            }
        };
        let nodes = (0..count).map(|_| Node::start(&store)).collect::<anyhow::Result<Vec<_>>>()?;
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

    /// Takes the primary away: by the command that was given, or as a crash of the own server.
    pub async fn lose_primary(&self) -> anyhow::Result<()> {
        match &self.database {
            Database::Own(own) => Ok(lock(own).crash_and_restart(Durability::Synced)?),
            Database::Given { primary, .. } => command(primary.as_deref(), "--primary-command").await,
        }
    }

    /// Fills the database's disk, by the command that was given.
    pub async fn fill_disk(&self) -> anyhow::Result<()> {
        match &self.database {
            Database::Own(_) => command(None, "--store and --disk-command").await,
            Database::Given { disk, .. } => command(disk.as_deref(), "--disk-command").await,
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

    /// Asks all nodes for the same, and says where they differ.
    pub async fn differences(&self, scopes: &[String]) -> anyhow::Result<Vec<String>> {
        let mut wrong = Vec::new();
        for scope in scopes {
            for what in ["head", "sessions"] {
                let mut answers = Vec::new();
                for node in &self.nodes {
                    let url = format!("http://{}/api/v1/scopes/{scope}/{what}", node.addr);
                    answers.push(self.http.get(url).send().await?.text().await?);
                }
                if answers.windows(2).any(|pair| pair[0] != pair[1]) {
                    wrong.push(format!("{scope}: the nodes do not tell the same about its {what}"));
                }
            }
        }
        Ok(wrong)
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
    async fn send(&self, node: usize, operation: &Operation) -> Told {
        let Some(node) = self.nodes.get(node) else { return Told::Failed };
        let body: Value =
            json!({ "scope": operation.scope, "text": operation.text, "message_id": operation.id });
        let request = self.http.post(format!("http://{}/api/v1/messages", node.addr));
        let request = request.header("content-type", "application/json").body(body.to_string());
        let told = match request.send().await {
            Ok(answer) if answer.status().is_success() => return Told::Acknowledged,
            Ok(answer) if answer.status().is_client_error() => Told::Failed,
            Ok(_) => Told::Unknown,
            // What was never sent was never done.
            Err(error) if error.is_connect() && operation.tries == 1 => Told::Failed,
            Err(_) => Told::Unknown,
        };
        sleep(AGAIN).await;
        told
    }

    fn nodes(&self) -> usize {
        self.len()
    }

    fn now_us(&self) -> u64 {
        SystemClock.ticks_us()
    }
}

impl Node {
    fn start(store: &str) -> anyhow::Result<Self> {
        let addr = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let (store, proxy) = behind_proxy(store)?;
        let node = Self { addr, store, proxy, process: Mutex::new(None) };
        node.run(0)?;
        Ok(node)
    }

    /// Starts the process, after the one before was killed.
    fn run(&self, ahead: i64) -> anyhow::Result<()> {
        self.end();
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["node", "--store", &self.store, "--addr", &self.addr.to_string()]);
        command.arg("--ahead").arg(ahead.to_string());
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

async fn command(command: Option<&str>, option: &str) -> anyhow::Result<()> {
    let Some(command) = command else { bail!("this fault needs {option}") };
    let status = tokio::process::Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .await?;
    if !status.success() {
        // A cluster that is still healing refuses; the next time is soon enough.
        eprintln!("{command}: {status}");
    }
    Ok(())
}
