//! A PostgreSQL cluster in a temporary folder.

use crate::processes::{children, cpu_ms};
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a new cluster may take until it answers.
const READY_MAX: Duration = Duration::from_secs(60);

/// How often a server whose disk is mended is started.
const MENDED_MAX: u32 = 5;

/// The user that owns everything in the cluster. It has no password: the cluster listens on the loopback address only.
const USER: &str = "segue";

/// The password of a cluster that asks for one.
const PASSWORD: &str = "right";

/// The certificate of a cluster with TLS, signed by itself and made for `localhost`.
pub const CERTIFICATE: &str = include_str!("../certificate/server.crt");
const CERTIFICATE_KEY: &str = include_str!("../certificate/server.key");

/// How clients get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Trusted,
    Password,
    Tls,
}

/// Why a cluster could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// PostgreSQL is not installed.
    #[error("PostgreSQL's server programs are not on this machine: install the package postgresql")]
    Missing,
    /// A program failed.
    #[error("{program} failed: {why}")]
    Failed {
        /// The program.
        program: String,
        /// What it said.
        why: String,
    },
    /// The disk, a folder or a port is in the way.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether commits wait for the disk. Tests that kill the server need it, others are faster without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Commits wait for the disk.
    Synced,
    /// Commits do not wait.
    Fast,
}

/// A database of its own in the cluster that the tests of a process share. It is deleted at the end.
#[derive(Debug)]
pub struct Database {
    cluster: &'static Cluster,
    name: String,
    url: String,
}

impl Database {
    /// Returns the URL, as a store takes it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the cluster that it is in.
    pub fn cluster(&self) -> &'static Cluster {
        self.cluster
    }

    /// Runs SQL in it, as the owner of everything.
    pub fn psql(&self, sql: &str) -> Result<String, Error> {
        self.cluster.psql(&self.name, sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The whole cluster goes at the end of the process, so this is only to save space.
        drop(self.cluster.psql("postgres", &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)));
    }
}

/// Makes an empty database in the cluster that the tests of this process share; see [`or_skipped`].
pub fn database() -> Option<Database> {
    static SHARED: OnceLock<Result<Cluster, Error>> = OnceLock::new();
    let made = SHARED.get_or_init(|| Cluster::start(Durability::Fast)).as_ref();
    or_skipped(made.map_err(ToString::to_string).and_then(|cluster| {
        let name = cluster.create().map_err(|error| error.to_string())?;
        Ok(Database { cluster, url: cluster.url(&name), name })
    }))
}

/// Returns a server that was started. Nothing if it could not be: then the reason is printed, and the test is to be left out. Where
/// `SEGUE_SERVERS` is `required`, as in `scripts/check`, the test fails instead.
#[allow(clippy::panic, reason = "a test that cannot be run must not look as if it had passed")]
pub fn or_skipped<T, E: std::fmt::Display>(started: Result<T, E>) -> Option<T> {
    match started {
        Ok(server) => Some(server),
        Err(why) if std::env::var_os("SEGUE_SERVERS").is_some_and(|asked| asked == "required") => {
            panic!("{why}")
        }
        Err(why) => {
            eprintln!("skipped: {why}");
            None
        }
    }
}

/// A running PostgreSQL server with its own data, gone when it is dropped or the process ends.
#[derive(Debug)]
pub struct Cluster {
    bin: PathBuf,
    /// Closed with the process, whichever way it ends; see [`watch_over`].
    _alive: ChildStdin,
    folder: tempfile::TempDir,
    port: u16,
    owner: Option<Owner>,
    server: Child,
    databases: AtomicU32,
}

/// The account that runs the server where we are root: PostgreSQL refuses to run as root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    user: u32,
    group: u32,
}

impl Cluster {
    /// Starts a cluster on a free port and waits until it answers.
    pub fn start(durability: Durability) -> Result<Self, Error> {
        Self::begin(durability, Access::Trusted)
    }

    /// Starts a cluster whose user has a password: `right`.
    pub fn with_passwords() -> Result<Self, Error> {
        Self::begin(Durability::Fast, Access::Password)
    }

    /// Starts a cluster that offers TLS with [`CERTIFICATE`], and takes no other connections.
    pub fn with_tls() -> Result<Self, Error> {
        Self::begin(Durability::Fast, Access::Tls)
    }

    fn begin(durability: Durability, access: Access) -> Result<Self, Error> {
        let bin = find_binaries().ok_or(Error::Missing)?;
        let owner = owner()?;
        let folder = tempfile::Builder::new().prefix("segue-postgres-").tempdir()?;
        let data = folder.path().join("data");
        if let Some(owner) = owner {
            chown(folder.path(), Some(owner.user), Some(owner.group))?;
        }
        let mut initdb = program(&bin, "initdb", owner, folder.path());
        match access {
            Access::Trusted | Access::Tls => initdb.arg("--auth=trust"),
            Access::Password => {
                let file = folder.path().join("password");
                write_owned(&file, PASSWORD, owner)?;
                initdb.arg("--auth=scram-sha-256").arg("--pwfile").arg(file)
            }
        };
        let initdb = initdb
            .args(["--no-sync", "--encoding=UTF8", "--locale=C", "--username", USER, "--pgdata"])
            .arg(&data)
            .output()?;
        succeeded("initdb", &initdb)?;
        if access == Access::Tls {
            write_owned(&data.join("server.crt"), CERTIFICATE, owner)?;
            write_owned(&data.join("server.key"), CERTIFICATE_KEY, owner)?;
            write_owned(&data.join("postgresql.auto.conf"), "ssl = on\n", owner)?;
            write_owned(&data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n", owner)?;
        }
        let port = free_port()?;
        let alive = watch_over(&bin, owner, folder.path())?;
        let server = spawn(&bin, owner, folder.path(), port, durability)?;
        let mut cluster =
            Self { bin, _alive: alive, folder, port, owner, server, databases: AtomicU32::new(0) };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    /// Creates an empty database and returns its name.
    pub fn create(&self) -> Result<String, Error> {
        let name = format!("segue_{}", self.databases.fetch_add(1, Ordering::Relaxed) + 1);
        self.psql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(name)
    }

    /// Returns the process id of the server.
    pub fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Returns the URL of a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the URL of a database, with a password.
    pub fn url_with_password(&self, database: &str, password: &str) -> String {
        format!("postgres://{USER}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the milliseconds of processor time that the server's processes have taken so far.
    pub fn cpu_ms(&self) -> f64 {
        let server = self.server.id();
        children(server).into_iter().chain([server]).map(cpu_ms).sum()
    }

    /// Returns the port on the loopback address.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs SQL as the owner of everything and returns what it prints, unaligned, without headers.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String, Error> {
        self.psql_at(&self.url(database), sql)
    }

    /// Runs SQL at a URL, such as that of a pooler.
    pub fn psql_at(&self, url: &str, sql: &str) -> Result<String, Error> {
        let output = self
            .program("psql")
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"])
            .args(["--dbname", url, "--command", sql])
            .output()?;
        succeeded("psql", &output)?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn owner(&self) -> Option<Owner> {
        self.owner
    }

    pub(crate) fn program(&self, name: &str) -> Command {
        program(&self.bin, name, self.owner, self.folder.path())
    }

    pub(crate) fn write(&self, path: &Path, text: &str) -> Result<(), Error> {
        write_owned(path, text, self.owner)
    }

    /// Writes a database as SQL, as a backup does.
    pub fn dump(&self, database: &str) -> Result<String, Error> {
        let output = self
            .program("pg_dump")
            .args(["--host", "127.0.0.1", "--port", &self.port.to_string(), "--username", USER, database])
            .output()?;
        succeeded("pg_dump", &output)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Reads what [`dump`](Self::dump) has written into an empty database.
    pub fn restore(&self, database: &str, sql: &str) -> Result<(), Error> {
        let file = self.folder.path().join("restored.sql");
        write_owned(&file, sql, self.owner)?;
        self.psql(database, &format!("\\i {}", file.display())).map(drop)
    }

    /// Stops the server at once, as a crash does, and starts it again on the same data.
    pub fn crash_and_restart(&mut self, durability: Durability) -> Result<(), Error> {
        self.stop();
        self.server = spawn(&self.bin, self.owner, self.folder.path(), self.port, durability)?;
        self.wait_until_ready()
    }

    /// Lets every write behind the first 64 KB of a file fail, as a disk does that is full or broken: the limit for file sizes
    /// of the server's processes is set, which PostgreSQL meets like a full disk. It needs no rights that the server's owner
    /// has not.
    pub fn fail_writes(&self) -> Result<(), Error> {
        self.limit_files("65536")
    }

    /// Lets writes succeed again, and starts the server if it has given up.
    pub fn mend_writes(&mut self, durability: Durability) -> Result<(), Error> {
        // The server's processes come and go while it recovers.
        for _ in 0..MENDED_MAX {
            drop(self.limit_files("unlimited"));
            if self.server.try_wait()?.is_some() {
                self.server = spawn(&self.bin, self.owner, self.folder.path(), self.port, durability)?;
            }
            if self.wait_until_ready().is_ok() {
                return Ok(());
            }
        }
        self.wait_until_ready()
    }

    fn limit_files(&self, bytes: &str) -> Result<(), Error> {
        let server = self.server.id();
        // As the owner of the server: root itself may lack the right to limit somebody else's process.
        let limit = |process: u32| {
            let limit = format!("--fsize={bytes}:");
            program(Path::new(""), "prlimit", self.owner, self.folder.path())
                .args(["--pid", &process.to_string(), &limit])
                .output()
        };
        // The server first: what it forks from then on inherits the limit.
        succeeded("prlimit", &limit(server)?)?;
        for process in children(server) {
            // It may have ended meanwhile.
            limit(process)?;
        }
        Ok(())
    }

    fn wait_until_ready(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        while began.elapsed() < READY_MAX && self.server.try_wait()?.is_none() {
            let asked = self
                .program("psql")
                .args(["--no-psqlrc", "--quiet", "--host", "127.0.0.1", "--port", &self.port.to_string()])
                .args(["--username", USER, "--dbname", "postgres", "--command", "SELECT pg_sleep(0)"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()?;
            if asked.success() {
                return Ok(());
            }
            // Not in a tight loop: the server needs the processor more.
            Command::new("sleep").arg("0.1").status()?;
        }
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        Err(Error::Failed { program: "postgres".to_owned(), why: log })
    }

    /// Stops the server without waiting for its clients.
    fn stop(&mut self) {
        let stopped = self
            .program("pg_ctl")
            .args(["stop", "--mode=immediate", "--wait", "--silent", "--pgdata"])
            .arg(self.folder.path().join("data"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !stopped.is_ok_and(|status| status.success()) {
            // Nothing more can be done for it here.
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts a shell that stops the server and removes its folder when this process ends: it reads until nobody writes any more.
fn watch_over(bin: &Path, owner: Option<Owner>, folder: &Path) -> Result<ChildStdin, Error> {
    let script = "while read -r _; do :; done
        \"$0\" stop --mode=immediate --silent --pgdata \"$1/data\"; rm -rf \"$1\"";
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(bin.join("pg_ctl")).arg(folder).process_group(0);
    if let Some(owner) = owner {
        shell.uid(owner.user).gid(owner.group);
    }
    let mut shell = shell
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    shell.stdin.take().ok_or(Error::Missing)
}

fn spawn(
    bin: &Path,
    owner: Option<Owner>,
    folder: &Path,
    port: u16,
    durability: Durability,
) -> Result<Child, Error> {
    let log = fs::File::create(folder.join("log"))?;
    let sync = match durability {
        Durability::Synced => "on",
        Durability::Fast => "off",
    };
    let mut server = program(bin, "postgres", owner, folder);
    server.arg("-D").arg(folder.join("data")).args(["-h", "127.0.0.1", "-p", &port.to_string()]);
    server.arg("-k").arg(folder);
    for setting in [&format!("fsync={sync}"), &format!("synchronous_commit={sync}"), "max_connections=300"] {
        server.args(["-c", setting]);
    }
    Ok(server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?)
}

pub(crate) fn program(bin: &Path, name: &str, owner: Option<Owner>, folder: &Path) -> Command {
    let mut command = Command::new(bin.join(name));
    // Not the home of whoever runs the tests: its certificates may be unreadable for the server's account.
    command.current_dir(folder).env("HOME", folder).env("LC_ALL", "C").env("PGPASSWORD", PASSWORD);
    if let Some(owner) = owner {
        command.uid(owner.user).gid(owner.group);
    }
    command
}

/// Writes a file that belongs to the account of the server.
fn write_owned(path: &Path, text: &str, owner: Option<Owner>) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    if let Some(owner) = owner {
        chown(path, Some(owner.user), Some(owner.group))?;
    }
    Ok(())
}

fn succeeded(program: &str, output: &std::process::Output) -> Result<(), Error> {
    match output.status.success() {
        true => Ok(()),
        false => {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(Error::Failed { program: program.to_owned(), why })
        }
    }
}

/// Finds the folder of the newest server programs: where Debian puts them, else where the path says.
fn find_binaries() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, bin)| bin.join("postgres").exists())
        .collect();
    folders.sort();
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|folder| {
            ["postgres", "initdb", "pg_ctl", "psql"].iter().all(|name| folder.join(name).exists())
        })
    };
    folders.pop().map(|(_, bin)| bin).or_else(on_path)
}

/// Finds the account for the server if we are root: `postgres`, else `nobody`.
fn owner() -> Result<Option<Owner>, Error> {
    use std::os::unix::fs::MetadataExt;
    let probe = tempfile::tempfile()?;
    if probe.metadata()?.uid() != 0 {
        return Ok(None);
    }
    let accounts = fs::read_to_string("/etc/passwd")?;
    let find = |wanted: &str| {
        accounts.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            let user = fields.nth(1)?.parse().ok()?;
            let group = fields.next()?.parse().ok()?;
            (name == wanted).then_some(Owner { user, group })
        })
    };
    Ok(find("postgres").or_else(|| find("nobody")))
}

pub(crate) fn free_port() -> Result<u16, Error> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
