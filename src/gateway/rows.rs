//! Values of the journeys as rows of the store.

use openssl::sha::Sha256;
use serde_json::json;

use super::accept::Arrival;
use super::header;
use super::spool::SpooledPart;
use crate::ebms::UserMessage;
use crate::store::payload::Stored;
use crate::store::{At, Direction, Incoming, Message, Part, exchange::Exchange as Row};
use crate::transport::listen::Exchange;
use crate::wire::hex;
use crate::wss::Reference;

/// SHA-256 over texts, each ended by a zero octet.
pub(super) fn sha256(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update(&[0]);
    }
    format!("sha256:{}", hex(&hash.finish()))
}

/// One hash over a signature's references: the same for the same signed octets.
pub(super) fn digest_set(references: &[Reference]) -> String {
    let mut hash = Sha256::new();
    for reference in references {
        hash.update(reference.uri.as_bytes());
        hash.update(&[0]);
        hash.update(&reference.digest);
    }
    format!("sha256:{}", hex(&hash.finish()))
}

/// The message row of an arrival.
pub(super) fn received(arrival: &Arrival, id: &str, state: Incoming, hash: &str) -> Message {
    let (admitted, message) = (&arrival.admitted, &arrival.admitted.message);
    let mut values = header::json(message);
    let sbdh = super::profile::sbdh(admitted, &arrival.parts);
    if let (Some(sbdh), Some(object)) = (sbdh, values.as_object_mut()) {
        object.insert("sbdh".to_owned(), sbdh);
    }
    let now = At::from(arrival.now);
    Message {
        id: id.to_owned(),
        direction: Direction::In.as_str().to_owned(),
        message_id: message.message_id.as_str().to_owned(),
        state: state.as_str().to_owned(),
        partner: header::name(&message.from),
        us: admitted.us.clone(),
        pmode: admitted.pmode.id.clone(),
        pmode_revision: admitted.pmode.revision.clone(),
        service: message.service.value.clone(),
        action: message.action.clone(),
        conversation_id: message.conversation_id.clone(),
        ref_to: message.ref_to.as_ref().map(|r| r.as_str().to_owned()),
        header: values.to_string(),
        size: arrival.parts.iter().map(|p| signed(p.checked.size)).sum(),
        payload_hash: hash.to_owned(),
        created_at: now,
        updated_at: now,
        error: None,
    }
}

/// The part rows of an arrival.
pub(super) fn parts(message_row: &str, parts: &[SpooledPart], message: &UserMessage) -> Vec<Part> {
    parts
        .iter()
        .map(|part| {
            let checked = &part.checked;
            let media_type = checked.media_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned());
            let said = message.parts.get(checked.position).and_then(|p| p.mime_type()).map(str::to_owned);
            Part {
                message: message_row.to_owned(),
                position: i32::try_from(checked.position).unwrap_or(i32::MAX),
                content_id: checked.cid.content_id().to_owned(),
                payload_type: said.unwrap_or_else(|| media_type.clone()),
                media_type,
                file_name: part.file_name.clone(),
                compressed: checked.compressed,
                stored_size: signed(checked.stored_size),
                size: signed(checked.size),
                sha256: part.stored.digest().to_string(),
                content_sha256: hex(&checked.content_sha256),
                digest: None,
                octets: octets(&part.stored),
            }
        })
        .collect()
}

/// The octets of what is small.
pub(super) fn octets(stored: &Stored) -> Option<Vec<u8>> {
    match stored {
        Stored::Inline { octets, .. } => Some(octets.clone()),
        Stored::File { .. } => None,
    }
}

/// Sizes as the database counts.
pub(super) fn signed(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// The exchange of an arrival: with its parts it gives the request's octets back.
pub(super) fn exchange_in(exchange: &Exchange, arrival: &Arrival, message_row: &str, at: At) -> Row {
    let heads: Vec<String> = arrival.heads.iter().map(|h| String::from_utf8_lossy(h).into_owned()).collect();
    let parts: Vec<_> = arrival
        .parts
        .iter()
        .map(|part| {
            let plan = arrival.admitted.parts.iter().find(|p| p.position == part.checked.position);
            json!({
                "content_id": part.checked.cid.content_id(),
                "sha256": part.stored.digest().to_string(),
                "iv": part.checked.iv.map(|iv| hex(&iv)),
                "key": plan.and_then(|p| p.key.as_ref()).map(|k| hex(k.octets())),
            })
        })
        .collect();
    Row {
        id: exchange.id.simple().to_string(),
        at,
        direction: "in".to_owned(),
        verdict: "accepted".to_owned(),
        message: Some(message_row.to_owned()),
        message_id: Some(arrival.admitted.message.message_id.as_str().to_owned()),
        partner: Some(header::name(&arrival.admitted.message.from)),
        peer: exchange.peer.to_string(),
        code: None,
        reason: None,
        request_head: exchange.head.octets.to_vec(),
        soap: arrival.opened.text.clone(),
        mime: json!({"heads": heads, "parts": parts}).to_string(),
        raw: None,
        raw_size: 0,
        answer_status: Some(arrival.answer.status.into()),
        answer_head: None,
        answer: None,
    }
}
