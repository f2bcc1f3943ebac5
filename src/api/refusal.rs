//! Why a submission is not taken, as an answer.

use super::problem::Problem;
use crate::gateway::OutPartError;
use crate::gateway::submit::SubmitError;
use crate::telemetry::event;

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        let told = error.to_string();
        match error {
            SubmitError::Values(missing) => {
                let problems = serde_json::to_value(&missing).unwrap_or_default();
                Self::event(400, event::SUBMIT_REFUSED, told).with("problems", problems)
            }
            // The gateway has logged it, with both hashes.
            SubmitError::OtherPayload { id, first, .. } => Self::new(422, event::SUBMIT_MISMATCH.code, told)
                .with("message_id", id)
                .with("payload_hash", first)
                .next("send a corrected document under a key of its own"),
            SubmitError::OtherMessage { id, .. } => Self::new(422, event::SUBMIT_MISMATCH.code, told)
                .with("message_id", id)
                .next("send another message under a key of its own"),
            SubmitError::Key(_) => Self::bad(format!("Idempotency-Key: {told}")),
            SubmitError::Part(error) => part(&error),
            SubmitError::Signing(_) => Self::event(503, event::SUBMIT_REFUSED, told)
                .next("run `postrider check`: it names the key or certificate"),
            SubmitError::Store(error) => error.into(),
        }
    }
}

/// A payload that is not taken.
pub(super) fn part(error: &OutPartError) -> Problem {
    let told = error.to_string();
    match error {
        OutPartError::Payload { .. } => Problem::event(400, event::SUBMIT_REFUSED, told),
        OutPartError::Store(_) => Problem::event(503, event::STORE_UNAVAILABLE, told).retry_after(5),
        OutPartError::Gzip(_) => Problem::event(500, event::SUBMIT_REFUSED, told),
    }
}
