//! Whom a post trusts, and what it shows.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rustls::{
    ClientConfig, RootCertStore,
    client::{Resumption, WebPkiServerVerifier},
};

use super::{Identity, TlsError, identity::certificates, pin::PinnedServers, provider};

/// Whose server certificates are good.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// The roots of the operating system.
    #[default]
    System,
    /// PEM text: authorities, intermediates that a partner forgets to send, or the partner's own certificate.
    Anchors(Vec<u8>),
}

/// A partner's TLS.
#[derive(Clone, Debug, Default)]
pub struct ClientTlsOptions {
    /// Whom to trust.
    pub trust: Trust,
    /// The client certificate shown when the partner asks for one.
    pub identity: Option<Identity>,
}

/// The TLS towards one partner; clones share sessions and connections.
#[derive(Clone, Debug)]
pub struct ClientTls {
    pub(in crate::transport) config: Arc<ClientConfig>,
    /// Connections made with one configuration are never used for another.
    pub(in crate::transport) id: u64,
}

impl ClientTls {
    /// Checks and prepares everything. The system's roots are read once a call.
    pub fn new(options: &ClientTlsOptions) -> Result<Self, TlsError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let refused = |error: rustls::Error| TlsError::Refused { what: "TLS".to_owned(), reason: error.to_string() };
        let (roots, pins) = roots(&options.trust)?;
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .map_err(|error| TlsError::Refused { what: "anchors".to_owned(), reason: error.to_string() })?;
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(refused)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(PinnedServers::new(chains, pins)));
        let mut config = match &options.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder
                .with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
                .map_err(|error| TlsError::Refused { what: identity.what.clone(), reason: error.to_string() })?,
        };
        config.resumption = Resumption::in_memory_sessions(32);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), id: NEXT.fetch_add(1, Ordering::Relaxed) })
    }
}

/// The anchors, and those of them that a partner may show itself.
fn roots(trust: &Trust) -> Result<(RootCertStore, Vec<rustls_pki_types::CertificateDer<'static>>), TlsError> {
    let mut roots = RootCertStore::empty();
    match trust {
        Trust::System => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let reason = found.errors.first().map_or_else(|| "none found".to_owned(), ToString::to_string);
                return Err(TlsError::NoRoots { reason });
            }
            Ok((roots, Vec::new()))
        }
        Trust::Anchors(pem) => {
            let anchors = certificates("anchors", pem)?;
            for anchor in &anchors {
                roots
                    .add(anchor.clone())
                    .map_err(|error| TlsError::Refused { what: "anchors".to_owned(), reason: error.to_string() })?;
            }
            Ok((roots, anchors))
        }
    }
}
