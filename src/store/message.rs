//! Messages of both directions with their payload parts: what people look for.

use diesel::prelude::*;

use super::error::StoreError;
use super::instant::At;
use super::schema::{message, part, receipt};
use super::tx::{Tx, on};

/// `in` or `out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Received.
    In,
    /// Sent.
    Out,
}

impl Direction {
    /// As in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = message, treat_none_as_default_value = false)]
pub struct Message {
    /// Our own id of the row: sortable, unique over both directions.
    pub id: String,
    /// `in` or `out`.
    pub direction: String,
    /// `eb:MessageId`.
    pub message_id: String,
    /// [`super::Outgoing`] or [`super::Incoming`].
    pub state: String,
    /// The partner's party.
    pub partner: String,
    /// Name of our own party.
    pub us: String,
    /// P-Mode id.
    pub pmode: String,
    /// P-Mode revision (EB-155).
    pub pmode_revision: String,
    /// `eb:Service`.
    pub service: String,
    /// `eb:Action`.
    pub action: String,
    /// `eb:ConversationId`.
    pub conversation_id: String,
    /// `eb:RefToMessageId`.
    pub ref_to: Option<String>,
    /// All header values, as JSON.
    pub header: String,
    /// Octets of all payloads, after inflating.
    pub size: i64,
    /// The payload hash (IN-12).
    pub payload_hash: String,
    /// When it was submitted or received.
    pub created_at: At,
    /// When its state changed last.
    pub updated_at: At,
    /// Why it failed, or what the last attempt met.
    pub error: Option<String>,
}

/// One payload part, in its signed form.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = part, treat_none_as_default_value = false)]
pub struct Part {
    /// [`Message::id`].
    pub message: String,
    /// Position in PayloadInfo, from 0.
    pub position: i32,
    /// Content-ID without brackets.
    pub content_id: String,
    /// Media type of the signed form.
    pub media_type: String,
    /// Media type of the payload itself.
    pub payload_type: String,
    /// File name that the sender suggests; never a path.
    pub file_name: Option<String>,
    /// Whether the signed form is gzip of the payload.
    pub compressed: bool,
    /// Octets of the signed form.
    pub stored_size: i64,
    /// Octets of the payload.
    pub size: i64,
    /// SHA-256 of the signed form, hexadecimal: its name in the payload store.
    pub sha256: String,
    /// SHA-256 of the payload, hexadecimal.
    pub content_sha256: String,
    /// Digest by the rule of its media type, for the signature of an outgoing part.
    pub digest: Option<Vec<u8>>,
    /// The signed form itself, when it is small.
    pub octets: Option<Vec<u8>>,
}

/// What a list asks for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// `in` or `out`.
    pub direction: Option<String>,
    /// A state.
    pub state: Option<String>,
    /// A partner.
    pub partner: Option<String>,
    /// A P-Mode.
    pub pmode: Option<String>,
    /// An `eb:MessageId`.
    pub message_id: Option<String>,
    /// Only older than that: the cursor of the page before.
    pub before: Option<(At, String)>,
    /// Rows.
    pub limit: i64,
}

/// Stores a message with its parts.
pub fn insert(tx: &mut Tx<'_>, new: &Message, parts: &[Part]) -> Result<(), StoreError> {
    on!(tx, c => {
        diesel::insert_into(message::table).values(new).execute(c)?;
        for one in parts {
            diesel::insert_into(part::table).values(one).execute(c)?;
        }
    });
    Ok(())
}

/// The message with that row id, or else with that `eb:MessageId`, of a message to ourselves the one we sent: partners
/// choose their ids, and none of them may stand before a row's own.
pub fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<Message>, StoreError> {
    let row = on!(tx, c => message::table.find(id).select(Message::as_select()).first(c).optional()?);
    if row.is_some() {
        return Ok(row);
    }
    Ok(on!(tx, c => message::table
        .filter(message::message_id.eq(id))
        .order((message::direction.desc(), message::created_at.desc(), message::id.desc()))
        .select(Message::as_select())
        .first(c)
        .optional()?))
}

/// The parts of a message, in order.
pub fn parts(tx: &mut Tx<'_>, id: &str) -> Result<Vec<Part>, StoreError> {
    Ok(on!(tx, c => part::table
        .filter(part::message.eq(id))
        .order(part::position)
        .select(Part::as_select())
        .load(c)?))
}

/// A page of messages, newest first (keyset: no count, no offset).
pub fn list(tx: &mut Tx<'_>, filter: &Filter) -> Result<Vec<Message>, StoreError> {
    Ok(on!(tx, c => {
        let mut query = message::table.into_boxed();
        if let Some(direction) = &filter.direction {
            query = query.filter(message::direction.eq(direction));
        }
        if let Some(state) = &filter.state {
            query = query.filter(message::state.eq(state));
        }
        if let Some(partner) = &filter.partner {
            query = query.filter(message::partner.eq(partner));
        }
        if let Some(pmode) = &filter.pmode {
            query = query.filter(message::pmode.eq(pmode));
        }
        if let Some(id) = &filter.message_id {
            query = query.filter(message::message_id.eq(id));
        }
        if let Some((at, id)) = &filter.before {
            // The first condition is what an index can begin at.
            query = query
                .filter(message::created_at.le(at))
                .filter(message::created_at.lt(at).or(message::id.lt(id)));
        }
        query
            .order((message::created_at.desc(), message::id.desc()))
            .limit(filter.limit)
            .select(Message::as_select())
            .load(c)?
    }))
}

/// Moves a message from one of `from` to `to`; `false` when it was in none of them: someone else was quicker.
pub fn move_state(
    tx: &mut Tx<'_>,
    id: &str,
    from: &[&str],
    to: &str,
    error: Option<&str>,
    now: At,
) -> Result<bool, StoreError> {
    let from = from.iter().copied();
    let moved = on!(tx, c => diesel::update(message::table.filter(message::id.eq(id)).filter(message::state.eq_any(from)))
        .set((message::state.eq(to), message::error.eq(error), message::updated_at.eq(now)))
        .execute(c)?);
    Ok(moved > 0)
}

/// As [`move_state`], for received messages alone: a job that tells a producer about a sent one moves nothing.
pub fn move_incoming(
    tx: &mut Tx<'_>,
    id: &str,
    from: &[&str],
    to: &str,
    error: Option<&str>,
    now: At,
) -> Result<bool, StoreError> {
    let row = message::table
        .filter(message::id.eq(id))
        .filter(message::direction.eq(Direction::In.as_str()))
        .filter(message::state.eq_any(from.iter().copied()));
    let moved = on!(tx, c => diesel::update(row)
        .set((message::state.eq(to), message::error.eq(error), message::updated_at.eq(now)))
        .execute(c)?);
    Ok(moved > 0)
}

/// Messages by state and direction, for the gauges.
pub fn counts(tx: &mut Tx<'_>) -> Result<Vec<(String, String, i64)>, StoreError> {
    Ok(on!(tx, c => message::table
        .group_by((message::direction, message::state))
        .select((message::direction, message::state, diesel::dsl::count_star()))
        .load(c)?))
}

/// Keeps the receipt of a message; the first one stays.
pub fn keep_receipt(tx: &mut Tx<'_>, id: &str, soap: &str, now: At) -> Result<(), StoreError> {
    on!(tx, c => diesel::insert_into(receipt::table)
        .values((receipt::message.eq(id), receipt::soap.eq(soap), receipt::received_at.eq(now)))
        .on_conflict_do_nothing()
        .execute(c)?);
    Ok(())
}

/// The receipt of a message.
pub fn receipt(tx: &mut Tx<'_>, id: &str) -> Result<Option<String>, StoreError> {
    Ok(on!(tx, c => receipt::table.filter(receipt::message.eq(id)).select(receipt::soap).first(c).optional()?))
}
