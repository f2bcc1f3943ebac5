//! How attempts end, and what comes after: receipts, refusals, repeats by hand, cancellation.

use diesel::prelude::*;

use super::{Sending, by_message, locked};
use crate::store::error::StoreError;
use crate::store::instant::At;
use crate::store::message;
use crate::store::schema::{attempt, sender_log};
use crate::store::state::Outgoing;
use crate::store::tx::{Tx, on};

/// How an attempt ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The state that follows.
    pub next: Outgoing,
    /// When it is due again, if it is.
    pub due: Option<At>,
    /// `receipt` or `none`, when delivered.
    pub proof: Option<&'static str>,
    /// Label of the attempt's outcome.
    pub outcome: &'static str,
    /// What came.
    pub detail: String,
    /// HTTP status of the answer.
    pub http_status: Option<i32>,
    /// Whether the request was written whole.
    pub fully_written: bool,
    /// It was written whole and got no answer.
    pub unanswered: bool,
    /// It was answered by an error.
    pub refused: bool,
}

/// Ends an attempt, or the wait for a receipt that [`super::overdue`] found: attempt and state in one transaction. A stale
/// owner's result is discarded, except a receipt, which is always accepted (OUT-11). `false`: it was discarded.
pub fn conclude(tx: &mut Tx<'_>, claimed: &Sending, ended: &Ended, now: At) -> Result<bool, StoreError> {
    let Some(row) = locked(tx, &claimed.message)? else { return Ok(false) };
    on!(tx, c => diesel::update(attempt::table.find((&claimed.message, claimed.attempt_count)))
        .set((
            attempt::ended_at.eq(now),
            attempt::outcome.eq(ended.outcome),
            attempt::detail.eq(&ended.detail),
            attempt::http_status.eq(ended.http_status),
            attempt::fully_written.eq(ended.fully_written),
        ))
        .execute(c)?);
    let open = [Outgoing::Sending.as_str(), Outgoing::AwaitingReceipt.as_str()].contains(&row.status.as_str());
    let stale = row.fence != claimed.fence || !open;
    let receipt = ended.next == Outgoing::Delivered && ended.proof == Some("receipt");
    if stale && !receipt {
        return Ok(false);
    }
    settle(tx, &row, ended, now)
}

/// A receipt that came in a request of its own, or after the message had failed (OUT-24). What became of the row since it
/// was read does not matter, unless that ended it.
pub fn acknowledged(tx: &mut Tx<'_>, row: &Sending, detail: &str, now: At) -> Result<bool, StoreError> {
    let ended = Ended { proof: Some("receipt"), outcome: "receipt", ..apart(Outgoing::Delivered, detail) };
    let Some(row) = locked(tx, &row.message)? else { return Ok(false) };
    settle(tx, &row, &ended, now)
}

/// The partner refused for good, in a request of its own.
pub fn refused(tx: &mut Tx<'_>, row: &Sending, detail: &str, now: At) -> Result<bool, StoreError> {
    let ended = Ended { outcome: "refused", refused: true, ..apart(Outgoing::Failed, detail) };
    let Some(row) = locked(tx, &row.message)? else { return Ok(false) };
    settle(tx, &row, &ended, now)
}

/// What ended a message apart from its attempts.
fn apart(next: Outgoing, detail: &str) -> Ended {
    Ended {
        next,
        due: None,
        proof: None,
        outcome: "",
        detail: detail.to_owned(),
        http_status: None,
        fully_written: true,
        unanswered: false,
        refused: false,
    }
}

fn settle(tx: &mut Tx<'_>, row: &Sending, ended: &Ended, now: At) -> Result<bool, StoreError> {
    let Some(state) = Outgoing::read(&row.status) else {
        return Err(StoreError::Row { table: "sender_log", why: format!("status `{}`", row.status) });
    };
    if !state.may_become(ended.next) {
        return Ok(false);
    }
    let settled = matches!(ended.next, Outgoing::Delivered | Outgoing::Failed | Outgoing::Cancelled);
    let delivered = ended.next == Outgoing::Delivered;
    let error = (!delivered).then_some(ended.detail.as_str());
    // A message that is open is due at some time: without one nothing would ever touch it again.
    let due = if settled { None } else { Some(ended.due.unwrap_or(now)) };
    let moved = on!(tx, c => diesel::update(
            sender_log::table
                .filter(sender_log::message.eq(&row.message))
                .filter(sender_log::status.eq(&row.status))
                .filter(sender_log::fence.eq(row.fence)),
        )
        .set((
            sender_log::status.eq(ended.next.as_str()),
            sender_log::next_attempt_at.eq(due),
            sender_log::lease_owner.eq(None::<String>),
            sender_log::lease_until.eq(None::<At>),
            sender_log::unanswered.eq(row.unanswered || ended.unanswered),
            sender_log::refused.eq(row.refused || ended.refused),
            sender_log::last_error.eq(error),
            sender_log::proof.eq(ended.proof),
            sender_log::late.eq(delivered && state == Outgoing::Failed),
            sender_log::delivered_at.eq(delivered.then_some(now)),
            sender_log::settled_at.eq(settled.then_some(now)),
        ))
        .execute(c)?);
    if moved == 0 {
        return Ok(false);
    }
    follow(tx, row, ended.next, error, now)?;
    Ok(true)
}

/// The message follows its row; two that differ are a damage, and nothing of the transaction stays.
fn follow(tx: &mut Tx<'_>, row: &Sending, next: Outgoing, error: Option<&str>, now: At) -> Result<(), StoreError> {
    if message::move_state(tx, &row.message, &[&row.status], next.as_str(), error, now)? {
        return Ok(());
    }
    let why = format!("{} is not `{}` as its sender log says", row.message, row.status);
    Err(StoreError::Row { table: "message", why })
}

/// Sends a failed message again under the same id (OUT-21), or a waiting one at once.
pub fn requeue(tx: &mut Tx<'_>, id: &str, now: At) -> Result<Sending, StoreError> {
    let row = by_hand(tx, id, Outgoing::Pending)?;
    let again =
        matches!(Outgoing::read(&row.status), Some(Outgoing::Failed | Outgoing::Pending | Outgoing::AwaitingReceipt));
    if !again {
        return Err(StoreError::Move { found: row.status, wanted: Outgoing::Pending.as_str() });
    }
    on!(tx, c => diesel::update(sender_log::table.filter(sender_log::message.eq(&row.message)))
        .set((
            sender_log::status.eq(Outgoing::Pending.as_str()),
            sender_log::next_attempt_at.eq(now),
            sender_log::settled_at.eq(None::<At>),
        ))
        .execute(c)?);
    follow(tx, &row, Outgoing::Pending, None, now)?;
    Ok(row)
}

/// Takes a message back that waits for its next attempt.
pub fn cancel(tx: &mut Tx<'_>, id: &str, detail: &str, now: At) -> Result<Sending, StoreError> {
    let row = by_hand(tx, id, Outgoing::Cancelled)?;
    if settle(tx, &row, &apart(Outgoing::Cancelled, detail), now)? {
        return Ok(row);
    }
    Err(StoreError::Move { found: row.status, wanted: Outgoing::Cancelled.as_str() })
}

/// The row that a person names, locked.
fn by_hand(tx: &mut Tx<'_>, id: &str, wanted: Outgoing) -> Result<Sending, StoreError> {
    let unknown = || StoreError::Move { found: "not an outgoing message".to_owned(), wanted: wanted.as_str() };
    let row = by_message(tx, id)?.ok_or_else(unknown)?;
    locked(tx, &row.message)?.ok_or_else(unknown)
}
