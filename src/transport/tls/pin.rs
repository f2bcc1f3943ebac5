//! Anchors that are the partner's own certificate.
//!
//! Partners often exchange self-signed certificates, and most tools mark those as authorities. A path builder refuses
//! an authority as the end of its path; an operator who named exactly this certificate means exactly this one. So where
//! webpki refuses, a presented certificate that is octet by octet one of the anchors is still good within its validity
//! time, for a server under the name it carries.

use std::sync::Arc;

use openssl::{asn1::Asn1Time, x509::X509};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    server::{
        ParsedCertificate,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// Servers by chain or by their very certificate.
#[derive(Debug)]
pub(super) struct PinnedServers {
    chains: Arc<WebPkiServerVerifier>,
    pins: Vec<CertificateDer<'static>>,
}

impl PinnedServers {
    pub(super) fn new(chains: Arc<WebPkiServerVerifier>, pins: Vec<CertificateDer<'static>>) -> Self {
        Self { chains, pins }
    }
}

impl ServerCertVerifier for PinnedServers {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let by_chain = self.chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match by_chain {
            Err(error) if self.pins.contains(end_entity) => {
                within_validity(end_entity, now, error)?;
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Clients by chain or by their very certificate.
#[derive(Debug)]
pub(super) struct PinnedClients {
    chains: Arc<dyn ClientCertVerifier>,
    pins: Vec<CertificateDer<'static>>,
}

impl PinnedClients {
    pub(super) fn new(chains: Arc<dyn ClientCertVerifier>, pins: Vec<CertificateDer<'static>>) -> Self {
        Self { chains, pins }
    }
}

impl ClientCertVerifier for PinnedClients {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.chains.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.chains.client_auth_mandatory()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match self.chains.verify_client_cert(end_entity, intermediates, now) {
            Err(error) if self.pins.contains(end_entity) => {
                within_validity(end_entity, now, error)?;
                Ok(ClientCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// `otherwise` is what the path builder said; it stands unless the dates are good.
fn within_validity(certificate: &CertificateDer<'_>, now: UnixTime, otherwise: Error) -> Result<(), Error> {
    let (Ok(parsed), Some(now)) = (X509::from_der(certificate), instant(now.as_secs())) else { return Err(otherwise) };
    if now < *parsed.not_before() {
        return Err(Error::InvalidCertificate(CertificateError::NotValidYet));
    }
    if now > *parsed.not_after() {
        return Err(Error::InvalidCertificate(CertificateError::Expired));
    }
    Ok(())
}

fn instant(seconds: u64) -> Option<Asn1Time> {
    Asn1Time::from_unix(i64::try_from(seconds).ok()?).ok()
}
