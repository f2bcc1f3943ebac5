//! What a listener shows and asks for.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use rustls::{
    RootCertStore, ServerConfig,
    server::{
        ClientHello, NoServerSessionStorage, ResolvesServerCert, ServerSessionMemoryCache, WebPkiClientVerifier,
        danger::ClientCertVerifier,
    },
    sign::CertifiedKey,
};

use super::{Identity, TlsError, identity::certificates, pin::PinnedClients, provider};

/// Sessions remembered for resumption.
const SESSIONS: usize = 4096;

/// Whether partners show a certificate on the TLS layer.
#[derive(Clone, Debug, Default)]
pub enum ClientCertificates {
    /// None is asked for.
    #[default]
    Off,
    /// Asked for; without one the exchange has no `client_certificate`.
    Optional {
        /// PEM text of authorities and of single partners' certificates.
        anchors: Vec<u8>,
    },
    /// No handshake without.
    Required {
        /// PEM text of authorities and of single partners' certificates.
        anchors: Vec<u8>,
    },
}

/// A listener's TLS.
#[derive(Clone, Debug)]
pub struct ServerTlsOptions {
    /// Shown without a server name, with an address as name, and with a name that nothing else covers (FR-098).
    pub default: Identity,
    /// Shown for their names; `*.example.org` covers one label.
    pub by_name: Vec<(String, Identity)>,
    /// What is asked of clients.
    pub clients: ClientCertificates,
}

/// The TLS of a listener; can be exchanged while it runs.
#[derive(Clone, Debug)]
pub struct ServerTls {
    config: Arc<ArcSwap<ServerConfig>>,
}

impl ServerTls {
    /// Checks and prepares everything.
    pub fn new(options: &ServerTlsOptions) -> Result<Self, TlsError> {
        Ok(Self { config: Arc::new(ArcSwap::from_pointee(configure(options)?)) })
    }

    /// Later handshakes use `options`: a renewed certificate needs no restart.
    pub fn replace(&self, options: &ServerTlsOptions) -> Result<(), TlsError> {
        self.config.store(Arc::new(configure(options)?));
        Ok(())
    }

    pub(in crate::transport) fn current(&self) -> Arc<ServerConfig> {
        self.config.load_full()
    }
}

fn configure(options: &ServerTlsOptions) -> Result<ServerConfig, TlsError> {
    let refused = |error: rustls::Error| TlsError::Refused { what: "TLS".to_owned(), reason: error.to_string() };
    let builder =
        ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().map_err(refused)?;
    let (builder, resumes) = match &options.clients {
        ClientCertificates::Off => (builder.with_no_client_auth(), true),
        ClientCertificates::Optional { anchors } => {
            (builder.with_client_cert_verifier(clients(anchors, false)?), false)
        }
        ClientCertificates::Required { anchors } => (builder.with_client_cert_verifier(clients(anchors, true)?), false),
    };
    let mut config = builder.with_cert_resolver(Arc::new(Names::new(options)?));
    // A resumed session would carry a client certificate that expired or was withdrawn in between.
    config.session_storage =
        if resumes { ServerSessionMemoryCache::new(SESSIONS) } else { Arc::new(NoServerSessionStorage {}) };
    if !resumes {
        config.send_tls13_tickets = 0;
    }
    Ok(config)
}

fn clients(anchors: &[u8], required: bool) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let what = "authorities of client certificates";
    let anchors = certificates(what, anchors)?;
    let refused = |reason: String| TlsError::Refused { what: what.to_owned(), reason };
    let mut roots = RootCertStore::empty();
    for anchor in &anchors {
        roots.add(anchor.clone()).map_err(|error| refused(error.to_string()))?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
    let builder = if required { builder } else { builder.allow_unauthenticated() };
    let chains = builder.build().map_err(|error| refused(error.to_string()))?;
    Ok(Arc::new(PinnedClients::new(chains, anchors)))
}

/// Certificates by server name.
#[derive(Debug)]
struct Names {
    default: Arc<CertifiedKey>,
    exact: HashMap<String, Arc<CertifiedKey>>,
    /// By what follows the first label.
    wild: HashMap<String, Arc<CertifiedKey>>,
}

impl Names {
    fn new(options: &ServerTlsOptions) -> Result<Self, TlsError> {
        let default = Arc::new(options.default.certified()?);
        let mut names = Self { default, exact: HashMap::new(), wild: HashMap::new() };
        for (name, identity) in &options.by_name {
            let key = Arc::new(identity.certified()?);
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            match name.strip_prefix("*.") {
                Some(parent) => names.wild.insert(parent.to_owned(), key),
                None => names.exact.insert(name, key),
            };
        }
        Ok(names)
    }

    fn find(&self, name: Option<&str>) -> &Arc<CertifiedKey> {
        let Some(name) = name.map(|name| name.trim_end_matches('.').to_ascii_lowercase()) else { return &self.default };
        let wild = || name.split_once('.').and_then(|(_, parent)| self.wild.get(parent));
        self.exact.get(&name).or_else(wild).unwrap_or(&self.default)
    }
}

impl ResolvesServerCert for Names {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(self.find(hello.server_name())))
    }
}
