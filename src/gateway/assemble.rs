//! From `postrider.toml` to what the journeys need: keys, trust, backends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{Config, KeyConfig, PartyConfig, SecretError};
use crate::ebms::PartyId;
use crate::msh::{OwnParties, OwnParty};
use crate::trust::{Crl, MissingCrl, Options, Trust, TrustError};
use crate::wss::{Certificate, PrivateKey};

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
        anchors.extend(certificates("trust anchor", path)?);
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
