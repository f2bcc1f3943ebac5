//! `GET /api/v1/messages/{id}/explain`: each decision and check, out of what is stored.
//!
//! The id of a request that became no message, or its incident, is explained too.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Uri;
use serde_json::{Value, json};

use super::problem::Problem;
use super::state::{Api, Shared};
use super::{lookup, show};
use crate::store::delivery::{self, Job};
use crate::store::event::{self, Event};
use crate::store::exchange::{self, Exchange};
use crate::store::payload::Digest;
use crate::store::{Direction, Message, Part, Tx, message};
use crate::telemetry::event::{Level, by_code};

/// What is stored.
struct Stored {
    message: Message,
    parts: Vec<Part>,
    events: Vec<Event>,
    exchanges: Vec<Exchange>,
    receipt: bool,
    jobs: Vec<Job>,
}

enum Found {
    Message(Box<Stored>),
    Refused(Box<Exchange>),
}

pub(super) async fn explain(
    State(api): State<Shared>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Json<Value>, Problem> {
    let direction = show::direction(&uri)?;
    let found = api.gateway.store.read(move |tx| find(tx, &id, direction)).await?;
    let (id, state, checks) = match found {
        Found::Message(stored) => {
            let checks = tokio::task::block_in_place(|| checks(&api, &stored));
            (stored.message.message_id, stored.message.state, checks)
        }
        Found::Refused(one) => {
            let checks = vec![exchanged(&one), check("refusal", Some(false), one.reason.clone().unwrap_or_default())];
            (one.message_id.unwrap_or(one.id), "rejected".to_owned(), checks)
        }
    };
    Ok(Json(json!({"schema": "postrider.explain/1", "id": id, "state": state, "checks": checks})))
}

fn find(tx: &mut Tx<'_>, id: &str, direction: Option<Direction>) -> Result<Found, Problem> {
    let message = match lookup::message(tx, id, direction) {
        Ok(message) => message,
        Err(none) if id.contains(char::is_control) => return Err(none),
        Err(none) => {
            let refused = exchange::refused(tx, id)?;
            return refused.map(|one| Found::Refused(Box::new(one))).ok_or(none);
        }
    };
    Ok(Found::Message(Box::new(Stored {
        parts: message::parts(tx, &message.id)?,
        events: event::timeline(tx, &message.id)?,
        exchanges: exchange::of_message(tx, &message.id)?,
        receipt: message::receipt(tx, &message.id)?.is_some(),
        jobs: delivery::of_message(tx, &message.id)?,
        message,
    })))
}

fn check(name: &str, pass: Option<bool>, text: impl Into<String>) -> Value {
    json!({"check": name, "pass": pass, "text": text.into()})
}

fn checks(api: &Api, stored: &Stored) -> Vec<Value> {
    let mut all = vec![pmode(api, &stored.message)];
    all.extend(stored.parts.iter().map(|part| payload(api, part)));
    all.extend(stored.exchanges.iter().map(exchanged));
    all.extend(stored.events.iter().map(happened));
    if stored.message.direction == Direction::Out.as_str() {
        all.push(receipt(stored));
    } else {
        all.extend(stored.jobs.iter().map(delivered));
    }
    all
}

fn pmode(api: &Api, message: &Message) -> Value {
    let (id, revision) = (&message.pmode, &message.pmode_revision);
    match api.gateway.agreements.current().find(id) {
        Some(pmode) if pmode.revision == *revision => check("pmode", Some(true), format!("`{id}`, in force as it was")),
        Some(pmode) => {
            let text = format!("`{id}` of revision {revision}; revision {} is in force now", pmode.revision);
            check("pmode", None, text)
        }
        None => check("pmode", None, format!("`{id}` of revision {revision}, not in force any more")),
    }
}

/// Digests were compared on the way in; what can still go wrong is that the octets are gone.
fn payload(api: &Api, part: &Part) -> Value {
    let there = part.octets.is_some()
        || part.sha256.parse::<Digest>().is_ok_and(|digest| api.gateway.payloads.exists(digest).unwrap_or(false));
    let packed = if part.compressed { format!(", {} compressed", part.stored_size) } else { String::new() };
    let gone = if there { "" } else { "; its octets are not in the payload store" };
    let text = format!("{}: {} octets{packed}, sha256 {}{gone}", part.content_id, part.size, part.content_sha256);
    check(&format!("payload {}", part.position + 1), Some(there), text)
}

fn exchanged(one: &Exchange) -> Value {
    let status = one.answer_status.map_or_else(|| "no answer".to_owned(), |status| format!("answered {status}"));
    let reason = match (&one.code, &one.reason) {
        (Some(code), Some(reason)) => format!(": {code} {reason}"),
        (Some(text), None) | (None, Some(text)) => format!(": {text}"),
        (None, None) => String::new(),
    };
    let pass = match one.verdict.as_str() {
        "rejected" => Some(false),
        "accepted" | "duplicate" => Some(true),
        _ => Some(one.answer_status.is_some_and(|status| (200..300).contains(&status))),
    };
    check("exchange", pass, format!("{} {} {}, {status}{reason}", one.at, one.verdict, one.peer))
}

fn happened(event: &Event) -> Value {
    let pass = by_code(&event.code).and_then(|known| match known.level {
        Level::Debug => None,
        Level::Info => Some(true),
        Level::Warn | Level::Error => Some(false),
    });
    check(&event.code, pass, event.text.clone())
}

fn receipt(stored: &Stored) -> Value {
    match (stored.receipt, stored.message.state.as_str()) {
        (true, _) => check("receipt", Some(true), "kept; /receipt gives its octets"),
        (false, "delivered") => {
            check("receipt", None, "none is kept: the P-Mode asks for none, or only a duplicate told")
        }
        (false, "failed" | "cancelled") => check("receipt", Some(false), "none came"),
        (false, _) => check("receipt", None, "not here yet"),
    }
}

fn delivered(job: &Job) -> Value {
    let pass = match job.state.as_str() {
        "delivered" => Some(true),
        "failed" => Some(false),
        _ => None,
    };
    let error = job.last_error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
    check("delivery", pass, format!("`{}` {} after {} offers{error}", job.backend, job.state, job.attempts))
}
