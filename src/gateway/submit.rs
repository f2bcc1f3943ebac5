//! Takes a submission: the key and the payload hash are fixed, with everything that will ever be sent, in one
//! transaction before any attempt (OUT-07, OUT-60).

use std::sync::Arc;

use super::outpart::{OutPart, OutPartError, PartMeta, PreparedPart};
use super::{Gateway, header, ids, outpart};
use crate::ebms::{MessageId, Property};
use crate::emit;
use crate::msh::{self, package, payload_hash};
use crate::pmode::{self, MissingValue, NewIds, PMode, Wanted};
use crate::store::payload::Hold;
use crate::store::sender_log::{self, Sending, Submitted};
use crate::store::{At, Direction, Message, Outgoing, Part, StoreError, event as timeline, message};
use crate::telemetry::event;
use crate::wss::WssError;

/// What a producer hands in, its payloads stored already.
#[derive(Debug)]
pub struct NewMessage {
    /// Who submits: the name of the token, folder or role.
    pub producer: String,
    /// The producer's key; drawn when missing.
    pub key: Option<String>,
    /// Header values; its parts are filled in from `parts`.
    pub wanted: Wanted,
    /// The payloads, in order.
    pub parts: Vec<PreparedPart>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Taken {
    /// `eb:MessageId`.
    pub id: String,
    /// The key that it is stored under.
    pub key: String,
    /// Its state.
    pub state: String,
    /// Whether it was there before (OUT-25).
    pub repeat: bool,
}

/// Why a submission is not taken.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// Values that are missing or contradict the P-Mode.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Values(Vec<MissingValue>),
    /// The key stands for another payload (OUT-13).
    #[error(
        "the key `{key}` was used for another payload (message {id}, {first}); a corrected document needs a new key"
    )]
    OtherPayload {
        /// The key.
        key: String,
        /// The message that it led to.
        id: String,
        /// Its payload hash.
        first: String,
    },
    /// The key stands for the same payload by another P-Mode, or with other properties: another message (OUT-25).
    #[error("the key `{key}` was used for another message ({id}): {differs}; a new message needs a new key")]
    OtherMessage {
        /// The key.
        key: String,
        /// The message that it led to.
        id: String,
        /// What is not the same.
        differs: String,
    },
    /// The producer's key itself.
    #[error("the key has {0} characters; 1 to 200 printable ones are accepted")]
    Key(usize),
    /// A payload.
    #[error(transparent)]
    Part(#[from] OutPartError),
    /// Our own key or certificate.
    #[error("the message cannot be signed: {0}")]
    Signing(String),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<WssError> for SubmitError {
    fn from(error: WssError) -> Self {
        Self::Signing(error.to_string())
    }
}

/// The P-Mode that a submission will go by.
pub fn pmode_for(gateway: &Gateway, wanted: &Wanted) -> Result<Arc<PMode>, SubmitError> {
    let set = gateway.agreements.current();
    let pmode = pmode::pmode_for(&set, wanted).map_err(|missing| SubmitError::Values(vec![missing]))?;
    if gateway.parties.load().with_id(&pmode.initiator.ids).is_none() {
        let reason = format!("`{}` is initiated by a party that is not ours", pmode.id);
        return Err(SubmitError::Values(vec![MissingValue { value: "P-Mode".to_owned(), reason }]));
    }
    Ok(pmode)
}

/// Begins a payload.
pub fn part(gateway: &Gateway, pmode: &PMode, position: usize, meta: PartMeta) -> Result<OutPart, OutPartError> {
    let fresh = format!("{}@{}", ids::word(), gateway.host);
    OutPart::new(position, meta, &pmode.leg, &gateway.payloads, fresh)
}

/// Takes a submission.
pub async fn submit(gateway: &Gateway, new: NewMessage) -> Result<Taken, SubmitError> {
    let key = key(new.key)?;
    let hash = payload_hash(new.parts.iter().map(|p| (u64::try_from(p.row.size).unwrap_or(0), &p.content_sha256)));
    let (producer, wanted_key) = (new.producer.clone(), key.clone());
    let there =
        gateway.store.read::<_, StoreError, _>(move |tx| sender_log::by_key(tx, &producer, &wanted_key)).await?;
    let mut wanted = new.wanted;
    let named = Named { pmode: wanted.pmode.clone(), properties: wanted.properties.clone() };
    if let Some(there) = there {
        return repeated(gateway, there, &hash, &named).await;
    }
    let now = ids::now();
    wanted.parts = new.parts.iter().map(|p| p.info.clone()).collect();
    wanted.size = Some(new.parts.iter().map(|p| u64::try_from(p.row.size).unwrap_or(0)).sum());
    let fresh = NewIds { message_id: ids::message_id(&gateway.host), conversation_id: ids::word() };
    let mut completed =
        pmode::complete_submission(&gateway.agreements.current(), wanted, fresh, now).map_err(SubmitError::Values)?;
    let row_id = ids::row();
    let holds: Vec<_> = new.parts.iter().filter_map(|p| p.hold.clone()).collect();
    let parts: Vec<Part> = new.parts.into_iter().map(|p| Part { message: row_id.clone(), ..p.row }).collect();
    outpart::mark_compressed(&mut completed.message.parts, &parts);
    let frozen = frozen(gateway, &completed, &parts, &row_id, now)?;
    let row = sending(&completed, &new.producer, &key, &hash, &row_id, now);
    let stored = stored(gateway, &completed, &parts, &hash, &row_id, now);
    let at = At::from(now);
    let text = format!("submitted by {}, key {key}, P-Mode `{}`", new.producer, completed.pmode.id);
    let taken = gateway
        .store
        .write::<_, StoreError, _>(move |tx| {
            let submitted = sender_log::submit(tx, &row, |tx| {
                message::insert(tx, &stored, &parts)?;
                sender_log::freeze(tx, &frozen)?;
                timeline::add(tx, &stored.id, at, event::SUBMIT_ACCEPTED.code, &text)
            })?;
            if matches!(submitted, Submitted::New) {
                holds.iter().for_each(Hold::keep);
            }
            Ok((submitted, row.clone()))
        })
        .await?;
    gateway.store.wake();
    match taken {
        (Submitted::New, row) => {
            emit!(event::SUBMIT_ACCEPTED, { "message.id" = row.message_id, partner = row.partner, pmode = row.pmode }, "{} submitted to `{}` by {}", row.message_id, row.partner, row.producer);
            Ok(Taken { id: row.message_id, key: row.key, state: row.status, repeat: false })
        }
        (Submitted::Same(there) | Submitted::OtherPayload(there), _) => repeated(gateway, *there, &hash, &named).await,
    }
}

fn key(wanted: Option<String>) -> Result<String, SubmitError> {
    let Some(key) = wanted else { return Ok(uuid::Uuid::now_v7().hyphenated().to_string()) };
    let length = key.chars().count();
    if length == 0 || length > 200 || key.chars().any(char::is_control) {
        return Err(SubmitError::Key(length));
    }
    Ok(key)
}

/// What a submission says of its message, apart from the payloads.
struct Named {
    pmode: Option<String>,
    properties: Vec<Property>,
}

impl Named {
    /// What is not as it was in the first submission under the key. Values that are left to the P-Mode are its own: it may
    /// have changed since.
    fn differs(&self, there: &Sending, header: &str) -> Option<String> {
        if let Some(now) = self.pmode.as_ref().filter(|id| **id != there.pmode) {
            return Some(format!("P-Mode `{}`, now `{now}`", there.pmode));
        }
        let header: serde_json::Value = serde_json::from_str(header).unwrap_or_default();
        let first = |name: &str| header["properties"].as_array()?.iter().find(|p| p["name"] == name)?["value"].as_str();
        let other = self.properties.iter().find(|p| first(&p.name) != Some(&p.value))?;
        let before = first(&other.name).map_or_else(|| "none".to_owned(), |value| format!("`{value}`"));
        Some(format!("property `{}`: {before}, now `{}`", other.name, other.value))
    }
}

async fn repeated(gateway: &Gateway, there: Sending, hash: &str, named: &Named) -> Result<Taken, SubmitError> {
    if there.payload_hash == hash {
        let row = there.message.clone();
        let message = gateway.store.read::<_, StoreError, _>(move |tx| message::find(tx, &row)).await?;
        let header = message.map(|message| message.header).unwrap_or_default();
        if let Some(differs) = named.differs(&there, &header) {
            emit!(event::SUBMIT_MISMATCH, { "message.id" = there.message_id, partner = there.partner }, "key {} came with the same payload for another message: {differs}", there.key);
            return Err(SubmitError::OtherMessage { key: there.key, id: there.message_id, differs });
        }
        emit!(event::SUBMIT_REPEATED, { "message.id" = there.message_id, partner = there.partner }, "{} submitted again under its key", there.message_id);
        return Ok(Taken { id: there.message_id, key: there.key, state: there.status, repeat: true });
    }
    emit!(event::SUBMIT_MISMATCH, { "message.id" = there.message_id, partner = there.partner }, "key {} came with another payload: first {}, now {hash}", there.key, there.payload_hash);
    Err(SubmitError::OtherPayload { key: there.key, id: there.message_id, first: there.payload_hash })
}

fn frozen(
    gateway: &Gateway,
    completed: &pmode::Submission,
    parts: &[Part],
    row_id: &str,
    now: time::OffsetDateTime,
) -> Result<sender_log::Package, SubmitError> {
    let leg = &completed.pmode.leg;
    let out: Vec<_> = parts
        .iter()
        .map(|part| package::OutPart {
            uri: crate::ebms::Cid::of(&part.content_id).to_string(),
            media_type: part.media_type.clone(),
            digest: part.digest.clone().unwrap_or_default(),
        })
        .collect();
    let parties = gateway.parties.load();
    let us = parties.with_id(&completed.message.from.ids);
    let key = us.and_then(|p| p.signing_key(now));
    if leg.security.sign.is_some() && key.is_none() {
        let name = us.map_or("the From party", |p| p.name.as_str());
        return Err(SubmitError::Signing(format!("{name} has no valid signing key; add one to [[party]]")));
    }
    let signer = key.map(|k| &**k as &dyn crate::wss::Signer);
    let ids = ids::envelope(&gateway.host);
    let made = tokio::task::block_in_place(|| package::package(&completed.message, leg, &out, signer, &ids))?;
    let json = |value: Result<String, serde_json::Error>| value.map_err(|e| SubmitError::Signing(e.to_string()));
    Ok(sender_log::Package {
        message: row_id.to_owned(),
        envelope: made.envelope,
        blocks: made.blocks,
        refs: json(serde_json::to_string(&made.references))?,
        boundary: format!("postrider-{}", ids.token),
        root_id: format!("root-{}@{}", ids.token, gateway.host),
        recipient: json(serde_json::to_string(&completed.message.to))?,
    })
}

fn sending(
    completed: &pmode::Submission,
    producer: &str,
    key: &str,
    hash: &str,
    row_id: &str,
    now: time::OffsetDateTime,
) -> Sending {
    Sending {
        producer: producer.to_owned(),
        key: key.to_owned(),
        message_id: completed.message.message_id.as_str().to_owned(),
        message: row_id.to_owned(),
        payload_hash: hash.to_owned(),
        status: Outgoing::Pending.as_str().to_owned(),
        attempt_count: 0,
        created_at: At::from(now),
        next_attempt_at: Some(At::from(now)),
        lease_owner: None,
        lease_until: None,
        fence: 0,
        boot_id: None,
        partner: header::name(&completed.message.to),
        channel: "as4".to_owned(),
        pmode: completed.pmode.id.clone(),
        pmode_revision: completed.pmode.revision.clone(),
        unanswered: false,
        refused: false,
        last_error: None,
        proof: None,
        late: false,
        delivered_at: None,
        settled_at: None,
    }
}

fn stored(
    gateway: &Gateway,
    completed: &pmode::Submission,
    parts: &[Part],
    hash: &str,
    row_id: &str,
    now: time::OffsetDateTime,
) -> Message {
    let sent = &completed.message;
    let us = gateway.parties.load().with_id(&sent.from.ids).map_or_else(String::new, |p| p.name.clone());
    Message {
        id: row_id.to_owned(),
        direction: Direction::Out.as_str().to_owned(),
        message_id: sent.message_id.as_str().to_owned(),
        state: Outgoing::Pending.as_str().to_owned(),
        partner: header::name(&sent.to),
        us,
        pmode: completed.pmode.id.clone(),
        pmode_revision: completed.pmode.revision.clone(),
        service: sent.service.value.clone(),
        action: sent.action.clone(),
        conversation_id: sent.conversation_id.clone(),
        ref_to: sent.ref_to.as_ref().map(|id: &MessageId| id.as_str().to_owned()),
        header: header::json(sent).to_string(),
        size: parts.iter().map(|p| p.size).sum(),
        payload_hash: hash.to_owned(),
        created_at: At::from(now),
        updated_at: At::from(now),
        error: None,
    }
}

/// The hash of payloads that are not stored yet, for callers that compare first.
#[must_use]
pub fn hash_of(parts: &[PreparedPart]) -> String {
    msh::payload_hash(parts.iter().map(|p| (u64::try_from(p.row.size).unwrap_or(0), &p.content_sha256)))
}
