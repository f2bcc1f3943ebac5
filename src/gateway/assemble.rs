//! From `postrider.toml` to what the journeys need: keys, trust, backends.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use time::OffsetDateTime;
use url::Url;

use super::agreements::{Agreements, AgreementsError};
use super::deliver::Backend;
use super::{Gateway, MessageLimits, Workers};
use crate::config::{BackendKind, Config, KeyConfig, PartyConfig, SecretError, Switch};
use crate::ebms::PartyId;
use crate::msh::judge::PartLimits;
use crate::msh::signer::SignerTrust;
use crate::msh::{OwnParties, OwnParty};
use crate::store::exchange::Quota;
use crate::store::payload::{PayloadError, PayloadOptions, PayloadStore};
use crate::store::{Store, StoreError, StoreOptions};
use crate::transport::post::Poster;
use crate::trust::{Crl, MissingCrl, Options, Purpose, Trust, TrustError, published};
use crate::wss::{Certificate, CertificateCache, PrivateKey};

/// Why the gateway cannot be put together; each names the file and what to do.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// A file that the configuration names.
    #[error("cannot read `{}` ({what}): {why}", path.display())]
    File {
        /// What it should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A secret.
    #[error("{what} of party `{party}`: {source}")]
    Secret {
        /// Which key.
        what: &'static str,
        /// Whose.
        party: String,
        /// Why.
        source: SecretError,
    },
    /// Key and certificate do not belong together, or one of them is not what it should be.
    #[error("party `{party}`: {why}")]
    Key {
        /// Whose.
        party: String,
        /// Why.
        why: String,
    },
    /// Revocation lists.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// P-Modes.
    #[error(transparent)]
    Agreements(AgreementsError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Where the database is.
    #[error("store.url: {0}")]
    StoreUrl(SecretError),
    /// The payload store.
    #[error(transparent)]
    Payloads(#[from] PayloadError),
    /// A backend.
    #[error("backend `{name}`: {why}")]
    Backend {
        /// Its name.
        name: String,
        /// Why.
        why: String,
    },
}

/// Loads the keys of every party.
pub fn own_parties(config: &Config) -> Result<OwnParties, AssembleError> {
    let parties = config.party.iter().map(own_party).collect::<Result<_, _>>()?;
    Ok(OwnParties { parties })
}

fn own_party(party: &PartyConfig) -> Result<OwnParty, AssembleError> {
    let keys = |what, keys: &[KeyConfig]| {
        keys.iter().map(|k| private_key(&party.name, what, k).map(Arc::new)).collect::<Result<Vec<_>, _>>()
    };
    Ok(OwnParty {
        name: party.name.clone(),
        id: PartyId { value: party.id.clone(), kind: party.kind.clone() },
        signing: keys("signing key", &party.signing)?,
        decryption: keys("decryption key", &party.decryption)?,
    })
}

fn private_key(party: &str, what: &'static str, config: &KeyConfig) -> Result<PrivateKey, AssembleError> {
    let bad = |why: String| AssembleError::Key { party: party.to_owned(), why };
    let pem = config.key.read().map_err(|source| AssembleError::Secret { what, party: party.to_owned(), source })?;
    let key = openssl::pkey::PKey::private_key_from_pem_passphrase(&pem, b"")
        .map_err(|_| bad(format!("the {what} is no unencrypted PEM private key")))?;
    let mut certificates = certificates("certificate", &config.certificate)?.into_iter();
    let Some(certificate) = certificates.next() else {
        return Err(bad(format!("`{}` holds no certificate", config.certificate.display())));
    };
    if !certificate.public_key().public_eq(&key) {
        let file = config.certificate.display();
        return Err(bad(format!("the {what} does not belong to the certificate `{file}` ({})", certificate.subject())));
    }
    if let Some(why) = published(&key) {
        return Err(bad(format!("the {what} cannot be used: {why}; make one of your own")));
    }
    let mut chain: Vec<_> = certificates.map(Arc::new).collect();
    if let Some(file) = &config.chain {
        chain.extend(self::certificates("certificate chain", file)?.into_iter().map(Arc::new));
    }
    Ok(PrivateKey { key, certificate: Arc::new(certificate), chain })
}

/// All certificates of a PEM file.
pub fn certificates(what: &'static str, path: &Path) -> Result<Vec<Certificate>, AssembleError> {
    let failed = |why: String| AssembleError::File { what, path: path.to_owned(), why };
    let pem = fs::read(path).map_err(|e| failed(e.to_string()))?;
    let all = Certificate::all_from_pem(&pem).map_err(|e| failed(format!("no PEM certificates: {e}")))?;
    if all.is_empty() { Err(failed("it holds no PEM certificate".to_owned())) } else { Ok(all) }
}

/// The judge of message certificates.
pub fn trust(config: &Config) -> Result<Trust, AssembleError> {
    let mut anchors = Vec::new();
    for path in &config.trust.anchors {
        let found = certificates("trust anchor", path)?;
        if let Some(why) = found.iter().find_map(|anchor| published(anchor.public_key())) {
            return Err(AssembleError::File { what: "trust anchor", path: path.to_path_buf(), why });
        }
        anchors.extend(found);
    }
    let mut crls = Vec::new();
    for path in &config.trust.crls {
        crls.extend(Crl::read_all(path)?);
    }
    let missing = if config.trust.hard_fail { MissingCrl::Refuse } else { MissingCrl::Accept };
    let trust = Trust::new(anchors, Vec::new(), Options { missing_crl: missing, ..Options::default() });
    trust.replace_crls(&crls);
    Ok(trust)
}

/// [`Trust`] as the core sees it.
pub(super) struct MessageTrust(pub(super) Trust);

impl SignerTrust for MessageTrust {
    fn pinned(&self, leaf: &Arc<Certificate>, now: OffsetDateTime) -> Result<Vec<String>, String> {
        self.0.judge_pinned(leaf, Purpose::Sign, now).map(|v| v.path).map_err(|e| e.to_string())
    }

    fn chained(
        &self,
        leaf: &Certificate,
        chain: &[Arc<Certificate>],
        now: OffsetDateTime,
    ) -> Result<Vec<String>, String> {
        self.0.judge(leaf, chain, Purpose::Sign, now).map(|v| v.path).map_err(|e| e.to_string())
    }
}

/// The whole gateway. The store is opened and migrated; nothing listens or works yet.
pub fn assemble(config: &Config, now: OffsetDateTime) -> Result<Arc<Gateway>, AssembleError> {
    let parties = own_parties(config)?;
    let trust = Arc::new(MessageTrust(trust(config)?));
    let agreements = Agreements::open(&config.pmodes.dir, now).map_err(AssembleError::Agreements)?;
    let url = config.store_url().map_err(AssembleError::StoreUrl)?;
    let store = Store::open(&StoreOptions {
        url: url.expose().to_owned(),
        node: config.host.name.clone(),
        connections: config.store.connections,
        group: config.store.group,
    })?;
    store.migrate()?;
    let inline = usize::try_from(config.store.inline).unwrap_or(usize::MAX);
    let payloads = PayloadStore::open_with(
        config.data.dir.join("payloads"),
        PayloadOptions { inline, ..PayloadOptions::default() },
    )?;
    let limits = config.msh.first().map(|msh| msh.limits.clone());
    let at = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let limits = limits.map_or(
        MessageLimits { soap: 1 << 20, parts: 100, part: PartLimits { size: 2 << 30, ratio: 100 } },
        |l| MessageLimits {
            soap: at(l.soap),
            parts: at(l.parts.into()),
            part: PartLimits { size: l.message.saturating_mul(l.ratio.into()), ratio: l.ratio },
        },
    );
    Ok(Arc::new(Gateway {
        agreements,
        parties: ArcSwap::from_pointee(parties),
        trust,
        certificates: CertificateCache::default(),
        store,
        payloads,
        poster: Poster::default(),
        backends: backends(config)?,
        host: config.host.name.clone(),
        limits,
        second_opinion: (config.wss.second_opinion == Switch::On).then_some(config.wss.second_opinion_max),
        workers: Workers {
            total: at(config.send.workers.into()).max(1),
            per_partner: i64::from(config.send.per_partner).max(1),
            poll: config.send.poll,
            grace: config.shutdown.grace,
        },
        quota: Quota::default(),
        tls: std::sync::Mutex::default(),
    }))
}

fn backends(config: &Config) -> Result<HashMap<String, Backend>, AssembleError> {
    let mut all = HashMap::new();
    for backend in &config.backend {
        let made = match &backend.kind {
            BackendKind::Folder { dir } => Backend::Folder(dir.to_path_buf()),
            BackendKind::Webhook { url, secret, timeout, retries } => Backend::Webhook {
                url: Url::parse(url).map_err(|e| AssembleError::Backend {
                    name: backend.name.clone(),
                    why: format!("url `{url}`: {e}"),
                })?,
                secret: match secret {
                    Some(secret) => Some(
                        secret
                            .read_text()
                            .map_err(|e| AssembleError::Backend { name: backend.name.clone(), why: e.to_string() })?
                            .expose()
                            .to_owned(),
                    ),
                    None => None,
                },
                timeout: *timeout,
                retries: *retries,
            },
        };
        all.insert(backend.name.clone(), made);
    }
    Ok(all)
}
