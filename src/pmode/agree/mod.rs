//! Which P-Mode a received user message belongs to, and if none, why (EB-150 … EB-153, EB-040 … EB-046).
//!
//! [`agree()`] answers in microseconds whatever the number of P-Modes; [`explain`] looks at every one again and says
//! for each criterion what was expected and what was found.

mod criteria;
mod explain;
mod index;
mod requirements;

use std::sync::Arc;

use serde::Serialize;

pub use self::criteria::Criterion;
use self::criteria::{Verdict, matches, specificity, verdict};
pub(super) use self::criteria::{failures, same_ids};
pub use self::explain::{Candidate, Explanation, Judged, Outcome, explain};
pub(super) use self::index::{Index, overlap};
pub(super) use self::requirements::{identifiers, requirements};
use super::model::{LegNumber, PMode};
use super::set::PModeSet;
use crate::ebms::UserMessage;

/// `ValueNotRecognized`.
pub const VALUE_NOT_RECOGNIZED: &str = "EBMS:0001";
/// `ValueInconsistent`.
pub const VALUE_INCONSISTENT: &str = "EBMS:0003";
/// `ProcessingModeMismatch`.
pub const PROCESSING_MODE_MISMATCH: &str = "EBMS:0010";

/// The P-Mode and leg that a message belongs to.
#[derive(Clone, Debug)]
pub struct Agreed {
    /// The P-Mode.
    pub pmode: Arc<PMode>,
    /// Its leg.
    pub leg: LegNumber,
    /// What profile checks in state `log` found (PR-004).
    pub remarks: Vec<Finding>,
}

/// One value that does not fit: one `eb:Error` (FR-060).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `EBMS:nnnn`.
    pub code: &'static str,
    /// The element it stands in, such as `eb:AgreementRef`.
    pub element: &'static str,
    /// The value as received.
    pub found: String,
    /// What would fit: for the operator, never for the partner.
    pub expected: String,
}

impl Finding {
    /// Text for `eb:ErrorDetail`: element and value refused, and nothing about us (FR-061).
    #[must_use]
    pub fn detail(&self) -> String {
        if self.found.is_empty() {
            return format!("{} is missing", self.element);
        }
        let found: String = self.found.chars().take(256).collect();
        match self.code {
            VALUE_NOT_RECOGNIZED => format!("{} `{found}` is not known", self.element),
            VALUE_INCONSISTENT => format!("{} `{found}` is inconsistent", self.element),
            _ => format!("{} `{found}` is not agreed", self.element),
        }
    }
}

/// Why no P-Mode was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Nothing is agreed with anybody.
    #[error("no P-Mode is loaded; add one to the P-Mode folder")]
    NoPModes,
    /// None fits; the findings are about the nearest one.
    #[error("no P-Mode matches; the nearest is `{nearest}`")]
    NoMatch {
        /// Its id.
        nearest: String,
    },
    /// `AgreementRef/@pmode` names a P-Mode whose other values differ.
    #[error("AgreementRef/@pmode selects `{pmode}`, and the message contradicts it")]
    Contradicts {
        /// Its id.
        pmode: String,
    },
    /// EB-151.
    #[error("several P-Modes match and none is more specific: {}; let them differ, or remove one", .pmodes.join(", "))]
    Ambiguous {
        /// Their ids.
        pmodes: Vec<String>,
    },
    /// It belongs to the P-Mode, and lacks what that demands.
    #[error("the message belongs to `{pmode}`, and does not meet its demands")]
    Demands {
        /// Its id.
        pmode: String,
    },
}

/// A message that no P-Mode takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{reason}{}", summary(.findings))]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// At least one.
    pub findings: Vec<Finding>,
}

fn summary(findings: &[Finding]) -> String {
    let said =
        findings.iter().map(|f| format!("{} {}: expected {}, found `{}`", f.code, f.element, f.expected, f.found));
    said.fold(String::new(), |text, one| text + "; " + &one)
}

impl Refusal {
    /// The code of the first finding.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.findings.first().map_or(PROCESSING_MODE_MISMATCH, |finding| finding.code)
    }

    fn new(reason: Reason, findings: Vec<Finding>) -> Self {
        Self { reason, findings }
    }
}

/// A leg of a P-Mode in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LegOf {
    pub(super) pmode: usize,
    pub(super) leg: LegNumber,
}

/// Finds the P-Mode and leg of a received message.
///
/// # Errors
/// When none matches, several match equally, or the one that matches demands what the message lacks.
pub fn agree(set: &PModeSet, message: &UserMessage) -> Result<Agreed, Refusal> {
    let chosen = choose(set, message)?;
    let Some(pmode) = set.pmodes.get(chosen.pmode) else {
        return Err(Refusal::new(Reason::NoPModes, vec![nothing_loaded()]));
    };
    let mut findings = if pmode.lenient_identifiers { Vec::new() } else { identifiers(message) };
    let mut remarks = Vec::new();
    requirements(pmode, chosen.leg, message, &mut findings, &mut remarks);
    if findings.is_empty() {
        return Ok(Agreed { pmode: Arc::clone(pmode), leg: chosen.leg, remarks });
    }
    Err(Refusal::new(Reason::Demands { pmode: pmode.id.clone() }, findings))
}

/// The leg by `@pmode`, else the most specific one that matches.
fn choose(set: &PModeSet, message: &UserMessage) -> Result<LegOf, Refusal> {
    if let Some(position) = selected(set, message) {
        return by_id(set, message, position);
    }
    let mut best: Vec<LegOf> = Vec::new();
    let mut most = 0;
    for candidate in set.index.candidates(message) {
        let Some(pmode) = set.pmodes.get(candidate.pmode) else { continue };
        if !matches(pmode, candidate.leg, message) {
            continue;
        }
        let specific = specificity(pmode, candidate.leg);
        if best.is_empty() || specific > most {
            best.clear();
            most = specific;
        }
        if specific == most {
            best.push(candidate);
        }
    }
    match best[..] {
        [one] => Ok(one),
        [] => Err(no_match(set, message)),
        _ => Err(ambiguous(set, &best)),
    }
}

/// The P-Mode that `AgreementRef/@pmode` names, if we have it.
fn selected(set: &PModeSet, message: &UserMessage) -> Option<usize> {
    set.position(message.agreement.as_ref()?.pmode.as_deref()?)
}

fn by_id(set: &PModeSet, message: &UserMessage, position: usize) -> Result<LegOf, Refusal> {
    let legs = || set.pmodes.get(position).into_iter().flat_map(|pmode| legs(pmode).map(move |leg| (pmode, leg)));
    if let Some((_, leg)) = legs().find(|(pmode, leg)| matches(pmode, *leg, message)) {
        return Ok(LegOf { pmode: position, leg });
    }
    let nearest = legs().min_by_key(|(pmode, leg)| failures(pmode, *leg, message).count());
    let findings = nearest.map_or_else(Vec::new, |(pmode, leg)| misfits(set, pmode, leg, message));
    let id = set.pmodes.get(position).map_or_else(String::new, |pmode| pmode.id.clone());
    Err(Refusal::new(Reason::Contradicts { pmode: id }, findings))
}

/// The legs that a P-Mode has.
fn legs(pmode: &PMode) -> impl Iterator<Item = LegNumber> + use<> {
    std::iter::once(LegNumber::First).chain(pmode.reply_leg.is_some().then_some(LegNumber::Reply))
}

fn nothing_loaded() -> Finding {
    Finding {
        code: PROCESSING_MODE_MISMATCH,
        element: "eb:CollaborationInfo",
        found: String::new(),
        expected: "a P-Mode".to_owned(),
    }
}

/// Looks for the P-Mode that comes nearest: few differences, the same parties, much agreed.
fn no_match(set: &PModeSet, message: &UserMessage) -> Refusal {
    let near = set.index.near(message).filter_map(|near| Some((set.pmodes.get(near.pmode)?, near.leg)));
    let nearest = near.min_by_key(|(pmode, leg)| distance(pmode, *leg, message));
    let Some((pmode, leg)) = nearest else { return Refusal::new(Reason::NoPModes, vec![nothing_loaded()]) };
    let mut findings = if pmode.lenient_identifiers { Vec::new() } else { identifiers(message) };
    for misfit in misfits(set, pmode, leg, message) {
        if !findings.iter().any(|other| other.element == misfit.element) {
            findings.push(misfit);
        }
    }
    Refusal::new(Reason::NoMatch { nearest: pmode.id.clone() }, findings)
}

/// Smaller is nearer.
fn distance(pmode: &PMode, leg: LegNumber, message: &UserMessage) -> (usize, bool, bool, std::cmp::Reverse<usize>) {
    let fails = |criterion| verdict(criterion, pmode, leg, message) == Verdict::Fail;
    let count = failures(pmode, leg, message).count();
    (count, fails(Criterion::From), fails(Criterion::To), std::cmp::Reverse(specificity(pmode, leg)))
}

/// What keeps a message from a P-Mode: `0001` for a value that no P-Mode has, `0010` for one that others have (EB-040).
fn misfits(set: &PModeSet, pmode: &PMode, leg: LegNumber, message: &UserMessage) -> Vec<Finding> {
    failures(pmode, leg, message)
        .map(|criterion| {
            let found = criterion.found(message);
            let known = found.is_empty() || set.index.knows(criterion, message);
            let code = if known { PROCESSING_MODE_MISMATCH } else { VALUE_NOT_RECOGNIZED };
            Finding { code, element: criterion.element(), found, expected: criterion.expected(pmode, leg) }
        })
        .collect()
}

fn ambiguous(set: &PModeSet, best: &[LegOf]) -> Refusal {
    let pmodes: Vec<String> = best.iter().filter_map(|at| set.pmodes.get(at.pmode)).map(|p| p.id.clone()).collect();
    let expected = format!("one P-Mode, and {} match", pmodes.join(", "));
    let (code, element) = (PROCESSING_MODE_MISMATCH, "eb:CollaborationInfo");
    let found = "a combination that several agreements have".to_owned();
    Refusal::new(Reason::Ambiguous { pmodes }, vec![Finding { code, element, found, expected }])
}

#[cfg(test)]
mod tests;
