//! `POST /api/v1/messages/{id}/resend`: sends a message again, by the will of a person.
//!
//! As `repeat` it is the same message: same id, same signature, and the partner takes it once. As `new` it is another
//! message with the same payloads, and the partner takes both.

use std::io::Read;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Extension, Path, Request, State};
use openssl::sha::Sha256;
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::task::block_in_place;

use super::authority::Producer;
use super::problem::Problem;
use super::state::{Api, Shared};
use super::submit::key;
use super::upload::{self, Upload};
use super::{lookup, order, submission};
use crate::gateway::deliver::opener;
use crate::gateway::submit::{self, NewMessage, Taken};
use crate::gateway::{PartMeta, PreparedPart};
use crate::store::{At, Direction, Message, Outgoing, Part, event, message, sender_log};
use crate::wire::hex;

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Order {
    #[serde(rename = "as")]
    act: Act,
    reason: Option<String>,
    force: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Act {
    #[default]
    Repeat,
    New,
}

pub(super) async fn resend(
    State(api): State<Shared>,
    Extension(producer): Extension<Producer>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let key = key(request.headers())?;
    let order: Order = order::read(request.into_body()).await?;
    let reason = reason(order.reason)?;
    let (message, parts) = api
        .gateway
        .store
        .read::<_, Problem, _>(move |tx| {
            let message = sent(lookup::message(tx, &id, None)?)?;
            let parts = message::parts(tx, &message.id)?;
            Ok((message, parts))
        })
        .await?;
    allowed(&message, order.act, order.force)?;
    let (id, state) = match order.act {
        Act::Repeat => repeat(&api, &producer.0, message, &reason).await?,
        Act::New => {
            let taken = Box::pin(anew(&api, &producer.0, key, &message, parts, &reason)).await?;
            (taken.id, taken.state)
        }
    };
    Ok(Json(json!({"schema": "postrider.resend/1", "id": id, "state": state})))
}

/// Why, for the timeline.
pub(super) fn reason(given: Option<String>) -> Result<String, Problem> {
    match given {
        Some(text) if text.chars().count() > 1000 => Err(Problem::bad("field `reason`: at most 1000 characters")),
        Some(text) => Ok(format!(": {}", submission::clean("reason", text)?)),
        None => Ok(String::new()),
    }
}

fn sent(message: Message) -> Result<Message, Problem> {
    if message.direction == Direction::Out.as_str() {
        return Ok(message);
    }
    let detail = format!("{} was received; only what was sent can be sent again", message.message_id);
    Err(Problem::new(409, "resend.received", detail).next("POST …/redeliver offers it to its consumer again"))
}

/// What is delivered, or on its way, is sent again only by force, and then as another message: `delivered` is an end
/// (OUT-63).
fn allowed(message: &Message, act: Act, force: bool) -> Result<(), Problem> {
    let state = Outgoing::read(&message.state);
    let ended = matches!(state, Some(Outgoing::Failed | Outgoing::Cancelled));
    let detail = format!("{} is {}", message.message_id, message.state);
    match (act, state) {
        (Act::New, _) if force || ended => Ok(()),
        (Act::New, _) => {
            Err(Problem::new(409, "resend.not_failed", format!("{detail}: the partner would have it twice"))
                .next("add --force (`\"force\": true`) when that is meant"))
        }
        (Act::Repeat, Some(Outgoing::Delivered)) => {
            let next = if force {
                "send it as new with force: the partner then takes it a second time"
            } else {
                "add --force together with --as new when the partner asks for it again"
            };
            Err(Problem::new(409, "resend.delivered", format!("{detail}, so a repeat would change nothing")).next(next))
        }
        (Act::Repeat, Some(Outgoing::Sending | Outgoing::Cancelled)) => {
            Err(Problem::new(409, "message.state", format!("{detail}; it cannot be repeated now")))
        }
        (Act::Repeat, _) => Ok(()),
    }
}

async fn repeat(api: &Api, who: &str, message: Message, reason: &str) -> Result<(String, String), Problem> {
    let now = At::from(OffsetDateTime::now_utc());
    let text = format!("sent again by {who}{reason}");
    let row = message.id;
    api.gateway
        .store
        .write::<_, Problem, _>(move |tx| {
            sender_log::requeue(tx, &row, now)?;
            Ok(event::add(tx, &row, now, "act.resend", &text)?)
        })
        .await?;
    api.gateway.store.wake();
    Ok((message.message_id, Outgoing::Pending.as_str().to_owned()))
}

/// Submits the same payloads and header values under a new id.
async fn anew(
    api: &Api,
    who: &str,
    key: Option<String>,
    old: &Message,
    parts: Vec<Part>,
    reason: &str,
) -> Result<Taken, Problem> {
    let (wanted, said) = submission::json::<submission::Submission>("the stored header", &header(old)?)?.wanted()?;
    let pmode = submit::pmode_for(&api.gateway, &wanted)?;
    let prepared = block_in_place(|| copied(api, Upload::new(api, pmode), parts, said))?;
    // A key of a resend is never that of a submission: it would be taken for the first message.
    let key = key.map(|key| derived(&old.id, &key));
    let new = NewMessage { producer: who.to_owned(), key, wanted, parts: prepared };
    let taken = submit::submit(&api.gateway, new).await?;
    if !taken.repeat {
        let now = At::from(OffsetDateTime::now_utc());
        let (row, text) = (old.id.clone(), format!("sent again as new message {} by {who}{reason}", taken.id));
        api.gateway.store.write::<_, Problem, _>(move |tx| Ok(event::add(tx, &row, now, "act.resend", &text)?)).await?;
    }
    Ok(taken)
}

/// The old message's values as a submission.
fn header(old: &Message) -> Result<Vec<u8>, Problem> {
    let damaged = || Problem::new(500, "store.damaged", format!("the stored header of {} is damaged", old.message_id));
    let header: Value = serde_json::from_str(&old.header).map_err(|_| damaged())?;
    let agreement = header.get("agreement").filter(|a| a["value"].as_str().is_some_and(|v| !v.is_empty()));
    let payloads: Vec<_> = header["parts"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|part| {
            let own = ["MimeType", "CharacterSet"];
            let all = part["properties"].as_array().cloned().unwrap_or_default();
            let set = all.iter().find(|p| p["name"] == "CharacterSet").map(|p| p["value"].clone());
            let properties: Vec<_> =
                all.into_iter().filter(|p| !p["name"].as_str().is_some_and(|n| own.contains(&n))).collect();
            json!({"media_type": part["media_type"], "character_set": set, "properties": properties})
        })
        .collect();
    let submission = json!({
        "pmode": old.pmode,
        "from": header["from"]["ids"],
        "to": header["to"]["ids"],
        "service": header["service"],
        "action": header["action"],
        "agreement": agreement.map(|a| json!({"value": a["value"], "type": a["type"]})),
        "conversation_id": header["conversation_id"],
        "ref_to_message_id": old.ref_to,
        "properties": header["properties"],
        "payloads": payloads,
    });
    Ok(submission.to_string().into_bytes())
}

/// Reads each payload out of the store and packs it anew. Blocking.
fn copied(
    api: &Api,
    mut upload: Upload<'_>,
    parts: Vec<Part>,
    said: Vec<submission::Payload>,
) -> Result<Vec<PreparedPart>, Problem> {
    let mut said = said.into_iter();
    for part in parts {
        let name = part.file_name.clone();
        let meta: PartMeta = upload::meta(Some(&part.payload_type), name, said.next().unwrap_or_default())?;
        let gone = |e: std::io::Error| {
            Problem::new(409, "payload.gone", format!("payload {} cannot be read any more: {e}", part.position + 1))
        };
        let mut octets = opener(api.gateway.payloads.clone(), part.clone())().map_err(gone)?;
        let mut out = upload.begin(meta)?;
        let mut buffer = vec![0; 256 << 10];
        loop {
            let count = octets.read(&mut buffer).map_err(gone)?;
            let Some(chunk) = buffer.get(..count).filter(|chunk| !chunk.is_empty()) else { break };
            upload.push(&mut out, &Bytes::copy_from_slice(chunk))?;
        }
        upload.end(out)?;
    }
    Ok(upload.parts)
}

fn derived(row: &str, key: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(row.as_bytes());
    hash.update(&[0]);
    hash.update(key.as_bytes());
    format!("resend-{}", hex(&hash.finish()))
}
