//! What the end of an attempt means for its message: the state that follows, in words, in figures.

use super::outgoing::Outbound;
use super::{Gateway, ids};
use crate::emit;
use crate::msh::reliability::Next;
use crate::msh::{Outcome, conclude, outcome};
use crate::store::sender_log::{Ended, Sending};
use crate::store::{At, Outgoing};
use crate::telemetry::{event, metrics};
use crate::transport::post::{PostError, Posted};

/// A message that failed, for whatever an attempt met.
pub(super) fn failed(outcome: &'static str, detail: String) -> Ended {
    Ended {
        next: Outgoing::Failed,
        due: None,
        proof: None,
        outcome,
        detail,
        http_status: None,
        fully_written: false,
        unanswered: false,
        refused: false,
    }
}

/// Judges an answer: from what it says to the state that follows, and its SOAP part.
pub(super) fn answered(
    gateway: &Gateway,
    out: &Outbound,
    claimed: &Sending,
    posted: &Posted,
) -> (Ended, Option<String>) {
    let status = posted.status.as_u16();
    let content_type = posted.headers.get(http::header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let bench = gateway.answer_bench(ids::now());
    let concluded =
        tokio::task::block_in_place(|| conclude::conclude(status, content_type, &posted.body, &out.expected(), &bench));
    let notes = concluded.notes.join("; ");
    let whole = posted.fully_written;
    let silent = posted.earlier_written;
    let mut ended = match concluded.outcome {
        Outcome::Delivered => Ended {
            next: Outgoing::Delivered,
            proof: Some("receipt"),
            ..failed("receipt", if notes.is_empty() { "receipt".to_owned() } else { format!("receipt: {notes}") })
        },
        Outcome::Taken => Ended {
            next: Outgoing::Delivered,
            proof: Some("none"),
            ..failed("taken", "taken; no receipt is agreed".to_owned())
        },
        Outcome::Awaiting => Ended {
            next: Outgoing::AwaitingReceipt,
            due: awaited(out, claimed),
            ..failed("awaiting_receipt", "taken; the receipt will come in a request of its own".to_owned())
        },
        Outcome::InvalidReceipt(why) => {
            let why = format!("EBMS:0302 the receipt is not accepted: {why}");
            retry(out, claimed, "invalid_receipt", why)
        }
        Outcome::DuplicateAnswer(said) => {
            duplicate(claimed, &said, concluded.signed || out.leg().security.sign.is_none(), silent)
        }
        Outcome::Final { code, text } => Ended { refused: true, ..failed("refused", format!("{code} {text}")) },
        Outcome::Retry { why } => Ended { refused: true, ..retry(out, claimed, "no_receipt", why) },
    };
    if !notes.is_empty() && ended.next != Outgoing::Delivered {
        ended.detail = format!("{} ({notes})", ended.detail);
    }
    (Ended { http_status: Some(i32::from(status)), fully_written: whole, unanswered: silent, ..ended }, concluded.soap)
}

/// EB-165.
fn duplicate(claimed: &Sending, said: &str, believed: bool, silent: bool) -> Ended {
    let attempt = u32::try_from(claimed.attempt_count).unwrap_or(1) + u32::from(silent);
    if believed && outcome::duplicate_proves_delivery(attempt, claimed.unanswered || silent, claimed.refused) {
        let detail =
            format!("the partner says that it has this message already, after an attempt without answer: {said}");
        return Ended { next: Outgoing::Delivered, proof: Some("none"), ..failed("duplicate", detail) };
    }
    Ended { refused: true, ..failed("duplicate", format!("outcome unknown: {said}")) }
}

/// The next attempt by the P-Mode's plan, or the end.
pub(super) fn retry(out: &Outbound, claimed: &Sending, outcome: &'static str, why: String) -> Ended {
    let attempt = u32::try_from(claimed.attempt_count).unwrap_or(u32::MAX);
    let next = match &out.leg().reception.retry {
        Some(plan) => plan.next(attempt, claimed.created_at.0, ids::now(), ids::chance()),
        None => Next::GiveUp,
    };
    let base = failed(outcome, why);
    match next {
        Next::Retry(at) => Ended { next: Outgoing::Pending, due: Some(At::from(at)), ..base },
        Next::GiveUp => Ended {
            detail: format!("EBMS:0301 no receipt after {attempt} attempts; the last: {}", base.detail),
            ..base
        },
    }
}

/// When a receipt that comes in a request of its own is overdue: the plan's wait after this attempt.
fn awaited(out: &Outbound, claimed: &Sending) -> Option<At> {
    let plan = out.leg().reception.retry?;
    let attempt = u32::try_from(claimed.attempt_count).unwrap_or(u32::MAX);
    match plan.next(attempt, claimed.created_at.0, ids::now(), 0.5) {
        Next::Retry(at) => Some(At::from(at)),
        Next::GiveUp => Some(At::from(ids::now() + plan.max)),
    }
}

/// What the timeline and the log call the end of an attempt: the same.
fn named(ended: &Ended) -> event::Event {
    match (ended.next, ended.outcome) {
        (Outgoing::Delivered, _) => event::SEND_DELIVERED,
        (Outgoing::AwaitingReceipt, _) => event::SEND_ATTEMPT,
        (Outgoing::Failed, "duplicate") => event::SEND_OUTCOME_UNKNOWN,
        (Outgoing::Failed, _) if ended.detail.starts_with("EBMS:0301") => event::SEND_FAILED,
        (Outgoing::Failed, _) => event::SEND_REFUSED,
        (_, "unreachable") => event::SEND_UNREACHABLE,
        (_, "invalid_receipt") => event::SEND_RECEIPT_WRONG,
        _ => event::SEND_RECEIPT_MISSING,
    }
}

/// The timeline's line.
pub(super) fn line(claimed: &Sending, ended: &Ended) -> (&'static str, String) {
    let (code, attempt) = (named(ended).code, claimed.attempt_count);
    let refused = if code == event::SEND_REFUSED.code { "refused: " } else { "" };
    let next = ended.due.filter(|_| ended.next == Outgoing::Pending);
    let next = next.map_or_else(String::new, |at| format!("; again at {at}"));
    (code, format!("attempt {attempt}: {refused}{}{next}", ended.detail))
}

/// The log and the figures.
pub(super) fn tell(claimed: &Sending, ended: &Ended) {
    let (id, partner, attempt) = (&claimed.message_id, &claimed.partner, claimed.attempt_count);
    let detail = &ended.detail;
    let became = match ended.next {
        Outgoing::Delivered => {
            metrics::messages_total("out", partner, &claimed.pmode, "delivered").increment(1);
            let since = (ids::now() - claimed.created_at.0).as_seconds_f64();
            metrics::receipt_seconds(partner).record(since.max(0.0));
            " delivered"
        }
        Outgoing::Failed => {
            metrics::messages_total("out", partner, &claimed.pmode, "failed").increment(1);
            " failed"
        }
        _ => "",
    };
    emit!(named(ended), { "message.id" = id, partner, attempt }, "{id} to `{partner}`{became}: {detail}");
}

impl From<PostError> for Outcome {
    fn from(error: PostError) -> Self {
        Self::Retry { why: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(next: Outgoing, outcome: &'static str, detail: &str) -> &'static str {
        named(&Ended { next, ..failed(outcome, detail.to_owned()) }).code
    }

    #[test]
    fn a_wrong_receipt_is_not_a_missing_one() {
        assert_eq!(code(Outgoing::Pending, "invalid_receipt", "EBMS:0302"), "send.receipt_wrong");
        assert_eq!(code(Outgoing::Pending, "no_receipt", "HTTP status 503"), "send.receipt_missing");
        assert_eq!(code(Outgoing::Pending, "unreachable", "refused"), "send.unreachable");
        assert_eq!(code(Outgoing::AwaitingReceipt, "awaiting_receipt", "taken"), "send.attempt");
    }

    #[test]
    fn a_refusal_is_not_the_end_of_the_retries() {
        assert_eq!(code(Outgoing::Failed, "refused", "EBMS:0101 FailedAuthentication"), "send.refused");
        assert_eq!(code(Outgoing::Failed, "no_receipt", "EBMS:0301 no receipt after 5 attempts"), "send.failed");
        assert_eq!(code(Outgoing::Failed, "invalid_receipt", "EBMS:0301 no receipt after 5 attempts"), "send.failed");
        assert_eq!(code(Outgoing::Failed, "duplicate", "outcome unknown"), "send.outcome_unknown");
    }
}
