//! TLS: rustls with ring, made here and handed in, so that nothing is set for the whole process.

use super::failure::{Failure, Unusable};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::sync::Arc;

/// Which certificates are trusted.
pub(super) enum Trust {
    /// Those that the machine trusts.
    Machine,
    /// None: the endpoint is not asked over TLS. It also works where no certificates are installed.
    Nobody,
}

pub(super) fn config(trust: &Trust) -> Result<ClientConfig, Failure> {
    let unusable = |_| Failure::Unusable(Unusable::Tls);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match trust {
        Trust::Machine => builder.with_platform_verifier().map_err(unusable)?,
        Trust::Nobody => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}
