//! Connecting: the URL, TLS, the pool.

use super::fault::{Failure, OrFault, unavailable};
use crate::error::Error;
use crate::url::without_password;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::config::{Config, SslMode};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How many connections a node uses, if the URL does not say.
const CONNECTIONS: usize = 16;

/// The most connections that a URL may ask for: a server has some hundreds for all nodes together.
const CONNECTIONS_MAX: usize = 512;

/// How long a turn waits for a free connection, and for a new one.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// How long an answer may take.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(30);

/// What every connection is set to. A server that cancels a statement while it waits for its standby acknowledges a commit that
/// a failover loses: so it must not cancel, and it is this side that stops waiting. The guard by the head needs each statement to
/// see what was committed before it.
const SETTINGS: &str = "-c statement_timeout=0 -c default_transaction_isolation=read\\ committed";

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
    connections: usize,
    root_certificates: Option<String>,
    pub(super) statements: Statements,
    /// The URL without its password, for messages.
    pub(super) shown: String,
}

impl Target {
    /// Reads a URL. Besides what PostgreSQL's own URLs have: `pool=N`, `sslrootcert=FILE`, `statements=unnamed`.
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let shown = without_password(url);
        let wrong = |why: String| Error::Invalid { what: format!("the store's URL {shown}"), why };
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut connections, mut root_certificates) = (CONNECTIONS, None);
        let mut statements = Statements::Prepared;
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("pool", count)) => {
                    connections = count
                        .parse()
                        .ok()
                        .filter(|count| (1..=CONNECTIONS_MAX).contains(count))
                        .ok_or_else(|| wrong(format!("pool is a number from 1 to {CONNECTIONS_MAX}")))?;
                }
                Some(("sslrootcert", file)) => root_certificates = Some(file.replace("%2F", "/")),
                Some(("statements", "unnamed")) => statements = Statements::Unnamed,
                Some(("statements", "prepared")) => statements = Statements::Prepared,
                Some(("statements", _)) => return Err(wrong("statements is prepared or unnamed".to_owned())),
                _ => rest.push(pair),
            }
        }
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
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(WAIT_MAX);
        }
        // Poolers refuse start-up options that they do not know.
        if statements == Statements::Prepared {
            let options = [config.get_options().unwrap_or_default(), SETTINGS].join(" ");
            config.options(options.trim());
        }
        config.keepalives_idle(Duration::from_secs(30));
        Ok(Self { config, connections, root_certificates, statements, shown })
    }

    /// Prepares for encrypted connections.
    pub(super) fn tls(&self) -> Result<MakeRustlsConnect, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unavailable("TLS cannot be set up", error))?;
        let config = match &self.root_certificates {
            Some(file) => {
                let mut roots = rustls::RootCertStore::empty();
                let certificates = CertificateDer::pem_file_iter(file)
                    .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                    .map_err(|error| {
                        unavailable(format!("the certificates in {file} cannot be read"), error)
                    })?;
                roots.add_parsable_certificates(certificates);
                builder.with_root_certificates(roots).with_no_client_auth()
            }
            // Nothing is encrypted, so nobody's certificate is looked at.
            None if self.config.get_ssl_mode() == SslMode::Disable => {
                builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
            }
            None => builder
                .with_platform_verifier()
                .map_err(|error| unavailable("the machine's certificates cannot be read", error))?
                .with_no_client_auth(),
        };
        Ok(MakeRustlsConnect::new(config))
    }

    /// Makes a pool; nothing is connected yet.
    pub(super) fn pool(&self) -> Result<Pool, Error> {
        let settings = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(self.config.clone(), self.tls()?, settings);
        Pool::builder(manager)
            .max_size(self.connections)
            .wait_timeout(Some(WAIT_MAX))
            .create_timeout(Some(WAIT_MAX))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| unavailable("the pool of connections cannot be made", error))
    }
}

/// A value of a statement, with its type: a statement that is sent whole needs it.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// A connection of the pool.
pub(super) struct Connection {
    pub(super) client: Object,
    pub(super) statements: Statements,
}

impl Connection {
    /// Runs one statement, in one round trip once it is prepared.
    pub(super) async fn rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        match tokio::time::timeout(ANSWER_MAX, self.try_rows(sql, values)).await {
            Ok(answer) => answer.or_fault(),
            Err(_) => Err(unavailable("PostgreSQL does not answer", "is the server overloaded, or stopped?")),
        }
    }

    /// Runs one statement, however long it takes.
    pub(super) async fn try_rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        Ok(self.run(sql, values).await?)
    }

    /// Begins a transaction. Whoever does runs in a task of its own: a caller that goes away must not leave one open.
    pub(super) async fn begin(&self) -> Result<(), Failure> {
        Ok(self.client.batch_execute("BEGIN").await?)
    }

    pub(super) async fn commit(&self) -> Result<(), Failure> {
        Ok(self.client.batch_execute("COMMIT").await?)
    }

    /// Takes a transaction back. A connection that broke has nothing left to take back.
    pub(super) async fn roll_back(&self) {
        drop(self.client.batch_execute("ROLLBACK").await);
    }

    async fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, tokio_postgres::Error> {
        match self.statements {
            Statements::Unnamed => {
                let values: Vec<_> = values.iter().map(|(value, kind)| (*value, kind.clone())).collect();
                self.client.query_typed(sql, &values).await
            }
            Statements::Prepared => {
                let types: Vec<Type> = values.iter().map(|(_, kind)| kind.clone()).collect();
                let statement = self.client.prepare_typed_cached(sql, &types).await?;
                let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|(value, _)| *value).collect();
                self.client.query(&statement, &values).await
            }
        }
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
}
