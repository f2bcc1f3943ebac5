//! The Idempotent Sender: a stable key, fixed with the payload hash before any attempt; leases; attempts; conclusions.

mod claim;
mod conclude;
mod row;

use diesel::prelude::*;

use super::error::StoreError;
use super::instant::At;
use super::lease::Queue;
use super::schema::{attempt, package, sender_log};
use super::tx::{Tx, on};

pub use claim::{claim, release, renew};
pub use conclude::{Ended, acknowledged, cancel, conclude, refused, requeue};
pub use row::{Attempt, Package, Sending};

/// The queue of outgoing messages: one lane a partner.
pub(super) const QUEUE: Queue = Queue {
    table: "sender_log",
    id: "message",
    lane: "partner",
    state: "status",
    due: "next_attempt_at",
    waiting: "pending",
    held: "sending",
};

/// What became of a submission (OUT-25).
#[derive(Debug, PartialEq, Eq)]
pub enum Submitted {
    /// New.
    New,
    /// The same key and content: what it led to then.
    Same(Box<Sending>),
    /// The same key, another content.
    OtherPayload(Box<Sending>),
}

/// Fixes the key, or finds that it is fixed. `effect` stores the message with its parts and package.
pub fn submit<E: From<StoreError>>(
    tx: &mut Tx<'_>,
    new: &Sending,
    effect: impl FnOnce(&mut Tx<'_>) -> Result<(), E>,
) -> Result<Submitted, E> {
    let inserted = on!(tx, c => diesel::insert_into(sender_log::table)
        .values(new)
        .on_conflict((sender_log::producer, sender_log::key))
        .do_nothing()
        .execute(c))
    .map_err(StoreError::from)?;
    if inserted > 0 {
        effect(tx)?;
        return Ok(Submitted::New);
    }
    let Some(there) = by_key(tx, &new.producer, &new.key)? else {
        let why = "a key that is there cannot be read".to_owned();
        return Err(StoreError::Row { table: "sender_log", why }.into());
    };
    if there.payload_hash == new.payload_hash {
        Ok(Submitted::Same(Box::new(there)))
    } else {
        Ok(Submitted::OtherPayload(Box::new(there)))
    }
}

/// Keeps what is frozen.
pub fn freeze(tx: &mut Tx<'_>, frozen: &Package) -> Result<(), StoreError> {
    on!(tx, c => diesel::insert_into(package::table).values(frozen).execute(c)?);
    Ok(())
}

/// What is frozen.
pub fn frozen(tx: &mut Tx<'_>, message: &str) -> Result<Option<Package>, StoreError> {
    Ok(on!(tx, c => package::table.find(message).select(Package::as_select()).first(c).optional()?))
}

/// The row of a key.
pub fn by_key(tx: &mut Tx<'_>, producer: &str, key: &str) -> Result<Option<Sending>, StoreError> {
    Ok(on!(tx, c => sender_log::table.find((producer, key)).select(Sending::as_select()).first(c).optional()?))
}

/// The row of a message row or an `eb:MessageId`.
pub fn by_message(tx: &mut Tx<'_>, id: &str) -> Result<Option<Sending>, StoreError> {
    Ok(on!(tx, c => sender_log::table
        .filter(sender_log::message.eq(id).or(sender_log::message_id.eq(id)))
        .select(Sending::as_select())
        .first(c)
        .optional()?))
}

/// Attempts of a message, in order.
pub fn attempts(tx: &mut Tx<'_>, message: &str) -> Result<Vec<Attempt>, StoreError> {
    Ok(on!(tx, c => attempt::table
        .filter(attempt::message.eq(message))
        .order(attempt::number)
        .select(Attempt::as_select())
        .load(c)?))
}

/// The row of a message row, locked on PostgreSQL until the transaction ends: what is decided about it holds.
fn locked(tx: &mut Tx<'_>, message: &str) -> Result<Option<Sending>, StoreError> {
    let row = sender_log::table.filter(sender_log::message.eq(message));
    Ok(match tx {
        Tx::Sqlite(c) => row.select(Sending::as_select()).first(*c).optional()?,
        Tx::Postgres(c) => row.select(Sending::as_select()).for_update().first(*c).optional()?,
    })
}

/// Messages that are out and unanswered since before `before`: their receipt is due by now.
pub fn overdue(tx: &mut Tx<'_>, before: At, limit: i64) -> Result<Vec<Sending>, StoreError> {
    // Written out, so that the index on these rows alone serves.
    let awaiting = diesel::dsl::sql::<diesel::sql_types::Text>("'awaiting_receipt'");
    Ok(on!(tx, c => sender_log::table
        .filter(sender_log::status.eq(awaiting))
        .filter(sender_log::next_attempt_at.le(before))
        .order(sender_log::next_attempt_at)
        .limit(limit)
        .select(Sending::as_select())
        .load(c)?))
}

/// When the next row is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<At>, StoreError> {
    QUEUE.first(tx)
}
