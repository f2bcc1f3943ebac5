//! The criteria by which a message belongs to a leg. What a P-Mode sets must be the same; what it leaves out is any
//! value (EB-153). Everything is compared exactly, types and letter case included (FR-055).

use serde::Serialize;

use crate::ebms::{Party, PartyId, Typed, UserMessage};
use crate::pmode::model::{Leg, LegNumber, PMode, PartySpec};
use crate::wire::xml::names;

/// One criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// `AgreementRef` with its type.
    Agreement,
    /// The set of `From/PartyId` (EB-042).
    From,
    /// `From/Role`.
    FromRole,
    /// The set of `To/PartyId`.
    To,
    /// `To/Role`.
    ToRole,
    /// `Service` with its type.
    Service,
    /// `Action`.
    Action,
    /// `@mpc`; none is the default channel on both sides.
    Mpc,
    /// `AgreementRef/@pmode`, where the P-Mode has it sent (EB-043).
    PModeId,
}

/// All criteria, the telling ones first.
pub(super) const ALL: [Criterion; 9] = [
    Criterion::Service,
    Criterion::Action,
    Criterion::From,
    Criterion::To,
    Criterion::Agreement,
    Criterion::FromRole,
    Criterion::ToRole,
    Criterion::Mpc,
    Criterion::PModeId,
];

/// What a criterion says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The P-Mode takes any value.
    Any,
    /// The values are the same.
    Pass,
    /// They differ.
    Fail,
}

fn of(same: bool) -> Verdict {
    if same { Verdict::Pass } else { Verdict::Fail }
}

fn optional<T>(expected: Option<&T>, same: impl FnOnce(&T) -> bool) -> Verdict {
    expected.map_or(Verdict::Any, |expected| of(same(expected)))
}

/// Judges one criterion.
pub(super) fn verdict(criterion: Criterion, pmode: &PMode, number: LegNumber, message: &UserMessage) -> Verdict {
    let Some(leg) = pmode.leg(number) else { return Verdict::Fail };
    match criterion {
        Criterion::Agreement => optional(pmode.agreement.as_ref(), |agreed| agreement(agreed, pmode, message)),
        Criterion::From => party(pmode.sender(number), &message.from),
        Criterion::FromRole => optional(pmode.sender(number).role.as_ref(), |role| *role == message.from.role),
        Criterion::To => party(pmode.receiver(number), &message.to),
        Criterion::ToRole => optional(pmode.receiver(number).role.as_ref(), |role| *role == message.to.role),
        Criterion::Service => optional(leg.business.service.as_ref(), |service| *service == message.service),
        Criterion::Action => optional(leg.business.action.as_ref(), |action| *action == message.action),
        Criterion::Mpc => of(channel(leg) == message.mpc.as_deref().unwrap_or(names::DEFAULT_MPC)),
        Criterion::PModeId if pmode.send_pmode_id => of(named(message) == Some(&pmode.id)),
        Criterion::PModeId => Verdict::Any,
    }
}

/// `AgreementRef/@pmode`.
pub(super) fn named(message: &UserMessage) -> Option<&str> {
    message.agreement.as_ref()?.pmode.as_deref()
}

/// An `AgreementRef` without a value names the agreement by its P-Mode alone (FR-053 c).
fn agreement(agreed: &Typed, pmode: &PMode, message: &UserMessage) -> bool {
    message.agreement.as_ref().is_some_and(|found| {
        if found.value.is_empty() {
            return found.pmode.as_deref() == Some(&pmode.id);
        }
        found.value == agreed.value && found.kind == agreed.kind
    })
}

pub(super) fn channel(leg: &Leg) -> &str {
    leg.business.mpc.as_deref().unwrap_or(names::DEFAULT_MPC)
}

fn party(agreed: &PartySpec, found: &Party) -> Verdict {
    if agreed.ids.is_empty() { Verdict::Any } else { of(same_ids(&agreed.ids, &found.ids)) }
}

/// Equal as sets: order does not matter (FR-054).
pub(in crate::pmode) fn same_ids(left: &[PartyId], right: &[PartyId]) -> bool {
    left.len() == right.len() && left.iter().all(|id| right.contains(id)) && right.iter().all(|id| left.contains(id))
}

/// Whether every criterion is met.
pub(super) fn matches(pmode: &PMode, leg: LegNumber, message: &UserMessage) -> bool {
    failures(pmode, leg, message).next().is_none()
}

/// The criteria that are not met.
pub(in crate::pmode) fn failures<'a>(
    pmode: &'a PMode,
    leg: LegNumber,
    message: &'a UserMessage,
) -> impl Iterator<Item = Criterion> + use<'a> {
    ALL.into_iter().filter(move |criterion| verdict(*criterion, pmode, leg, message) == Verdict::Fail)
}

/// How many criteria the P-Mode sets. A channel counts when it is not the default one.
pub(super) fn specificity(pmode: &PMode, number: LegNumber) -> usize {
    let Some(leg) = pmode.leg(number) else { return 0 };
    let (sender, receiver) = (pmode.sender(number), pmode.receiver(number));
    [
        pmode.agreement.is_some(),
        !sender.ids.is_empty(),
        sender.role.is_some(),
        !receiver.ids.is_empty(),
        receiver.role.is_some(),
        leg.business.service.is_some(),
        leg.business.action.is_some(),
        channel(leg) != names::DEFAULT_MPC,
        pmode.send_pmode_id,
    ]
    .into_iter()
    .filter(|set| *set)
    .count()
}

impl Criterion {
    /// The element that the criterion looks at.
    #[must_use]
    pub fn element(self) -> &'static str {
        match self {
            Self::Agreement => "eb:AgreementRef",
            Self::From => "eb:From/eb:PartyId",
            Self::FromRole => "eb:From/eb:Role",
            Self::To => "eb:To/eb:PartyId",
            Self::ToRole => "eb:To/eb:Role",
            Self::Service => "eb:Service",
            Self::Action => "eb:Action",
            Self::Mpc => "eb:UserMessage/@mpc",
            Self::PModeId => "eb:AgreementRef/@pmode",
        }
    }

    /// The message's value as text; empty when it has none.
    #[must_use]
    pub fn found(self, message: &UserMessage) -> String {
        match self {
            Self::Agreement => {
                message.agreement.as_ref().map_or_else(String::new, |a| typed(&a.value, a.kind.as_ref()))
            }
            Self::From => ids(&message.from.ids),
            Self::FromRole => message.from.role.clone(),
            Self::To => ids(&message.to.ids),
            Self::ToRole => message.to.role.clone(),
            Self::Service => typed(&message.service.value, message.service.kind.as_ref()),
            Self::Action => message.action.clone(),
            Self::Mpc => message.mpc.clone().unwrap_or_else(|| names::DEFAULT_MPC.to_owned()),
            Self::PModeId => named(message).unwrap_or_default().to_owned(),
        }
    }

    /// The P-Mode's value as text.
    #[must_use]
    pub fn expected(self, pmode: &PMode, number: LegNumber) -> String {
        let any = || "any".to_owned();
        let of = |value: &Typed| typed(&value.value, value.kind.as_ref());
        let party = |spec: &PartySpec| if spec.ids.is_empty() { any() } else { ids(&spec.ids) };
        let Some(leg) = pmode.leg(number) else { return any() };
        match self {
            Self::Agreement => pmode.agreement.as_ref().map_or_else(any, of),
            Self::From => party(pmode.sender(number)),
            Self::FromRole => pmode.sender(number).role.clone().unwrap_or_else(any),
            Self::To => party(pmode.receiver(number)),
            Self::ToRole => pmode.receiver(number).role.clone().unwrap_or_else(any),
            Self::Service => leg.business.service.as_ref().map_or_else(any, of),
            Self::Action => leg.business.action.clone().unwrap_or_else(any),
            Self::Mpc => channel(leg).to_owned(),
            Self::PModeId if pmode.send_pmode_id => pmode.id.clone(),
            Self::PModeId => any(),
        }
    }
}

fn typed(value: &str, kind: Option<&String>) -> String {
    match kind {
        Some(kind) => format!("{value} (type {kind})"),
        None => value.to_owned(),
    }
}

fn ids(ids: &[PartyId]) -> String {
    ids.iter().map(|id| typed(&id.value, id.kind.as_ref())).collect::<Vec<_>>().join(", ")
}
