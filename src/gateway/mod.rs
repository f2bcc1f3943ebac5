//! Ring 3: journeys; one file reads from first byte to last.
//!
//! [`receive`] and [`deliver`] are the walk of an incoming message, [`submit`] and [`send`] that of an outgoing one. What they
//! share is the [`Gateway`].

mod accept;
mod agreements;
mod assemble;
mod body;
pub mod deliver;
pub mod explain;
mod header;
mod ids;
mod intake;
mod notify;
mod opinion;
mod outgoing;
mod outpart;
pub mod overdue;
pub mod pickup;
mod profile;
pub mod receive;
mod refuse;
mod rows;
pub mod send;
mod signals;
mod spool;
pub mod submit;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use time::OffsetDateTime;

pub use agreements::{Agreements, AgreementsError, FolderFiles, load as load_pmodes, load_files as load_pmode_files};
pub use assemble::{AssembleError, assemble, certificates, own_parties, trust};
pub use outpart::{OutPart, OutPartError, PartMeta, PreparedPart};

use crate::msh::OwnParties;
use crate::msh::conclude::AnswerBench;
use crate::msh::judge::{Bench, PartLimits};
use crate::msh::signer::SignerTrust;
use crate::pmode::{PMode, PModeSet};
use crate::store::Store;
use crate::store::exchange::Quota;
use crate::store::payload::PayloadStore;
use crate::transport::listen::{Answer, Endpoint, Exchange, Refusal};
use crate::transport::post::Poster;
use crate::transport::tls::{ClientTls, ClientTlsOptions, TlsError, Trust};
use crate::wss::CertificateCache;

/// How many work at once.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// In all.
    pub total: usize,
    /// For one partner.
    pub per_partner: i64,
    /// How often the queues are looked at when nothing wakes a worker.
    pub poll: Duration,
    /// Time that work in flight gets to end.
    pub grace: Duration,
}

/// Limits of incoming messages.
#[derive(Clone, Copy, Debug)]
pub struct MessageLimits {
    /// Octets of the SOAP part.
    pub soap: usize,
    /// Parts.
    pub parts: usize,
    /// Limits of one part.
    pub part: PartLimits,
}

/// Everything the journeys share.
pub struct Gateway {
    /// The P-Modes in force.
    pub agreements: Agreements,
    /// Who we are.
    pub parties: ArcSwap<OwnParties>,
    /// Judges message certificates.
    pub trust: Arc<dyn SignerTrust>,
    /// Certificates that were parsed before.
    pub certificates: CertificateCache,
    /// The database.
    pub store: Store,
    /// Payloads.
    pub payloads: PayloadStore,
    /// Connections to partners and webhooks.
    pub poster: Poster,
    /// Consumers and notifiers by name.
    pub backends: HashMap<String, deliver::Backend>,
    /// Right-hand side of ids made here.
    pub host: String,
    /// Limits of incoming messages.
    pub limits: MessageLimits,
    /// Largest canonical part that libxmlsec1 judges; `None` switches the second opinion off.
    pub second_opinion: Option<u64>,
    /// Workers.
    pub workers: Workers,
    /// What refused exchanges may take.
    pub quota: Quota,
    /// TLS settings of partners by their anchors, made once.
    tls: Mutex<HashMap<Vec<std::path::PathBuf>, ClientTls>>,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gateway({:?}, {} P-Modes)", self.store, self.agreements.current().len())
    }
}

impl Gateway {
    /// What judging a request needs.
    fn bench<'a>(&'a self, pmodes: &'a PModeSet, parties: &'a OwnParties, now: OffsetDateTime) -> Bench<'a> {
        let limits = self.limits.part;
        Bench { pmodes, parties, trust: &*self.trust, certificates: &self.certificates, limits, now }
    }

    /// What judging an answer needs.
    fn answer_bench(&self, now: OffsetDateTime) -> AnswerBench<'_> {
        AnswerBench { trust: &*self.trust, certificates: &self.certificates, now }
    }

    fn intake_limits(&self) -> intake::IntakeLimits {
        intake::IntakeLimits { soap: self.limits.soap, parts: self.limits.parts }
    }

    /// TLS towards a partner: the system's roots, or the anchors of its P-Mode.
    fn client_tls(&self, pmode: &PMode) -> Result<Option<ClientTls>, TlsError> {
        let leg = &pmode.leg.protocol;
        if !leg.address.as_deref().is_some_and(|a| a.starts_with("https:")) {
            return Ok(None);
        }
        let mut made = self.tls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tls) = made.get(&leg.tls_anchors) {
            return Ok(Some(tls.clone()));
        }
        let trust = if leg.tls_anchors.is_empty() {
            Trust::System
        } else {
            let pem = leg.tls_anchors.iter().filter_map(|path| std::fs::read(path).ok()).flatten().collect();
            Trust::Anchors(pem)
        };
        let tls = ClientTls::new(&ClientTlsOptions { trust, identity: None })?;
        made.insert(leg.tls_anchors.clone(), tls.clone());
        Ok(Some(tls))
    }
}

/// The MSH endpoint.
#[derive(Clone)]
pub struct Msh(pub Arc<Gateway>);

impl Endpoint for Msh {
    async fn exchange(&self, exchange: Exchange) -> Answer {
        receive::receive(&self.0, exchange).await
    }

    fn refused(&self, refusal: &Refusal) {
        crate::telemetry::metrics::rejected_total("http").increment(1);
        tracing::debug!(peer = %refusal.peer, status = %refusal.status, "refused before reading: {}", refusal.reason);
    }
}
