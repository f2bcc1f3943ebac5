//! A submission to a complete header: every value, or for each missing one the reason (EB-044, EB-045, EB-046).

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use time::OffsetDateTime;

use crate::ebms::{AgreementRef, Href, MessageId, PartInfo, Party, PartyId, Property, Typed, UserMessage};
use crate::pmode::agree::{Criterion, identifiers, requirements};
use crate::pmode::agree::{failures, same_ids};
use crate::pmode::model::{Leg, LegNumber, PMode, PartySpec};
use crate::pmode::set::PModeSet;
use crate::wire::xml::names;

/// What a producer wants sent. Everything may be left to the P-Mode; what is given must agree with it.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The P-Mode's id; without it, the other values find the P-Mode.
    pub pmode: Option<String>,
    /// The sending party.
    pub from: Vec<PartyId>,
    /// The receiving party: the partner.
    pub to: Vec<PartyId>,
    /// `Service`.
    pub service: Option<Typed>,
    /// `Action`.
    pub action: Option<String>,
    /// `AgreementRef`.
    pub agreement: Option<Typed>,
    /// `ConversationId`.
    pub conversation_id: Option<String>,
    /// `RefToMessageId`.
    pub ref_to: Option<MessageId>,
    /// Message properties.
    pub properties: Vec<Property>,
    /// Payload parts in their order (EB-047).
    pub parts: Vec<PartInfo>,
    /// Octets of all payloads together, where known.
    pub size: Option<u64>,
}

/// Ids for the new message, drawn by the caller.
#[derive(Clone, Debug)]
pub struct NewIds {
    /// `MessageId`.
    pub message_id: MessageId,
    /// `ConversationId` where the producer gives none (EB-050).
    pub conversation_id: String,
}

/// A submission made complete.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The P-Mode it goes by.
    pub pmode: Arc<PMode>,
    /// Its leg.
    pub leg: LegNumber,
    /// The header.
    pub message: UserMessage,
}

/// A header value that is missing or cannot be sent, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingValue {
    /// The value, by its ebMS name.
    pub value: String,
    /// What is wrong, and what to give.
    pub reason: String,
}

impl fmt::Display for MissingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.value, self.reason)
    }
}

fn missing(value: impl Into<String>, reason: impl Into<String>) -> MissingValue {
    MissingValue { value: value.into(), reason: reason.into() }
}

/// Finds the P-Mode of a submission and completes its header.
///
/// # Errors
/// Every value that is missing, contradicts the P-Mode, or breaks what it demands.
pub fn complete_submission(
    set: &PModeSet,
    wanted: Wanted,
    ids: NewIds,
    now: OffsetDateTime,
) -> Result<Submission, Vec<MissingValue>> {
    let pmode = Arc::clone(choose(set, &wanted).map_err(|reason| vec![reason])?);
    let number = LegNumber::First;
    let leg = &pmode.leg;
    let mut problems = blanks(&wanted);
    let from = party("From", wanted.from, &pmode.initiator, names::ROLE_INITIATOR, &mut problems);
    let to = party("To", wanted.to, &pmode.responder, names::ROLE_RESPONDER, &mut problems);
    payloads(leg, &wanted.parts, wanted.size, &mut problems);
    let message = UserMessage {
        mpc: leg.business.mpc.clone(),
        timestamp: now,
        message_id: ids.message_id,
        ref_to: wanted.ref_to,
        from,
        to,
        agreement: agreement(&pmode, wanted.agreement),
        service: wanted.service.or_else(|| leg.business.service.clone()).unwrap_or_else(default_service),
        action: wanted.action.or_else(|| leg.business.action.clone()).unwrap_or_else(|| names::AS4_ACTION.to_owned()),
        conversation_id: wanted.conversation_id.unwrap_or(ids.conversation_id),
        properties: properties(leg, wanted.properties, &mut problems),
        parts: wanted.parts,
    };
    verify(&pmode, number, &message, &mut problems);
    if problems.is_empty() { Ok(Submission { pmode, leg: number, message }) } else { Err(problems) }
}

/// The P-Mode that a submission will go by: known before its payloads are, which it says how to pack.
///
/// # Errors
/// When there is none, or more than one.
pub fn pmode_for(set: &PModeSet, wanted: &Wanted) -> Result<Arc<PMode>, MissingValue> {
    choose(set, wanted).cloned()
}

/// By id; else the P-Mode that has the most of the wanted values, and none that differs.
fn choose<'s>(set: &'s PModeSet, wanted: &Wanted) -> Result<&'s Arc<PMode>, MissingValue> {
    if let Some(id) = &wanted.pmode {
        return set.find(id).ok_or_else(|| {
            let nearest = crate::pmode::error::nearest(id, set.iter().map(|pmode| pmode.id.as_str()));
            let hint = nearest.map_or_else(String::new, |n| format!(", did you mean `{n}`?"));
            missing("P-Mode", format!("there is no P-Mode `{id}`{hint}"))
        });
    }
    let fits: Vec<_> = set.iter().filter_map(|pmode| Some((fit(pmode, wanted)?, pmode))).collect();
    let most = fits.iter().map(|(fit, _)| *fit).max().unwrap_or_default();
    let best: Vec<_> = fits.into_iter().filter(|(fit, _)| *fit == most).map(|(_, pmode)| pmode).collect();
    match best[..] {
        [one] => Ok(one),
        [] => {
            Err(missing("P-Mode", "no P-Mode has these parties, service, action and agreement; name one, or add one"))
        }
        _ => {
            let ids: Vec<_> = best.iter().take(10).map(|pmode| format!("`{}`", pmode.id)).collect();
            let more = if best.len() > 10 { format!(" and {} more", best.len() - 10) } else { String::new() };
            Err(missing("P-Mode", format!("several P-Modes fit: {}{more}; name one", ids.join(", "))))
        }
    }
}

/// How many wanted values the P-Mode has; `None` if one differs.
fn fit(pmode: &PMode, wanted: &Wanted) -> Option<usize> {
    fn count<T: PartialEq>(wanted: Option<&T>, agreed: Option<&T>) -> Option<usize> {
        match (wanted, agreed) {
            (Some(wanted), Some(agreed)) => (wanted == agreed).then_some(1),
            _ => Some(0),
        }
    }
    let party = |wanted: &[PartyId], agreed: &PartySpec| {
        if wanted.is_empty() || agreed.ids.is_empty() {
            return Some(0);
        }
        same_ids(wanted, &agreed.ids).then_some(1)
    };
    let business = &pmode.leg.business;
    Some(
        count(wanted.agreement.as_ref(), pmode.agreement.as_ref())?
            + count(wanted.service.as_ref(), business.service.as_ref())?
            + count(wanted.action.as_ref(), business.action.as_ref())?
            + party(&wanted.from, &pmode.initiator)?
            + party(&wanted.to, &pmode.responder)?,
    )
}

/// FR-056: values with blanks around them are refused here as they are on the wire.
fn blanks(wanted: &Wanted) -> Vec<MissingValue> {
    let typed = |name: &'static str, value: Option<&Typed>| value.map(|v| (name, v.value.clone()));
    let ids = wanted.from.iter().map(|id| ("From", id)).chain(wanted.to.iter().map(|id| ("To", id)));
    let ids = ids.map(|(name, id)| (name, id.value.clone()));
    let values = [
        typed("Service", wanted.service.as_ref()),
        wanted.action.clone().map(|action| ("Action", action)),
        typed("AgreementRef", wanted.agreement.as_ref()),
    ];
    let bad = |text: &str| text.trim() != text || text.is_empty() || text.contains(char::is_control);
    ids.chain(values.into_iter().flatten())
        .filter(|(_, value)| bad(value))
        .map(|(name, value)| {
            missing(name, format!("`{value}` is empty, or has blanks around it or control characters"))
        })
        .collect()
}

fn party(
    name: &'static str,
    wanted: Vec<PartyId>,
    agreed: &PartySpec,
    role: &str,
    problems: &mut Vec<MissingValue>,
) -> Party {
    let ids = if wanted.is_empty() { agreed.ids.clone() } else { wanted };
    if ids.is_empty() {
        problems.push(missing(name, "the P-Mode leaves this party open; give its PartyId"));
    }
    Party { ids, role: agreed.role.clone().unwrap_or_else(|| role.to_owned()) }
}

fn default_service() -> Typed {
    Typed { value: names::AS4_SERVICE.to_owned(), kind: None }
}

/// EB-043: `@pmode` is sent only where the P-Mode says so.
fn agreement(pmode: &PMode, wanted: Option<Typed>) -> Option<AgreementRef> {
    let value = wanted.or_else(|| pmode.agreement.clone());
    let id = pmode.send_pmode_id.then(|| pmode.id.clone());
    match value {
        Some(Typed { value, kind }) => Some(AgreementRef { value, kind, pmode: id }),
        None => id.map(|id| AgreementRef { value: String::new(), kind: None, pmode: Some(id) }),
    }
}

/// What the producer gives, typed as agreed, and the defaults of the P-Mode for the rest.
fn properties(leg: &Leg, wanted: Vec<Property>, problems: &mut Vec<MissingValue>) -> Vec<Property> {
    let agreed = &leg.business.properties;
    let mut all = wanted;
    for property in &mut all {
        if property.name.is_empty() || property.value.is_empty() {
            let name = format!("Property `{}`", property.name);
            problems.push(missing(name, "a property has a name and a value that are not empty"));
        }
        if property.kind.is_none() {
            property.kind = agreed.iter().find(|spec| spec.name == property.name).and_then(|spec| spec.kind.clone());
        }
    }
    for spec in agreed {
        if all.iter().any(|property| property.name == spec.name) {
            continue;
        }
        if let Some(value) = &spec.default {
            all.push(Property { name: spec.name.clone(), kind: spec.kind.clone(), value: value.clone() });
        } else if spec.required {
            let name = format!("Property `{}`", spec.name);
            problems.push(missing(name, "the P-Mode requires it and has no default; give it with the submission"));
        }
    }
    all
}

fn payloads(leg: &Leg, parts: &[PartInfo], size: Option<u64>, problems: &mut Vec<MissingValue>) {
    for (at, part) in (1..).zip(parts) {
        let name = || format!("PartInfo {at}");
        if part.compression().is_some() {
            problems.push(missing(name(), "CompressionType is the gateway's own property; leave it out (PR-014)"));
        }
        if leg.compress && matches!(part.href, Href::Attachment(_)) && part.mime_type().is_none() {
            problems
                .push(missing(name(), "the P-Mode compresses payloads, so each needs the property MimeType (EB-171)"));
        }
        if let Href::External(url) = &part.href {
            problems.push(missing(name(), format!("`{url}` is elsewhere; payloads travel in the message")));
        }
    }
    if let (Some(size), Some(most)) = (size, leg.business.max_size)
        && size > most
    {
        problems.push(missing("PayloadInfo", format!("the payloads have {size} octets, at most {most} are agreed")));
    }
}

/// The finished header is what the partner will match: it is judged here as the partner will judge it.
fn verify(pmode: &PMode, number: LegNumber, message: &UserMessage, problems: &mut Vec<MissingValue>) {
    let clash = |criterion: Criterion| {
        let (expected, found) = (criterion.expected(pmode, number), criterion.found(message));
        missing(criterion.element(), format!("the P-Mode `{}` has {expected}, not `{found}`", pmode.id))
    };
    let open = |criterion: &Criterion| match criterion {
        Criterion::From => !message.from.ids.is_empty(),
        Criterion::To => !message.to.ids.is_empty(),
        _ => true,
    };
    problems.extend(failures(pmode, number, message).filter(open).map(clash));
    let mut findings = if pmode.lenient_identifiers { Vec::new() } else { identifiers(message) };
    requirements(pmode, number, message, &mut findings, &mut Vec::new());
    for finding in findings {
        // A required property that is missing was named above, with what to do about it.
        if finding.found.is_empty()
            && problems.iter().any(|p| p.value.strip_prefix("Property ").is_some_and(|n| finding.expected.ends_with(n)))
        {
            continue;
        }
        let found = if finding.found.is_empty() { "nothing".to_owned() } else { format!("`{}`", finding.found) };
        problems.push(missing(finding.element, format!("expected {}, found {found}", finding.expected)));
    }
}

#[cfg(test)]
mod tests;
