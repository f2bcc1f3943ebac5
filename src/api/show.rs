//! `GET /api/v1/messages/{id}`: where a message is.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Uri;
use serde_json::{Map, Value, json};

use super::lookup;
use super::problem::Problem;
use super::query::{Query, unknown};
use super::state::Shared;
use crate::store::delivery::{self, Job};
use crate::store::sender_log::{self, Attempt, Sending};
use crate::store::{Direction, Message, Part, message};

/// What is stored of a message.
struct Whole {
    message: Message,
    parts: Vec<Part>,
    sending: Option<Sending>,
    attempts: Vec<Attempt>,
    jobs: Vec<Job>,
}

pub(super) async fn show(State(api): State<Shared>, Path(id): Path<String>, uri: Uri) -> Result<Json<Value>, Problem> {
    let direction = direction(&uri)?;
    let whole = api
        .gateway
        .store
        .read::<_, Problem, _>(move |tx| {
            let message = lookup::message(tx, &id, direction)?;
            let parts = message::parts(tx, &message.id)?;
            let sent = message.direction == "out";
            let sending = if sent { sender_log::by_message(tx, &message.id)? } else { None };
            let attempts = if sent { sender_log::attempts(tx, &message.id)? } else { Vec::new() };
            let jobs = delivery::of_message(tx, &message.id)?;
            Ok(Whole { message, parts, sending, attempts, jobs })
        })
        .await?;
    Ok(Json(described(&whole)))
}

/// `?direction=`: which of the two rows of a message to ourselves.
pub(super) fn direction(uri: &Uri) -> Result<Option<Direction>, Problem> {
    match Query::read(uri, &["direction"])?.one("direction")? {
        None => Ok(None),
        Some("in") => Ok(Some(Direction::In)),
        Some("out") => Ok(Some(Direction::Out)),
        Some(other) => Err(unknown("direction", other, &["in", "out"])),
    }
}

/// What a list shows of a message.
pub(super) fn head(message: &Message) -> Value {
    json!({
        "id": message.message_id,
        "row": message.id,
        "direction": message.direction,
        "state": message.state,
        "partner": message.partner,
        "us": message.us,
        "pmode": message.pmode,
        "pmode_revision": message.pmode_revision,
        "service": message.service,
        "action": message.action,
        "conversation_id": message.conversation_id,
        "ref_to_message_id": message.ref_to,
        "size": message.size,
        "payload_hash": message.payload_hash,
        "created_at": message.created_at,
        "updated_at": message.updated_at,
        "error": message.error,
    })
}

fn described(whole: &Whole) -> Value {
    let mut all = Map::new();
    all.insert("schema".to_owned(), json!("postrider.message/1"));
    let mut add = |value: Value| {
        if let Value::Object(members) = value {
            all.extend(members);
        }
    };
    add(head(&whole.message));
    if let Some(sending) = &whole.sending {
        add(log(sending));
    }
    let header: Value = serde_json::from_str(&whole.message.header).unwrap_or(Value::Null);
    add(json!({
        "header": header,
        "payloads": whole.parts.iter().map(payload).collect::<Vec<_>>(),
        "attempts": whole.attempts,
        "deliveries": whole.jobs.iter().map(job).collect::<Vec<_>>(),
    }));
    Value::Object(all)
}

/// What the sender log adds.
fn log(sending: &Sending) -> Value {
    json!({
        "key": sending.key,
        "producer": sending.producer,
        "attempt_count": sending.attempt_count,
        "next_attempt_at": sending.next_attempt_at,
        "last_error": sending.last_error,
        "proof": sending.proof,
        "late": sending.late,
        "delivered_at": sending.delivered_at,
        "settled_at": sending.settled_at,
    })
}

/// One payload. `position` is what `/payloads/{position}` takes.
pub(super) fn payload(part: &Part) -> Value {
    json!({
        "position": part.position,
        "content_id": part.content_id,
        "media_type": part.payload_type,
        "file_name": part.file_name,
        "size": part.size,
        "sha256": part.content_sha256,
        "compressed": part.compressed,
        "stored_size": part.stored_size,
        "stored_sha256": part.sha256,
    })
}

fn job(job: &Job) -> Value {
    json!({
        "backend": job.backend,
        "key": job.delivery_key,
        "state": job.state,
        "attempts": job.attempts,
        "next_at": job.next_at,
        "last_error": job.last_error,
        "settled_at": job.settled_at,
    })
}
