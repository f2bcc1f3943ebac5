//! The explanation of a match: every P-Mode, every criterion, expected and found.

use std::cmp::Reverse;
use std::fmt;

use serde::Serialize;

use super::criteria::{ALL, Criterion, Verdict, failures, specificity, verdict};
use super::{Finding, Reason, agree, distance, legs, selected};
use crate::ebms::UserMessage;
use crate::pmode::model::{LegNumber, PMode};
use crate::pmode::set::PModeSet;

/// Why a message was taken by a P-Mode, or by none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The message.
    pub message_id: String,
    /// The P-Mode that `AgreementRef/@pmode` selects, if we have it.
    pub selected: Option<String>,
    /// What came of it.
    pub outcome: Outcome,
    /// The P-Modes looked at, the nearest first.
    pub candidates: Vec<Candidate>,
    /// How many more there are, farther away.
    pub left_out: usize,
}

/// What came of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Outcome {
    /// The message belongs to a P-Mode.
    Matched {
        /// Its id.
        pmode: String,
        /// Its revision.
        revision: String,
        /// Its leg.
        leg: LegNumber,
        /// What profile checks in state `log` found.
        remarks: Vec<Finding>,
    },
    /// It belongs to none.
    Refused {
        /// The first finding's code.
        code: &'static str,
        /// Why.
        reason: Reason,
        /// The reason in a sentence.
        text: String,
        /// Each value that does not fit.
        findings: Vec<Finding>,
    },
}

/// One leg of one P-Mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The P-Mode's id.
    pub pmode: String,
    /// The leg.
    pub leg: LegNumber,
    /// The P-Mode's file.
    pub file: String,
    /// Whether every criterion is met.
    pub matched: bool,
    /// How many criteria the P-Mode sets: the most specific match wins.
    pub specificity: usize,
    /// Each criterion.
    pub criteria: Vec<Judged>,
}

/// One criterion, judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Which.
    pub criterion: Criterion,
    /// Whether it is met.
    pub passed: bool,
    /// The P-Mode's value; `any` where it takes all.
    pub expected: String,
    /// The message's value; empty where it has none.
    pub found: String,
}

/// Explains what [`agree()`] says of a message, with the `most` nearest P-Modes.
#[must_use]
pub fn explain(set: &PModeSet, message: &UserMessage, most: usize) -> Explanation {
    let all = set.pmodes.iter().flat_map(|pmode| legs(pmode).map(move |leg| (pmode, leg)));
    let mut ranked: Vec<_> = all.map(|(pmode, leg)| (distance(pmode, leg, message), pmode, leg)).collect();
    // Stable: equals stay in the order of their files.
    ranked.sort_by_key(|(distance, ..)| *distance);
    let selected = selected(set, message).and_then(|at| set.pmodes.get(at)).map(|pmode| pmode.id.clone());
    // The one that was selected is looked at first, however far away it is.
    ranked.sort_by_key(|(_, pmode, _)| Reverse(Some(&pmode.id) == selected.as_ref()));
    let left_out = ranked.len().saturating_sub(most);
    let candidates = ranked.iter().take(most).map(|(_, pmode, leg)| candidate(pmode, *leg, message)).collect();
    Explanation {
        message_id: message.message_id.to_string(),
        selected,
        outcome: outcome(set, message),
        candidates,
        left_out,
    }
}

fn outcome(set: &PModeSet, message: &UserMessage) -> Outcome {
    match agree(set, message) {
        Ok(agreed) => Outcome::Matched {
            pmode: agreed.pmode.id.clone(),
            revision: agreed.pmode.revision.clone(),
            leg: agreed.leg,
            remarks: agreed.remarks,
        },
        Err(refusal) => Outcome::Refused {
            code: refusal.code(),
            text: refusal.reason.to_string(),
            reason: refusal.reason,
            findings: refusal.findings,
        },
    }
}

fn candidate(pmode: &PMode, leg: LegNumber, message: &UserMessage) -> Candidate {
    let judged = |criterion: Criterion| Judged {
        criterion,
        passed: verdict(criterion, pmode, leg, message) != Verdict::Fail,
        expected: criterion.expected(pmode, leg),
        found: criterion.found(message),
    };
    Candidate {
        pmode: pmode.id.clone(),
        leg,
        file: pmode.file.display().to_string(),
        matched: failures(pmode, leg, message).next().is_none(),
        specificity: specificity(pmode, leg),
        criteria: ALL.into_iter().map(judged).collect(),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Matched { pmode, revision, .. } => {
                writeln!(f, "{} belongs to P-Mode `{pmode}` (revision {revision})", self.message_id)?;
            }
            Outcome::Refused { code, text, findings, .. } => {
                writeln!(f, "{} is refused with {code}: {text}", self.message_id)?;
                for finding in findings {
                    let Finding { code, element, found, expected } = finding;
                    writeln!(f, "  {code} {element}: expected {expected}, found `{found}`")?;
                }
            }
        }
        for candidate in &self.candidates {
            let mark = if candidate.matched { "matches" } else { "differs" };
            writeln!(f, "{mark}  {} ({}, sets {} criteria)", candidate.pmode, candidate.file, candidate.specificity)?;
            for judged in candidate.criteria.iter().filter(|judged| !judged.passed) {
                let element = judged.criterion.element();
                writeln!(f, "         {element}: expected {}, found `{}`", judged.expected, judged.found)?;
            }
        }
        if self.left_out > 0 {
            writeln!(f, "and {} more, farther away", self.left_out)?;
        }
        Ok(())
    }
}
