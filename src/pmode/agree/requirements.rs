//! What a P-Mode demands of a message that belongs to it: identifiers, properties, payloads, profile checks.

use super::{Finding, PROCESSING_MODE_MISMATCH, VALUE_INCONSISTENT};
use crate::ebms::{Href, Party, UserMessage};
use crate::pmode::identifier::is_absolute_uri;
use crate::pmode::model::{Check, Leg, LegNumber, PMode};

/// EB-039: without a type, PartyId, Service and `AgreementRef` are absolute URIs. An empty type is none (FR-058).
pub(in crate::pmode) fn identifiers(message: &UserMessage) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut look = |element: &'static str, value: &str, kind: Option<&String>| {
        if kind.is_none_or(|kind| kind.trim().is_empty()) && !is_absolute_uri(value) {
            let expected = "a type, or an absolute URI".to_owned();
            findings.push(Finding { code: VALUE_INCONSISTENT, element, found: value.to_owned(), expected });
        }
    };
    for id in &message.from.ids {
        look("eb:From/eb:PartyId", &id.value, id.kind.as_ref());
    }
    for id in &message.to.ids {
        look("eb:To/eb:PartyId", &id.value, id.kind.as_ref());
    }
    if let Some(agreement) = message.agreement.as_ref().filter(|a| !a.value.is_empty()) {
        look("eb:AgreementRef", &agreement.value, agreement.kind.as_ref());
    }
    look("eb:Service", &message.service.value, message.service.kind.as_ref());
    findings
}

/// Properties, payloads and profile checks; what a check in state `log` finds goes to `remarks`.
pub(in crate::pmode) fn requirements(
    pmode: &PMode,
    number: LegNumber,
    message: &UserMessage,
    findings: &mut Vec<Finding>,
    remarks: &mut Vec<Finding>,
) {
    let Some(leg) = pmode.leg(number) else { return };
    properties(leg, message, findings);
    parts(leg, message, findings);
    let checks = &pmode.checks;
    let mut file = |check: Check, found: Vec<Finding>| match check {
        Check::Off => {}
        Check::Log => remarks.extend(found),
        Check::Enforce => {
            let new: Vec<_> = found.into_iter().filter(|one| !findings.contains(one)).collect();
            findings.extend(new);
        }
    };
    file(checks.single_party_id, single(&message.from, "eb:From/eb:PartyId"));
    file(checks.single_party_id, single(&message.to, "eb:To/eb:PartyId"));
    file(checks.four_corner, four_corner(message));
    file(checks.empty_body, empty_body(message));
}

fn mismatch(element: &'static str, found: impl Into<String>, expected: impl Into<String>) -> Finding {
    Finding { code: PROCESSING_MODE_MISMATCH, element, found: found.into(), expected: expected.into() }
}

/// EB-046; `@type` is `string` where it is absent.
fn properties(leg: &Leg, message: &UserMessage, findings: &mut Vec<Finding>) {
    let element = "eb:MessageProperties/eb:Property";
    for agreed in &leg.business.properties {
        let mut found = message.properties.iter().filter(|p| p.name == agreed.name).peekable();
        if agreed.required && found.peek().is_none() {
            findings.push(mismatch(element, "", format!("the property `{}`", agreed.name)));
        }
        let Some(kind) = &agreed.kind else { continue };
        for property in found.filter(|p| p.kind.as_deref().unwrap_or("string") != kind) {
            let found = format!("{} (type {})", property.name, property.kind.as_deref().unwrap_or("string"));
            let expected = format!("type {kind}");
            findings.push(Finding { code: VALUE_INCONSISTENT, element, found, expected });
        }
    }
}

fn parts(leg: &Leg, message: &UserMessage, findings: &mut Vec<Finding>) {
    let (low, high) = leg.business.parts;
    let count = u32::try_from(message.parts.len()).unwrap_or(u32::MAX);
    if count < low || high.is_some_and(|high| count > high) {
        let expected = match high {
            Some(high) if high == low => format!("{low}"),
            Some(high) => format!("{low} to {high}"),
            None => format!("at least {low}"),
        };
        let found = format!("{count} payload parts");
        findings.push(mismatch("eb:PayloadInfo", found, format!("{expected} payload parts")));
    }
}

/// PR-015.
fn single(party: &Party, element: &'static str) -> Vec<Finding> {
    if party.ids.len() <= 1 {
        return Vec::new();
    }
    vec![mismatch(element, format!("{} ids", party.ids.len()), "one PartyId")]
}

/// PR-019.
fn four_corner(message: &UserMessage) -> Vec<Finding> {
    ["originalSender", "finalRecipient"]
        .into_iter()
        .filter(|name| message.property(name).is_none())
        .map(|name| mismatch("eb:MessageProperties/eb:Property", "", format!("the property `{name}`")))
        .collect()
}

/// PR-014.
fn empty_body(message: &UserMessage) -> Vec<Finding> {
    let in_body = message.parts.iter().filter(|part| matches!(part.href, Href::Body | Href::Element(_)));
    in_body.map(|_| mismatch("eb:PartInfo", "a payload in the SOAP Body", "payloads as MIME parts")).collect()
}
