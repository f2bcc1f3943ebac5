//! Ring 4: REST on the admin listener, one file an endpoint.
//!
//! | request | answer |
//! | --- | --- |
//! | `POST /api/v1/messages` | takes a submission: `multipart/form-data`, or one payload as the body |
//! | `GET /api/v1/messages` | finds messages: `q`, or `state`, `direction`, `partner`, `pmode`, `message_id`; `limit`, `cursor` |
//! | `GET /api/v1/messages/{id}` | one message; below it `timeline`, `attempts`, `explain`, `receipt`, `payloads/{position}`, `exchanges`, `exchanges/{n}/request`, `exchanges/{n}/answer` |
//! | `POST /api/v1/messages/{id}/resend`, `…/redeliver` | acts of a person |
//! | `GET /api/v1/rejected` | requests that became no message; below it `{incident}/request`, `{incident}/answer` |
//! | `GET /api/v1/pmodes`, `POST /api/v1/pmodes/reload` | the P-Modes in force |
//! | `GET /health/live`, `GET /health/ready`, `GET /metrics` | for machines, without a token |
//!
//! `{id}` is an `eb:MessageId` or the id of a row. Every refusal is a problem document (RFC 9457) whose `incident` is the
//! answer's `X-Request-Id`.

mod attempts;
mod authority;
mod cursor;
mod exchanges;
mod explain;
mod filter;
mod health;
mod list;
mod lookup;
mod numbers;
mod order;
mod payload;
mod pmodes;
mod problem;
mod query;
mod receipt;
mod redeliver;
mod refusal;
mod rejected;
mod resend;
mod router;
mod show;
mod state;
mod submission;
mod submit;
mod timeline;
mod upload;

#[cfg(test)]
mod tests;

pub use router::router;
pub use state::ApiState;
