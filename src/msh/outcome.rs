//! What an answer to an attempt means for the retry: the one table of EB-098.
//!
//! | answer, or what came instead | consequence |
//! | --- | --- |
//! | receipt that matches | delivered |
//! | receipt that does not match (`EBMS:0302`) | alert; retries go on |
//! | failure (`eb:Error` or Fault) on the answer of our own request | final, except `EBMS:0005`, `EBMS:0202`; duplicate answers: EB-165 |
//! | no SOAP body, status 400, 401, 403, 405, 413, 414, 415, 431 | final |
//! | no SOAP body, any other status | retried |
//! | no answer: time-out, connection or TLS failure | retried |

use crate::ebms::{EbmsError, Severity};

/// What an attempt brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receipt matches what was sent.
    Delivered,
    /// Nothing is due on the back channel: a receipt will come in a request of its own.
    Awaiting,
    /// The leg asks for no receipt, and the partner took the message.
    Taken,
    /// A receipt that does not attest what was sent.
    InvalidReceipt(String),
    /// The partner says that it has this message already (EB-165).
    DuplicateAnswer(String),
    /// The partner, or HTTP, refused for good.
    Final {
        /// `EBMS:nnnn`, or the HTTP status.
        code: String,
        /// What was said.
        text: String,
    },
    /// Try again.
    Retry {
        /// What came instead of a receipt.
        why: String,
    },
}

/// HTTP statuses that end a message when no SOAP body explains them.
const FINAL_STATUS: [u16; 8] = [400, 401, 403, 405, 413, 414, 415, 431];

/// Judges an answer without SOAP body.
#[must_use]
pub fn without_soap(status: u16, excerpt: &str) -> Outcome {
    let said = if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") };
    if FINAL_STATUS.contains(&status) {
        return Outcome::Final { code: format!("HTTP {status}"), text: format!("HTTP status {status}{said}") };
    }
    Outcome::Retry { why: format!("HTTP status {status} without a SOAP answer{said}") }
}

/// Judges the errors of a signal on the answer of our own request. Warnings alone end nothing.
#[must_use]
pub fn of_errors(errors: &[EbmsError], duplicate_answers: &[(String, Option<String>)]) -> Option<Outcome> {
    let failure = errors.iter().find(|e| e.severity == Severity::Failure)?;
    let code = failure.code.as_str().to_owned();
    let text = said(failure);
    let duplicate = duplicate_answers.iter().any(|(listed, word)| {
        listed.trim_start_matches("EBMS:") == code.trim_start_matches("EBMS:")
            && word.as_ref().is_none_or(|w| {
                let w = w.to_lowercase();
                failure
                    .detail
                    .iter()
                    .chain(failure.description.iter().map(|d| &d.text))
                    .any(|t| t.to_lowercase().contains(&w))
            })
    });
    if duplicate {
        return Some(Outcome::DuplicateAnswer(format!("{code} {text}")));
    }
    if matches!(code.as_str(), "EBMS:0005" | "EBMS:0202") {
        return Some(Outcome::Retry { why: format!("{code} {text}") });
    }
    Some(Outcome::Final { code, text })
}

/// What an error says, cut for display (FR-064).
fn said(error: &EbmsError) -> String {
    let mut words: Vec<&str> = Vec::new();
    words.extend(error.short_description.as_deref());
    words.extend(error.description.as_ref().map(|d| d.text.as_str()));
    words.extend(error.detail.as_deref());
    words.dedup();
    words.join(": ").chars().take(1000).collect()
}

/// What becomes of a duplicate answer (EB-165): it proves delivery only if an earlier attempt was written whole and got
/// no answer at all.
#[must_use]
pub fn duplicate_proves_delivery(attempt: u32, earlier_unanswered: bool, earlier_refused: bool) -> bool {
    attempt > 1 && earlier_unanswered && !earlier_refused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ebms::Code;

    fn error(code: &str, severity: Severity, detail: &str) -> EbmsError {
        EbmsError {
            code: Code::read(code),
            severity,
            category: None,
            origin: None,
            short_description: None,
            ref_to_message_in_error: None,
            description: None,
            detail: Some(detail.to_owned()),
        }
    }

    fn duplicates() -> Vec<(String, Option<String>)> {
        vec![("EBMS:4001".into(), None), ("EBMS:0004".into(), Some("duplicate".into()))]
    }

    #[test]
    fn http_statuses_are_told_apart() {
        assert!(matches!(without_soap(400, ""), Outcome::Final { .. }));
        assert!(matches!(without_soap(404, "<html>"), Outcome::Retry { .. }));
        assert!(matches!(without_soap(503, ""), Outcome::Retry { .. }));
        assert!(matches!(without_soap(200, "{\"ok\":true}"), Outcome::Retry { .. }));
    }

    #[test]
    fn failures_are_final_but_for_the_temporary_ones() {
        let judge = |code: &str, detail| of_errors(&[error(code, Severity::Failure, detail)], &duplicates());
        assert!(matches!(judge("EBMS:0101", ""), Some(Outcome::Final { .. })));
        assert!(matches!(judge("EBMS:0202", ""), Some(Outcome::Retry { .. })));
        assert!(matches!(
            judge("EBMS:0004", "was already handled (this is a Duplicate)"),
            Some(Outcome::DuplicateAnswer(_))
        ));
        assert!(matches!(judge("EBMS:0004", "no"), Some(Outcome::Final { .. })));
        assert!(matches!(judge("EBMS:4001", ""), Some(Outcome::DuplicateAnswer(_))));
        assert_eq!(of_errors(&[error("EBMS:0002", Severity::Warning, "")], &duplicates()), None);
    }

    #[test]
    fn a_duplicate_answer_proves_delivery_only_after_silence() {
        assert!(duplicate_proves_delivery(2, true, false));
        assert!(!duplicate_proves_delivery(1, false, false));
        assert!(!duplicate_proves_delivery(3, true, true));
    }
}
