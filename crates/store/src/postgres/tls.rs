//! TLS as `sslmode` says it, with the meaning of libpq: it encrypts, and a certificate is checked where that is asked for.

use super::fault::unavailable;
use crate::error::Error;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// What of a server's certificate is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verification {
    /// Nothing (`prefer`, `require`): who listens is kept out, who stands between is not.
    Nothing,
    /// Who signed it (`verify-ca`).
    Issuer,
    /// Who signed it, and that it is the host's (`verify-full`).
    IssuerAndName,
}

/// Prepares for encrypted connections. Without a file, the machine's own certificates count.
pub(super) fn connector(verification: Verification, roots: Option<&str>) -> Result<MakeRustlsConnect, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match verification {
        Verification::Nothing => Arc::new(Unchecked(Arc::clone(&provider))),
        Verification::Issuer => Arc::new(AnyName(issuers(roots, &provider)?)),
        Verification::IssuerAndName => issuers(roots, &provider)?,
    };
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unavailable("TLS cannot be set up", error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn issuers(file: Option<&str>, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let Some(file) = file else {
        let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(provider));
        let unreadable = |error| unavailable("the machine's certificates cannot be read", error);
        return Ok(Arc::new(verifier.map_err(unreadable)?));
    };
    let unreadable = |why: String| unavailable(format!("the certificates in {file} cannot be read"), why);
    let mut roots = rustls::RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    roots.add_parsable_certificates(certificates.map_err(|error| unreadable(error.to_string()))?);
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    Ok(verifier.map_err(|error| unreadable(error.to_string()))?)
}

/// Says what to do about a handshake that failed.
pub(super) fn hint(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let mut cause = Some(error);
    while let Some(one) = cause {
        let inner = one.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let found = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match found.or_else(|| one.downcast_ref()) {
            Some(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => {
                return Some("the certificate is another host's: name that host, or use sslmode=verify-ca");
            }
            Some(rustls::Error::InvalidCertificate(_)) => {
                return Some(
                    "the certificate is not trusted: name its issuer by sslrootcert=FILE, or encrypt without \
                     checking it by sslmode=require",
                );
            }
            Some(_) => return Some("is this a PostgreSQL server with TLS 1.2 or later?"),
            None if one.to_string() == "server does not support TLS" => {
                return Some("the server has no TLS: switch it on there, or use sslmode=disable");
            }
            None => cause = one.source(),
        }
    }
    None
}

/// Takes any certificate. Its signatures are not looked at either: they would prove nothing about who signs.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Checks who signed a certificate, and takes any name.
#[derive(Debug)]
struct AnyName(Arc<dyn ServerCertVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.0.verify_server_cert(certificate, chain, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
