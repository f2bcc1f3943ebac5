//! The Transactional Inbox: the message key is inserted in the same transaction as its effect.

use diesel::prelude::*;

use super::error::StoreError;
use super::instant::At;
use super::schema::{inbox, reply};
use super::tx::{Tx, on};

/// A row of the inbox (IN-11, IN-12).
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = inbox, treat_none_as_default_value = false)]
pub struct Received {
    /// The key's first half: protocol, our party, the partner's party (IN-21).
    pub source: String,
    /// The key's second half.
    pub message_id: String,
    /// Such as `as4.user_message`.
    pub event_type: String,
    /// When.
    pub received_at: At,
    /// When its effect was settled.
    pub processed_at: Option<At>,
    /// A compact outcome (IN-30).
    pub result: Option<String>,
    /// The payload hash.
    pub payload_hash: String,
    /// A hash over the signed references: the same for the same octets on the wire.
    pub digest_set: String,
    /// `eb:Service`.
    pub service: String,
    /// `eb:Action`.
    pub action: String,
    /// From and To.
    pub parties: String,
    /// The partner.
    pub partner: String,
    /// The signer's subject.
    pub signer: Option<String>,
    /// P-Mode id.
    pub pmode: String,
    /// P-Mode revision.
    pub pmode_revision: String,
    /// `as4`.
    pub protocol: String,
    /// `eb:ConversationId` or `eb:RefToMessageId`.
    pub correlation: Option<String>,
    /// [`super::Message::id`] of the effect.
    pub message: Option<String>,
    /// How often it came again.
    pub duplicate_count: i64,
    /// When it came last.
    pub last_seen_at: Option<At>,
    /// End of the duplicate window.
    pub expires_at: At,
}

/// An answer that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = reply, treat_none_as_default_value = false)]
pub struct StoredReply {
    /// As in the inbox.
    pub source: String,
    /// As in the inbox.
    pub message_id: String,
    /// For which digests.
    pub digest_set: String,
    /// HTTP status.
    pub status: i32,
    /// `Content-Type`.
    pub content_type: String,
    /// The octets.
    pub body: Vec<u8>,
    /// When it was made.
    pub created_at: At,
    /// When the certificate that signed it ends; `None` of an unsigned one.
    pub valid_until: Option<At>,
}

/// What [`once`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Once<T> {
    /// The key is new, and this is what its effect gave.
    First(T),
    /// The key was there; the effect did not run.
    Again(Box<Received>),
}

/// The only way to an effect: inserts the key and runs the effect in the same transaction, or, where the key is there,
/// gives its row and runs nothing (IN-03…IN-06). An effect that fails takes the key with it.
pub fn once<T, E: From<StoreError>>(
    tx: &mut Tx<'_>,
    key: &Received,
    effect: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
) -> Result<Once<T>, E> {
    let inserted = on!(tx, c => diesel::insert_into(inbox::table).values(key).on_conflict_do_nothing().execute(c))
        .map_err(StoreError::from)?;
    if inserted > 0 {
        return effect(tx).map(Once::First);
    }
    let row = on!(tx, c => inbox::table
        .find((&key.source, &key.message_id))
        .select(Received::as_select())
        .first(c))
    .map_err(StoreError::from)?;
    Ok(Once::Again(Box::new(row)))
}

/// What became of an arrival.
#[derive(Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The first: its effect is in the transaction.
    First,
    /// The same octets again: the stored answer, octet for octet (EB-164 a), as long as its signer's certificate is valid.
    /// Then the answer is signed anew, and that one is stored (IN-53).
    Same(Box<StoredReply>),
    /// The same content packed anew: the new answer is stored too, and nothing else happened (EB-164 b).
    Repacked,
    /// Another content under the same id: nothing happened (IN-23).
    OtherContent {
        /// Payload hash of the first.
        first: String,
        /// [`super::Message::id`] of the first.
        message: Option<String>,
    },
}

/// Accepts an arrival: the three cases of *the same id again*.
pub fn accept<E: From<StoreError>>(
    tx: &mut Tx<'_>,
    key: &Received,
    answer: &StoredReply,
    effect: impl FnOnce(&mut Tx<'_>) -> Result<(), E>,
) -> Result<Accepted, E> {
    let first = once(tx, key, |tx| {
        // What an earlier row under this key was answered went with that row.
        drop_replies(tx, &key.source, &key.message_id)?;
        add_reply(tx, answer)?;
        effect(tx)
    })?;
    let row = match first {
        Once::First(()) => return Ok(Accepted::First),
        Once::Again(row) => row,
    };
    let same = row.payload_hash == key.payload_hash
        && row.service == key.service
        && row.action == key.action
        && row.parties == key.parties;
    if !same {
        return Ok(Accepted::OtherContent { first: row.payload_hash.clone(), message: row.message.clone() });
    }
    seen_again(tx, key)?;
    if add_reply(tx, answer)? {
        return Ok(Accepted::Repacked);
    }
    match stored_reply(tx, &key.source, &key.message_id, &answer.digest_set)? {
        Some(stored) if stored.valid_until.is_some_and(|end| end < key.received_at) => {
            renew_reply(tx, answer)?;
            Ok(Accepted::Same(Box::new(answer.clone())))
        }
        Some(stored) => Ok(Accepted::Same(Box::new(stored))),
        None => {
            Err(StoreError::Row { table: "reply", why: "an answer that is there cannot be read".to_owned() }.into())
        }
    }
}

/// The row id of the message that a key led to.
pub fn message_of(tx: &mut Tx<'_>, source: &str, message_id: &str) -> Result<Option<String>, StoreError> {
    Ok(on!(tx, c => inbox::table
        .find((source, message_id))
        .select(inbox::message)
        .first::<Option<String>>(c)
        .optional()?)
    .flatten())
}

/// Marks a key's effect as settled.
pub fn processed(tx: &mut Tx<'_>, message: &str, result: &str, now: At) -> Result<(), StoreError> {
    on!(tx, c => diesel::update(inbox::table.filter(inbox::message.eq(message)))
        .set((inbox::processed_at.eq(now), inbox::result.eq(result)))
        .execute(c)?);
    Ok(())
}

/// Keeps an answer; `false` when one for these digests is there.
fn add_reply(tx: &mut Tx<'_>, answer: &StoredReply) -> Result<bool, StoreError> {
    Ok(on!(tx, c => diesel::insert_into(reply::table).values(answer).on_conflict_do_nothing().execute(c)?) > 0)
}

/// Puts an answer in the place of one for the same digests.
fn renew_reply(tx: &mut Tx<'_>, answer: &StoredReply) -> Result<(), StoreError> {
    on!(tx, c => diesel::update(reply::table.find((&answer.source, &answer.message_id, &answer.digest_set)))
        .set((
            reply::status.eq(answer.status),
            reply::content_type.eq(&answer.content_type),
            reply::body.eq(&answer.body),
            reply::created_at.eq(answer.created_at),
            reply::valid_until.eq(answer.valid_until),
        ))
        .execute(c)?);
    Ok(())
}

fn drop_replies(tx: &mut Tx<'_>, source: &str, message_id: &str) -> Result<(), StoreError> {
    on!(tx, c => diesel::delete(
            reply::table.filter(reply::source.eq(source)).filter(reply::message_id.eq(message_id)),
        )
        .execute(c)?);
    Ok(())
}

fn stored_reply(
    tx: &mut Tx<'_>,
    source: &str,
    message_id: &str,
    digest_set: &str,
) -> Result<Option<StoredReply>, StoreError> {
    Ok(on!(tx, c => reply::table
        .find((source, message_id, digest_set))
        .select(StoredReply::as_select())
        .first(c)
        .optional()?))
}

fn seen_again(tx: &mut Tx<'_>, key: &Received) -> Result<(), StoreError> {
    on!(tx, c => diesel::update(inbox::table.find((&key.source, &key.message_id)))
        .set((inbox::duplicate_count.eq(inbox::duplicate_count + 1), inbox::last_seen_at.eq(key.received_at)))
        .execute(c)?);
    Ok(())
}

/// Removes keys whose window is over and whose effect is settled, at most `limit` of those received before `before`, with
/// their answers (IN-14, IN-17, IN-18). Gives how many went: repeat in transactions of their own until it is none.
pub fn purge(tx: &mut Tx<'_>, before: At, now: At, limit: i64) -> Result<usize, StoreError> {
    let over: Vec<(String, String)> = on!(tx, c => inbox::table
        .filter(inbox::received_at.lt(before))
        .filter(inbox::expires_at.le(now))
        .filter(inbox::processed_at.is_not_null())
        .order(inbox::received_at)
        .limit(limit)
        .select((inbox::source, inbox::message_id))
        .load(c)?);
    for (source, message_id) in &over {
        drop_replies(tx, source, message_id)?;
        on!(tx, c => diesel::delete(inbox::table.find((source, message_id))).execute(c)?);
    }
    Ok(over.len())
}
