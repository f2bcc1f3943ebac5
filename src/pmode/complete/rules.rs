//! Rules between the values of one P-Mode (EB-154).

use openssl::pkey::Id;

use super::Findings;
use crate::ebms::PartyId;
use crate::pmode::draft::{LegDraft, PartyDraft, Set, Terms};
use crate::pmode::error::{Place, Problem};
use crate::pmode::identifier::is_absolute_uri;
use crate::pmode::model::{Binding, Check, Leg, Mep, PMode, PinnedCertificate, SubjectRule};
use crate::pmode::write::binding;
use crate::wire::xml::names;
use crate::wss::suite::SignatureAlgorithm;

/// Checks a P-Mode; `root` is the place for what has no line of its own.
pub(super) fn check(pmode: &PMode, terms: &Terms, root: &Place, findings: &mut Findings) {
    exchange(pmode, terms, root, findings);
    if !pmode.lenient_identifiers {
        identifiers(terms, findings);
    }
    for (name, party) in [("Initiator", &terms.initiator), ("Responder", &terms.responder)] {
        party_ids(name, party, pmode.checks.single_party_id, findings);
    }
    let nothing = LegDraft::default();
    let drafts = terms.legs.0.iter().chain(std::iter::repeat(&nothing));
    for (leg, draft) in std::iter::once(&pmode.leg).chain(&pmode.reply_leg).zip(drafts) {
        receipts(leg, draft, root, findings);
        reliability(leg, draft, root, findings);
        business(leg, draft, root, findings);
        strength(leg, draft, root, findings);
        keys(pmode, leg, terms, root, findings);
    }
}

fn at<'p, T>(set: Option<&'p Set<T>>, root: &'p Place) -> &'p Place {
    set.map_or(root, |set| &set.at)
}

/// MEP and binding agree, and are carried out by this version.
fn exchange(pmode: &PMode, terms: &Terms, root: &Place, findings: &mut Findings) {
    let place = at(terms.binding.as_ref(), terms.mep.as_ref().map_or(root, |set| &set.at));
    let one_way = matches!(pmode.binding, Binding::Push | Binding::Pull);
    let name = binding(pmode.binding);
    match (pmode.mep, one_way) {
        (Mep::OneWay, false) => {
            findings.rule(place, format!("MEP oneWay cannot have MEPbinding {name}; expected push or pull"));
        }
        (Mep::TwoWay, true) => {
            findings.rule(
                place,
                format!(
                    "MEP twoWay cannot have MEPbinding {name}; expected sync, pushAndPush, pushAndPull or pullAndPush"
                ),
            );
        }
        (Mep::OneWay, true) if pmode.binding == Binding::Push => {}
        _ => {
            let instead = "give MEP oneWay with MEPbinding push, and one P-Mode for each direction".to_owned();
            findings.error(place, Problem::NotOffered { what: format!("MEPbinding {name}"), instead });
        }
    }
    if pmode.mep == Mep::OneWay && pmode.reply_leg.is_some() || terms.legs.0.len() > 2 {
        findings.rule(root, "there are more legs than the MEP has; a one-way exchange has one, a two-way exchange two");
    }
}

/// EB-039: without `@type`, a value is an absolute URI.
fn identifiers(terms: &Terms, findings: &mut Findings) {
    let mut plain = |name: &str, value: &str, kind: Option<&String>, place: &Place| {
        if kind.is_none() && !is_absolute_uri(value) {
            findings.rule(
                place,
                format!(
                    "`{name}` is `{value}`, without type and no absolute URI (EBMS:0003 on the wire); give its type, or \
                     set lenientIdentifiers=\"true\""
                ),
            );
        }
    };
    if let Some(set) = &terms.agreement {
        plain("Agreement", &set.value.value, set.value.kind.as_ref(), &set.at);
    }
    for set in terms.initiator.ids.iter().chain(&terms.responder.ids) {
        plain("Party", &set.value.value, set.value.kind.as_ref(), &set.at);
    }
    for set in terms.legs.0.iter().filter_map(|leg| leg.business.service.as_ref()) {
        plain("Service", &set.value.value, set.value.kind.as_ref(), &set.at);
    }
}

/// Several ids of one party have distinct types; some profiles allow one only (PR-015).
fn party_ids(name: &str, party: &PartyDraft, single: Check, findings: &mut Findings) {
    let mut kinds: Vec<Option<&str>> = Vec::new();
    for Set { value: PartyId { kind, .. }, at } in &party.ids {
        if kind.is_some() && kinds.contains(&kind.as_deref()) {
            findings.rule(at, format!("`{name}` has two `Party` of one type; ids of one party differ in type"));
        }
        kinds.push(kind.as_deref());
    }
    if let (Check::Enforce, Some(second)) = (single, party.ids.get(1)) {
        findings.rule(&second.at, format!("`{name}` has several `Party`; the profile allows one"));
    }
}

fn receipts(leg: &Leg, draft: &LegDraft, root: &Place, findings: &mut Findings) {
    let (security, set) = (&leg.security, &draft.security);
    if leg.reception.enabled && !security.send_receipt {
        findings.rule(
            at(set.send_receipt.as_ref(), root),
            "ReceptionAwareness waits for receipts, and SendReceipt is off; switch SendReceipt on or ReceptionAwareness off",
        );
    }
    if security.receipts_by_callback() && security.reply_to.is_none() {
        findings.rule(
            at(set.reply_pattern.as_ref(), root),
            "callback receipts need an address; give SendReceipt replyTo=\"https://…\"",
        );
    }
    if security.non_repudiation && security.sign.is_none() {
        findings.rule(
            at(set.non_repudiation.as_ref(), root),
            "non-repudiation copies the signature's references, and Signature is off; set nonRepudiation=\"false\"",
        );
    }
    let errors = &leg.errors;
    if !errors.as_response && errors.receiver_errors_to.is_empty() {
        findings.warning(
            at(draft.errors.as_response.as_ref(), root),
            "errors are not sent as response, and no ReceiverErrorsTo is given: the sender never learns of a refusal",
        );
    }
}

/// IN-15: an id is remembered longer than the partner may repeat it.
fn reliability(leg: &Leg, draft: &LegDraft, root: &Place, findings: &mut Findings) {
    let reception = &leg.reception;
    let Some(horizon) = reception.retry.as_ref().map(crate::msh::reliability::RetryPlan::horizon) else { return };
    if reception.detect_duplicates && reception.window <= horizon {
        let say =
            |time: std::time::Duration| humantime::format_duration(std::time::Duration::from_secs(time.as_secs()));
        findings.rule(
            at(draft.reception.window.as_ref(), root),
            format!(
                "the duplicate window of {} is not longer than the {} that retries go on; widen it",
                say(reception.window),
                say(horizon)
            ),
        );
    }
}

fn business(leg: &Leg, draft: &LegDraft, root: &Place, findings: &mut Findings) {
    let business = &leg.business;
    let test_service = business.service.as_ref().is_some_and(|s| s.value == names::TEST_SERVICE);
    if business.action.as_deref() == Some(names::TEST_ACTION) && !test_service {
        findings.warning(
            at(draft.business.action.as_ref(), root),
            "the test action without the test service is an ordinary message and is delivered (EB-041)",
        );
    }
    for Set { value: property, at } in &draft.business.properties.0 {
        if property.name.trim() != property.name {
            findings.rule(at, format!("the property name `{}` has blanks around it", property.name));
        }
    }
    let address = leg.protocol.address.as_deref().unwrap_or_default();
    if leg.security.encrypt.is_none() && address.starts_with("http:") && !is_loopback(address) {
        findings.warning(
            at(draft.protocol.address.as_ref(), root),
            "messages are not encrypted and the address is not https: they travel in the clear",
        );
    }
}

fn is_loopback(address: &str) -> bool {
    let Ok(url) = url::Url::parse(address) else { return false };
    match url.host() {
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// `Encryption.MinimumStrength`.
fn strength(leg: &Leg, draft: &LegDraft, root: &Place, findings: &mut Findings) {
    let Some(encrypt) = &leg.security.encrypt else { return };
    let least = draft.security.minimum_strength.as_ref().map_or(128, |set| set.value);
    for algorithm in &encrypt.accepted {
        let bits = algorithm.key_length() * 8;
        if bits < usize::try_from(least).unwrap_or(usize::MAX) {
            findings.rule(
                at(draft.security.minimum_strength.as_ref(), root),
                format!("{} has {bits} bits, below the minimumStrength of {least}", algorithm.uri()),
            );
        }
    }
}

/// The pinned certificates have keys that the agreed algorithms can use, and somebody's signature can be accepted.
fn keys(pmode: &PMode, leg: &Leg, terms: &Terms, root: &Place, findings: &mut Findings) {
    for (party, draft) in [(&pmode.initiator, &terms.initiator), (&pmode.responder, &terms.responder)] {
        if let Some(sign) = &leg.security.sign
            && party.signing.len() == draft.signing.len()
        {
            for (pinned, set) in party.signing.iter().zip(&draft.signing) {
                if !sign.accepted.iter().any(|algorithm| signs(*algorithm, pinned)) {
                    findings.rule(
                        &set.at,
                        format!("the key in {} fits none of the signature algorithms accepted", pinned.file.display()),
                    );
                }
            }
        }
        if leg.security.encrypt.is_some() && party.encryption.len() == draft.encryption.len() {
            for (pinned, set) in party.encryption.iter().zip(&draft.encryption) {
                if pinned.certificate.public_key().id() != Id::RSA {
                    findings.rule(
                        &set.at,
                        format!("the key in {} is no RSA key, which the key transport needs", pinned.file.display()),
                    );
                }
            }
        }
    }
    let unbound = |party: &crate::pmode::PartySpec| party.signing.is_empty() && party.subject == SubjectRule::Pinned;
    if leg.security.sign.is_some() && unbound(&pmode.initiator) && unbound(&pmode.responder) {
        findings.rule(
            root,
            "messages are signed, and no signature can be accepted; give the partner's SigningCertificate, or a Subject \
             rule for certificates trusted by their chain",
        );
    }
}

/// Whether a key of that kind makes such signatures.
fn signs(algorithm: SignatureAlgorithm, pinned: &PinnedCertificate) -> bool {
    let kind = pinned.certificate.public_key().id();
    let name = algorithm.uri().rsplit('#').next().unwrap_or_default();
    match kind {
        Id::RSA => name.starts_with("rsa-") || name.contains("-rsa-"),
        Id::EC => name.starts_with("ecdsa-"),
        Id::ED25519 => name.ends_with("ed25519"),
        _ => true,
    }
}
