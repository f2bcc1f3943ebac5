//! What each P-Mode asks of us: the keys to sign and to decrypt with, an address to send to, somebody to trust.

use std::sync::Arc;

use super::{Context, Finding, Severity};
use crate::config::PartyConfig;
use crate::ebms::PartyId;
use crate::pmode::{Leg, LegNumber, PMode, PModeSet, PartySpec, PinnedCertificate, SubjectRule};
use crate::wss::Certificate;

/// Our side of every P-Mode.
pub(super) fn needs(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for pmode in context.pmodes.iter().flat_map(PModeSet::iter) {
        let mut side = Side { context, pmode, found: &mut found };
        side.look();
    }
    found
}

/// The certificates of our keys, as far as they can be read: what cannot is told elsewhere.
#[derive(Debug, Default)]
pub(super) struct OwnKeys {
    signing: Vec<Certificate>,
    decryption: Vec<Certificate>,
    /// Whether all that is named could be read.
    complete: bool,
}

impl OwnKeys {
    pub(super) fn read(party: &PartyConfig) -> Self {
        let first = |pair: &crate::config::KeyConfig| {
            let pem = std::fs::read(&pair.certificate).ok()?;
            Certificate::all_from_pem(&pem).ok()?.into_iter().next()
        };
        let (signing, decryption): (Vec<_>, Vec<_>) =
            (party.signing.iter().filter_map(first).collect(), party.decryption.iter().filter_map(first).collect());
        let complete = (signing.len(), decryption.len()) == (party.signing.len(), party.decryption.len());
        Self { signing, decryption, complete }
    }
}

/// One P-Mode as seen from here.
struct Side<'a> {
    context: &'a Context<'a>,
    pmode: &'a Arc<PMode>,
    found: &'a mut Vec<Finding>,
}

impl<'a> Side<'a> {
    fn add(&mut self, severity: Severity, message: String, next: impl Into<String>) {
        self.found.push(Finding::new(severity, Some(self.pmode.place.to_string()), message).next(next));
    }

    fn ours(&self, spec: &PartySpec) -> Option<(&'a PartyConfig, &'a OwnKeys)> {
        let mut all = self.context.loaded.config.party.iter().zip(&self.context.own);
        all.find(|(party, _)| spec.ids.contains(&PartyId { value: party.id.clone(), kind: party.kind.clone() }))
    }

    fn look(&mut self) {
        let pmode = Arc::clone(self.pmode);
        let anybody = pmode.initiator.ids.is_empty() || pmode.responder.ids.is_empty();
        if !anybody && self.ours(&pmode.initiator).is_none() && self.ours(&pmode.responder).is_none() {
            let message = format!("P-Mode `{}` names none of our parties: no message falls under it", pmode.id);
            self.add(Severity::Warning, message, "compare id and type of Initiator and Responder with [[party]]");
        }
        for number in [LegNumber::First, LegNumber::Reply] {
            let Some(leg) = pmode.leg(number) else { continue };
            let (sender, receiver) = (pmode.sender(number), pmode.receiver(number));
            if let Some((party, keys)) = self.ours(sender) {
                self.sends(leg, (party, keys), sender, receiver);
            }
            if let Some((party, keys)) = self.ours(receiver) {
                self.receives(leg, (party, keys), sender, receiver);
            }
        }
    }

    fn sends(&mut self, leg: &Leg, (party, keys): (&PartyConfig, &OwnKeys), sender: &PartySpec, receiver: &PartySpec) {
        let id = self.pmode.id.clone();
        if leg.security.sign.is_some() {
            self.signs("messages", (party, keys), sender);
            self.believes("receipts", receiver);
        }
        if leg.security.encrypt.is_some() && receiver.encryption_at(self.context.now).is_none() {
            let message = format!("P-Mode `{id}` encrypts, and no certificate to encrypt to is valid now");
            self.add(Severity::Error, message, "give the receiver's EncryptionCertificate");
        }
        if leg.protocol.address.is_none() {
            let message = format!("P-Mode `{id}` has no Address: party `{}` cannot send by it", party.name);
            self.add(Severity::Warning, message, "add <Protocol><Address>https://…</Address></Protocol> to its Leg");
        }
    }

    fn receives(
        &mut self,
        leg: &Leg,
        (party, keys): (&PartyConfig, &OwnKeys),
        sender: &PartySpec,
        receiver: &PartySpec,
    ) {
        if leg.security.sign.is_some() {
            self.believes("messages", sender);
            if leg.security.send_receipt {
                self.signs("receipts", (party, keys), receiver);
            }
        }
        if leg.security.encrypt.is_some() {
            self.decrypts((party, keys), receiver);
        }
        if leg.security.receipts_by_callback() {
            let id = &self.pmode.id;
            let message =
                format!("P-Mode `{id}` wants our receipts by callback, which is not offered: its messages are refused");
            self.add(Severity::Error, message, "agree on replyPattern=\"response\" with the partner");
        }
    }

    /// The key that will be taken is one that the partner knows.
    fn signs(&mut self, what: &str, (party, keys): (&PartyConfig, &OwnKeys), spec: &PartySpec) {
        let (id, now, name) = (self.pmode.id.clone(), self.context.now, &party.name);
        let usable = keys.signing.iter().filter(|own| own.valid_at(now)).max_by_key(|own| own.not_before());
        let Some(own) = usable else {
            if keys.complete {
                let message = format!("P-Mode `{id}` signs {what}, and party `{name}` has no valid signing key");
                self.add(
                    Severity::Error,
                    message,
                    format!("add a signing key and its certificate to [[party]] `{name}`"),
                );
            }
            return;
        };
        if !spec.signing.is_empty() && !spec.signing_at(now).any(|pinned| *pinned.certificate == *own) {
            let message = format!(
                "P-Mode `{id}`: party `{name}` signs {what} with {} (serial {}), which is not a SigningCertificate agreed \
                 for it: the partner will refuse them",
                own.subject(),
                own.serial()
            );
            self.add(Severity::Error, message, "agree on it with the partner, or take the key that was agreed");
        }
    }

    /// Whatever the partner may encrypt to, we can open.
    fn decrypts(&mut self, (party, keys): (&PartyConfig, &OwnKeys), spec: &PartySpec) {
        let (id, name) = (self.pmode.id.clone(), &party.name);
        if keys.decryption.is_empty() {
            if keys.complete {
                let message = format!("P-Mode `{id}` encrypts, and party `{name}` has no decryption key");
                let next = format!("add a decryption key and its certificate to [[party]] `{name}`");
                self.add(Severity::Error, message, next);
            }
            return;
        }
        let fits = |pinned: &PinnedCertificate| {
            keys.decryption.iter().any(|own| own.public_key().public_eq(pinned.certificate.public_key()))
        };
        if !keys.complete {
            return;
        }
        let missing = spec.encryption.iter().filter(|pinned| pinned.usable_at(self.context.now)).filter(|p| !fits(p));
        for pinned in missing.collect::<Vec<_>>() {
            let message = format!(
                "P-Mode `{id}`: partners encrypt to {} ({}), and party `{name}` has no decryption key for it",
                pinned.certificate.subject(),
                pinned.file.display()
            );
            let finding = Finding::new(Severity::Error, Some(pinned.place.to_string()), message);
            self.found.push(
                finding
                    .next(format!("add that key to [[party]] `{name}`, or agree on a certificate whose key is here")),
            );
        }
    }

    /// Somebody's signature can be accepted.
    fn believes(&mut self, what: &str, spec: &PartySpec) {
        let id = self.pmode.id.clone();
        let pinned = spec.signing_at(self.context.now).next().is_some();
        if pinned || !self.context.loaded.config.trust.anchors.is_empty() && spec.subject != SubjectRule::Pinned {
            return;
        }
        let (message, next) = if spec.subject == SubjectRule::Pinned {
            let message =
                format!("P-Mode `{id}`: no SigningCertificate is valid now, so the partner's {what} are refused");
            (message, "name the partner's current SigningCertificate")
        } else {
            let message =
                format!("P-Mode `{id}` trusts the partner's {what} by their chain, and there is no trust anchor");
            (message, "name the authority's certificate in [trust] anchors")
        };
        self.add(Severity::Error, message, next);
    }
}
