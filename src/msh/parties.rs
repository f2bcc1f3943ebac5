//! Our own parties with their keys, current and next.

use std::sync::Arc;

use time::OffsetDateTime;

use crate::ebms::PartyId;
use crate::wss::PrivateKey;

/// One of our own parties.
#[derive(Debug, Clone)]
pub struct OwnParty {
    /// Its name in `postrider.toml`.
    pub name: String,
    /// Its party id.
    pub id: PartyId,
    /// Keys that it signs with: the newest valid one is taken.
    pub signing: Vec<Arc<PrivateKey>>,
    /// Keys that it decrypts with: all of them, also the ones that ran out, for what partners still encrypt to them.
    pub decryption: Vec<Arc<PrivateKey>>,
}

/// All our own parties.
#[derive(Debug, Clone, Default)]
pub struct OwnParties {
    /// As configured.
    pub parties: Vec<OwnParty>,
}

impl OwnParties {
    /// The own party with one of these ids.
    #[must_use]
    pub fn with_id(&self, ids: &[PartyId]) -> Option<&OwnParty> {
        self.parties.iter().find(|p| ids.contains(&p.id))
    }

    /// Every decryption key of every party.
    pub fn decryption_keys(&self) -> impl Iterator<Item = &Arc<PrivateKey>> {
        self.parties.iter().flat_map(|p| &p.decryption)
    }
}

impl OwnParty {
    /// The key to sign with at that time: of the valid ones the one that began last.
    #[must_use]
    pub fn signing_key(&self, now: OffsetDateTime) -> Option<&Arc<PrivateKey>> {
        self.signing.iter().filter(|k| k.certificate.valid_at(now)).max_by_key(|k| k.certificate.not_before())
    }
}
