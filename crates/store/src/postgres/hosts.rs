//! Finding a server: each host of the URL, and each address of a host, has the same time to answer.

use super::fault::{fault_at, unavailable};
use super::target::Target;
use super::tls;
use crate::error::Error;
use std::net::IpAddr;
use std::time::Duration;
use tokio_postgres::config::{Config, Host, LoadBalanceHosts};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How many addresses of a host are tried.
const ADDRESSES_MAX: usize = 4;

/// The oldest server that is used.
const VERSION_MIN: u32 = 14;

/// The driver's end of a connection, which somebody has to run.
pub(super) type Driver = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// A server that the URL names.
struct Server {
    host: Host,
    address: Option<IpAddr>,
    port: u16,
}

impl Server {
    /// The host and the port, for messages.
    fn place(&self) -> String {
        match &self.host {
            Host::Tcp(name) => format!("{name}:{}", self.port),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        }
    }
}

/// Connects to the first server that answers and is of the wanted kind (`target_session_attrs`).
pub(super) async fn connect(target: &Target) -> Result<(Client, Driver), Error> {
    let tls = tls::connector(target.verification, target.root_certificates.as_deref())?;
    let mut failed: Vec<(String, Error)> = Vec::new();
    for server in servers(&target.config) {
        let place = server.place();
        let addresses = match addresses(&server, target.connect_max).await {
            Ok(addresses) => addresses,
            Err(error) => {
                failed.push((place, error));
                continue;
            }
        };
        for address in addresses {
            let config = config(&target.config, &server, address);
            let tried = tokio::time::timeout(target.connect_max, config.connect(tls.clone())).await;
            let error = match tried {
                Ok(Ok((client, driver))) => match too_old(&driver) {
                    None => return Ok((client, driver)),
                    Some(error) => error,
                },
                Ok(Err(error)) => fault_at(&place, &error),
                Err(_) => unavailable(
                    format!("PostgreSQL does not answer at {place}"),
                    "is the server stopped, or is a firewall between?",
                ),
            };
            failed.push((place.clone(), error));
        }
    }
    let told: Vec<String> = failed.iter().map(|(place, error)| format!("{place}: {error}")).collect();
    match failed.pop() {
        Some((_, alone)) if failed.is_empty() => Err(alone),
        _ => Err(unavailable("no PostgreSQL server of the store's URL can be used", told.join("; "))),
    }
}

/// Says so if a server is older than what Segue was made for.
fn too_old(driver: &Driver) -> Option<Error> {
    let version = driver.parameter("server_version")?;
    let major = version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u32>().ok()?;
    let why = format!("Segue needs PostgreSQL {VERSION_MIN} or later");
    (major < VERSION_MIN).then(|| unavailable(format!("the server is PostgreSQL {version}"), why))
}

/// Lists the servers of a URL in the order that they are to be tried in.
fn servers(config: &Config) -> Vec<Server> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let port = |at: usize| ports.get(at).or_else(|| ports.first()).copied().unwrap_or(5432);
    let server = |at: usize| {
        let address = addresses.get(at).copied();
        let named = address.map(|address| Host::Tcp(address.to_string()));
        Some(Server { host: hosts.get(at).cloned().or(named)?, address, port: port(at) })
    };
    let mut servers: Vec<Server> = (0..hosts.len().max(addresses.len())).filter_map(server).collect();
    if config.get_load_balance_hosts() == LoadBalanceHosts::Random && !servers.is_empty() {
        let begin = getrandom::u32().map_or(0, |random| random as usize % servers.len());
        servers.rotate_left(begin);
    }
    servers
}

/// Finds the addresses of a server; nothing where it is reached by a path.
async fn addresses(server: &Server, wait_max: Duration) -> Result<Vec<Option<IpAddr>>, Error> {
    let (Host::Tcp(name), None) = (&server.host, server.address) else { return Ok(vec![server.address]) };
    let unknown = |why: String| unavailable(format!("the address of {name} cannot be found"), why);
    match tokio::time::timeout(wait_max, tokio::net::lookup_host((name.as_str(), server.port))).await {
        Ok(Ok(found)) => Ok(found.map(|address| Some(address.ip())).take(ADDRESSES_MAX).collect()),
        Ok(Err(error)) => Err(unknown(format!("{error}: check the host in the store's URL"))),
        Err(_) => Err(unknown("the name server does not answer".to_owned())),
    }
}

/// Makes the settings for one address of one server.
fn config(all: &Config, server: &Server, address: Option<IpAddr>) -> Config {
    let mut one = Config::new();
    match &server.host {
        Host::Tcp(name) => drop(one.host(name)),
        #[cfg(unix)]
        Host::Unix(path) => drop(one.host_path(path)),
    }
    if let Some(address) = address {
        one.hostaddr(address);
    }
    if let Some(user) = all.get_user() {
        one.user(user);
    }
    if let Some(password) = all.get_password() {
        one.password(password);
    }
    if let Some(name) = all.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = all.get_options() {
        one.options(options);
    }
    if let Some(name) = all.get_application_name() {
        one.application_name(name);
    }
    if let Some(time) = all.get_tcp_user_timeout() {
        one.tcp_user_timeout(*time);
    }
    if let Some(time) = all.get_keepalives_interval() {
        one.keepalives_interval(time);
    }
    if let Some(count) = all.get_keepalives_retries() {
        one.keepalives_retries(count);
    }
    one.port(server.port)
        .ssl_mode(all.get_ssl_mode())
        .ssl_negotiation(all.get_ssl_negotiation())
        .keepalives(all.get_keepalives())
        .keepalives_idle(all.get_keepalives_idle())
        .target_session_attrs(all.get_target_session_attrs())
        .channel_binding(all.get_channel_binding());
    one
}
