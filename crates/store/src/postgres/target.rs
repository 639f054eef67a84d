//! What a store's URL says.

use super::tls::Verification;
use crate::error::Error;
use crate::url::without_password;
use std::time::Duration;
use tokio_postgres::config::Config;

/// How many connections a node uses, if the URL does not say.
const CONNECTIONS: usize = 16;

/// The most connections that a URL may ask for: a server has some hundreds for all nodes together.
const CONNECTIONS_MAX: usize = 512;

/// How long it may take to connect to one server, its greeting included.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// How long sent bytes may go unacknowledged, and how soon an idle connection is probed: a server that has vanished without a
/// word is noticed within this time, and within twice of it.
const VANISHED_AFTER: Duration = Duration::from_secs(10);
const PROBE_EVERY: Duration = Duration::from_secs(3);
const PROBES_MAX: u32 = 3;

/// What every connection is set to. A server that cancels a statement while it waits for its standby acknowledges a commit that
/// a failover loses: so it must not cancel, and it is this side that stops waiting. The guard by the head needs each statement to
/// see what was committed before it. Warnings must come through: by one the server says that it has stopped waiting for its standby.
const SETTINGS: &str =
    "-c statement_timeout=0 -c default_transaction_isolation=read\\ committed -c client_min_messages=warning";

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statements {
    /// Prepared once for each connection.
    Prepared,
    /// Sent whole each time, for poolers that give each transaction another connection.
    Unnamed,
}

/// What a store's URL says.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) config: Config,
    pub(super) connections: usize,
    pub(super) verification: Verification,
    pub(super) root_certificates: Option<String>,
    pub(super) statements: Statements,
    /// How long it may take to connect to one server.
    pub(super) connect_max: Duration,
    /// How long an answer may take.
    pub(super) answer_max: Duration,
    /// The URL without its password, for messages.
    pub(super) shown: String,
}

impl Target {
    /// Reads a URL. Besides what PostgreSQL's own URLs have: `pool=N`, `answer_timeout=SECONDS`, `statements=unnamed`.
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let shown = without_password(url);
        let wrong = |why: String| Error::Invalid { what: format!("the store's URL {shown}"), why };
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut connections, mut root_certificates) = (CONNECTIONS, None);
        let (mut statements, mut answer_max) = (Statements::Prepared, ANSWER_MAX);
        let mut verification = Verification::Nothing;
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("pool", count)) => {
                    let count = count.parse().ok().filter(|count| (1..=CONNECTIONS_MAX).contains(count));
                    connections = count
                        .ok_or_else(|| wrong(format!("pool is a number from 1 to {CONNECTIONS_MAX}")))?;
                }
                Some(("answer_timeout", seconds)) => {
                    let seconds = seconds.parse().ok().filter(|seconds| *seconds > 0);
                    let seconds = seconds.ok_or_else(|| wrong("answer_timeout is in seconds".to_owned()))?;
                    answer_max = Duration::from_secs(seconds);
                }
                Some(("sslrootcert", file)) => root_certificates = Some(file.replace("%2F", "/")),
                Some(("sslmode", mode @ ("verify-ca" | "verify-full"))) => {
                    verification = match mode {
                        "verify-ca" => Verification::Issuer,
                        _ => Verification::IssuerAndName,
                    };
                    rest.push("sslmode=require");
                }
                Some(("statements", "unnamed")) => statements = Statements::Unnamed,
                Some(("statements", "prepared")) => statements = Statements::Prepared,
                Some(("statements", _)) => return Err(wrong("statements is prepared or unnamed".to_owned())),
                _ => rest.push(pair),
            }
        }
        if root_certificates.is_some() && verification == Verification::Nothing {
            // Whoever names a certificate wants it looked at.
            verification = Verification::IssuerAndName;
        }
        let is_given = |name: &str| rest.iter().any(|pair| pair.split('=').next() == Some(name));
        let url = match rest.is_empty() {
            true => base.to_owned(),
            false => format!("{base}?{}", rest.join("&")),
        };
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            wrong(source.unwrap_or_else(|| error.to_string()))
        })?;
        if config.get_application_name().is_none() {
            config.application_name("segue");
        }
        // Poolers refuse start-up options that they do not know.
        if statements == Statements::Prepared {
            let options = [config.get_options().unwrap_or_default(), SETTINGS].join(" ");
            config.options(options.trim());
        }
        let connect_max = config.get_connect_timeout().copied().unwrap_or(CONNECT_MAX);
        if !is_given("tcp_user_timeout") {
            config.tcp_user_timeout(VANISHED_AFTER);
        }
        if !is_given("keepalives_idle") {
            config.keepalives_idle(VANISHED_AFTER);
        }
        if !is_given("keepalives_interval") {
            config.keepalives_interval(PROBE_EVERY);
        }
        if !is_given("keepalives_retries") {
            config.keepalives_retries(PROBES_MAX);
        }
        Ok(Self {
            config,
            connections,
            verification,
            root_certificates,
            statements,
            connect_max,
            answer_max,
            shown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_never_shown() {
        let target = Target::parse("postgres://ann:s3cret@db.example/segue?pool=4").unwrap();
        assert_eq!(target.shown, "postgres://ann@db.example/segue");
        assert_eq!(target.connections, 4);
        let error = Target::parse("postgres://ann:s3cret@db.example/segue?nonsense=1").unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }

    #[test]
    fn a_pool_has_a_limit() {
        for wrong in ["0", "10000", "many"] {
            let url = format!("postgres://ann@db.example/segue?pool={wrong}");
            assert!(Target::parse(&url).unwrap_err().to_string().contains("from 1 to 512"), "{wrong}");
        }
    }

    /// N-3: a server that vanishes without a word is noticed within seconds, unless the URL says otherwise.
    #[test]
    fn n3_a_vanished_server_is_noticed() {
        let config = Target::parse("postgres://db.example/segue").unwrap().config;
        assert_eq!(config.get_tcp_user_timeout(), Some(&VANISHED_AFTER));
        let probes = config.get_keepalives_interval().unwrap() * config.get_keepalives_retries().unwrap();
        assert!(config.get_keepalives_idle() + probes < Duration::from_secs(20));
        let config =
            Target::parse("postgres://db.example/segue?keepalives_idle=70&tcp_user_timeout=80").unwrap();
        assert_eq!(config.config.get_keepalives_idle(), Duration::from_secs(70));
        assert_eq!(config.config.get_tcp_user_timeout(), Some(&Duration::from_secs(80)));
    }

    #[test]
    fn certificates_are_checked_where_that_is_asked_for() {
        for (settings, expected) in [
            ("", Verification::Nothing),
            ("?sslmode=require", Verification::Nothing),
            ("?sslmode=verify-ca", Verification::Issuer),
            ("?sslmode=verify-full", Verification::IssuerAndName),
            ("?sslrootcert=%2Froot.crt", Verification::IssuerAndName),
            ("?sslrootcert=%2Froot.crt&sslmode=verify-ca", Verification::Issuer),
        ] {
            let target = Target::parse(&format!("postgres://db.example/segue{settings}")).unwrap();
            assert_eq!(target.verification, expected, "{settings}");
        }
    }
}
