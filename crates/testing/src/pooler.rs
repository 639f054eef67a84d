//! A PgBouncer in front of a PostgreSQL cluster, which gives each transaction another connection.

use crate::postgres::{Cluster, Error, program};
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// How often a new pooler is asked whether it listens.
const TRIES_MAX: u32 = 200;

/// What a pooler does with settings that a client asks for when it connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartupOptions {
    /// The connection is refused.
    Refused,
    /// They are dropped without a word.
    Dropped,
}

/// A running PgBouncer, gone when it is dropped.
#[derive(Debug)]
pub struct Pooler {
    process: Child,
    port: u16,
}

impl Pooler {
    /// Starts a pooler that has so many connections for everybody together.
    pub fn start(cluster: &Cluster, connections: u32, options: StartupOptions) -> Result<Self, Error> {
        let name = "pgbouncer";
        let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"].map(Path::new);
        let Some(bin) = folders.into_iter().find(|folder| folder.join(name).exists()) else {
            return Err(Error::Failed {
                program: name.to_owned(),
                why: "it is not on this machine".to_owned(),
            });
        };
        let (port, folder) = (crate::postgres::free_port()?, cluster.folder());
        let ignored = match options {
            StartupOptions::Refused => "",
            StartupOptions::Dropped => "ignore_startup_parameters = options\n",
        };
        // Everybody gets in, as the owner of everything.
        let settings = format!(
            "[databases]\n* = user=segue host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {connections}\n\
             max_client_conn = 500\n{ignored}logfile = {}\n",
            cluster.port(),
            folder.join("pooler.log").display(),
        );
        let file = folder.join(format!("pooler-{port}.ini"));
        cluster.write(&file, &settings)?;
        let mut process = program(bin, name, cluster.owner(), folder)
            .arg("--quiet")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        for _ in 0..TRIES_MAX {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(Self { process, port });
            }
            // Not in a tight loop: the pooler needs the processor more.
            Command::new("sleep").arg("0.05").status()?;
        }
        // It ends with its reason in the log.
        let _ = (process.kill(), process.wait());
        let why = fs::read_to_string(folder.join("pooler.log")).unwrap_or_default();
        Err(Error::Failed { program: name.to_owned(), why })
    }

    /// Returns the port on the loopback address.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = (self.process.kill(), self.process.wait());
    }
}
