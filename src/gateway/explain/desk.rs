//! What an explanation judges by: P-Modes, keys, trust, as far as they were given.

use std::sync::Arc;

use time::OffsetDateTime;

use crate::config::{Config, Switch};
use crate::gateway::MessageLimits;
use crate::gateway::assemble::{AssembleError, MessageTrust, own_parties, trust};
use crate::msh::judge::PartLimits;
use crate::msh::signer::SignerTrust;
use crate::msh::{OwnParties, OwnParty};
use crate::pmode::PModeSet;
use crate::trust::{Options, Trust};
use crate::wss::{Certificate, CertificateCache, PrivateKey};

/// Keys and certificates beside the configuration's.
#[derive(Debug, Default)]
pub struct Extra {
    /// Keys with their certificates: taken for ours.
    pub keys: Vec<Arc<PrivateKey>>,
    /// Certificates without key: of signers.
    pub certificates: Vec<Arc<Certificate>>,
    /// Certificates without key that issued themselves: trust anchors.
    pub anchors: Vec<Arc<Certificate>>,
}

/// What an explanation judges by.
pub struct Desk {
    /// The P-Modes; `None` when there are none to judge by.
    pub pmodes: Option<PModeSet>,
    /// Who we are; `None` when no configuration says it, and the receiver is taken for us.
    pub(super) parties: Option<OwnParties>,
    pub(super) keys: Vec<Arc<PrivateKey>>,
    pub(super) certificates: Vec<Arc<Certificate>>,
    pub(super) trust: AnyTrust,
    pub(super) cache: CertificateCache,
    pub(super) limits: MessageLimits,
    pub(super) second_opinion: Option<u64>,
    pub(super) now: OffsetDateTime,
}

impl Desk {
    /// Puts it together from the configuration, where there is one.
    ///
    /// # Errors
    /// When a key or certificate that the configuration names cannot be used.
    pub fn new(
        config: Option<&Config>,
        pmodes: Option<PModeSet>,
        extra: Extra,
        now: OffsetDateTime,
    ) -> Result<Self, AssembleError> {
        let parties = config.map(own_parties).transpose()?.filter(|own| !own.parties.is_empty());
        let configured = config.map(trust).transpose()?;
        let anchored = config.is_some_and(|c| !c.trust.anchors.is_empty()) || !extra.anchors.is_empty();
        let anchors = extra.anchors.iter().filter_map(|a| Certificate::from_der(a.der()).ok()).collect();
        let given = Trust::new(anchors, Vec::new(), Options::default());
        let judges = configured.into_iter().chain([given]).map(MessageTrust).collect();
        let second = config.map_or(Some(crate::wss::engine::SECOND_OPINION_MAX), |c| {
            (c.wss.second_opinion == Switch::On).then_some(c.wss.second_opinion_max)
        });
        let mut keys = extra.keys;
        keys.extend(parties.iter().flat_map(|own| own.decryption_keys().cloned()));
        Ok(Self {
            pmodes,
            parties,
            keys,
            certificates: extra.certificates.into_iter().chain(extra.anchors).collect(),
            trust: AnyTrust { judges, anchored },
            cache: CertificateCache::default(),
            limits: limits(config),
            second_opinion: second,
            now,
        })
    }

    /// Our parties, with every key; without configuration the party with that id is taken for us.
    pub(super) fn parties(&self, receiver: &crate::ebms::Party) -> OwnParties {
        match &self.parties {
            Some(own) => {
                let mut own = own.clone();
                if let Some(first) = own.parties.first_mut() {
                    first.decryption.clone_from(&self.keys);
                }
                own
            }
            None => {
                let keys = &self.keys;
                let party = |id: &crate::ebms::PartyId| OwnParty {
                    name: id.value.clone(),
                    id: id.clone(),
                    signing: keys.clone(),
                    decryption: keys.clone(),
                };
                OwnParties { parties: receiver.ids.iter().take(1).map(party).collect() }
            }
        }
    }
}

fn limits(config: Option<&Config>) -> MessageLimits {
    let at = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    config.and_then(|config| config.msh.first()).map_or(
        MessageLimits { soap: 1 << 20, parts: 100, part: PartLimits { size: 2 << 30, ratio: 100 } },
        |msh| MessageLimits {
            soap: at(msh.limits.soap),
            parts: at(msh.limits.parts.into()),
            part: PartLimits {
                size: msh.limits.message.saturating_mul(msh.limits.ratio.into()),
                ratio: msh.limits.ratio,
            },
        },
    )
}

/// Accepts what one of its judges accepts: the configuration's anchors, or those given with the command.
pub(super) struct AnyTrust {
    judges: Vec<MessageTrust>,
    /// Whether there is any anchor.
    pub(super) anchored: bool,
}

impl AnyTrust {
    fn any(&self, judge: impl Fn(&MessageTrust) -> Result<Vec<String>, String>) -> Result<Vec<String>, String> {
        let mut refused = Err("there is no trust anchor".to_owned());
        for one in &self.judges {
            match judge(one) {
                Ok(path) => return Ok(path),
                Err(why) => refused = Err(why),
            }
        }
        refused
    }
}

impl SignerTrust for AnyTrust {
    fn pinned(&self, leaf: &Arc<Certificate>, now: OffsetDateTime) -> Result<Vec<String>, String> {
        self.any(|judge| judge.pinned(leaf, now))
    }

    fn chained(
        &self,
        leaf: &Certificate,
        chain: &[Arc<Certificate>],
        now: OffsetDateTime,
    ) -> Result<Vec<String>, String> {
        self.any(|judge| judge.chained(leaf, chain, now))
    }
}
