//! Claiming rows that are due, holding them, and taking back what a vanished owner held.

use std::collections::HashMap;

use diesel::prelude::*;

use super::{Attempt, QUEUE, Sending};
use crate::store::error::StoreError;
use crate::store::instant::At;
use crate::store::lease::{Bounds, Queue};
use crate::store::schema::{attempt, message, sender_log};
use crate::store::state::Outgoing;
use crate::store::tx::{Tx, on};

/// Rows that an earlier run of this node left claimed become due at once. On SQLite that is every row of another run,
/// whatever the node was called then: the file's lock says that it is over (OUT-29).
pub fn release(tx: &mut Tx<'_>, node: &str, boot: &str, now: At) -> Result<usize, StoreError> {
    let another = sender_log::boot_id.is_null().or(sender_log::boot_id.ne(boot));
    // Written out, so that the index on held rows alone serves.
    let held = diesel::dsl::sql::<diesel::sql_types::Bool>("status = 'sending'");
    let stale = sender_log::table.filter(held.and(another)).select(sender_log::message);
    let stale: Vec<String> = match tx {
        Tx::Sqlite(c) => stale.load(*c)?,
        Tx::Postgres(c) => stale.filter(sender_log::lease_owner.eq(node)).for_update().load(*c)?,
    };
    back_to_pending(tx, &stale, now)?;
    Ok(stale.len())
}

/// What was under way when its owner vanished: written or not, nobody knows (OUT-01).
fn back_to_pending(tx: &mut Tx<'_>, ids: &[String], now: At) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    on!(tx, c => diesel::update(
            sender_log::table
                .filter(sender_log::message.eq_any(ids))
                .filter(sender_log::status.eq(Outgoing::Sending.as_str())),
        )
        .set((
            sender_log::status.eq(Outgoing::Pending.as_str()),
            sender_log::next_attempt_at.eq(now),
            sender_log::unanswered.eq(true),
            sender_log::lease_owner.eq(None::<String>),
            sender_log::lease_until.eq(None::<At>),
        ))
        .execute(c)?);
    mirror(tx, ids, Outgoing::Sending, Outgoing::Pending, now)
}

/// Messages follow their rows.
fn mirror(tx: &mut Tx<'_>, ids: &[String], from: Outgoing, to: Outgoing, now: At) -> Result<(), StoreError> {
    on!(tx, c => diesel::update(
            message::table.filter(message::id.eq_any(ids)).filter(message::state.eq(from.as_str())),
        )
        .set((message::state.eq(to.as_str()), message::updated_at.eq(now)))
        .execute(c)?);
    Ok(())
}

/// Claims rows that are due: at most `limit`, oldest first, and of one partner no more than make `per_partner` together
/// with those that this node holds already.
///
/// On PostgreSQL rows are skipped that another node is claiming, and those whose lease has run out by the database's
/// clock are taken over (OUT-11, OUT-29).
pub fn claim(
    tx: &mut Tx<'_>,
    node: &str,
    boot: &str,
    now: At,
    limit: i64,
    per_partner: i64,
) -> Result<Vec<Sending>, StoreError> {
    let lapsed = QUEUE.lapsed(tx, now, limit)?;
    back_to_pending(tx, &lapsed, now)?;
    let ids = QUEUE.due(tx, node, now, Bounds { rows: limit, lane: per_partner })?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let until = Queue::until(tx, now)?;
    let taken: Vec<Sending> = on!(tx, c => diesel::update(
            sender_log::table
                .filter(sender_log::message.eq_any(&ids))
                .filter(sender_log::status.eq(Outgoing::Pending.as_str())),
        )
        .set((
            sender_log::status.eq(Outgoing::Sending.as_str()),
            sender_log::lease_owner.eq(node),
            sender_log::lease_until.eq(until),
            sender_log::boot_id.eq(boot),
            sender_log::fence.eq(sender_log::fence + 1),
            sender_log::attempt_count.eq(sender_log::attempt_count + 1),
        ))
        .returning(Sending::as_returning())
        .get_results(c)?);
    mirror(tx, &ids, Outgoing::Pending, Outgoing::Sending, now)?;
    let mut taken: HashMap<String, Sending> = taken.into_iter().map(|row| (row.message.clone(), row)).collect();
    let taken: Vec<Sending> = ids.iter().filter_map(|id| taken.remove(id)).collect();
    for row in &taken {
        begun(tx, row, node, now)?;
    }
    Ok(taken)
}

/// The attempt's own row (OUT-28). Its number grew in this transaction, so none is there.
fn begun(tx: &mut Tx<'_>, row: &Sending, node: &str, now: At) -> Result<(), StoreError> {
    let new = Attempt {
        message: row.message.clone(),
        number: row.attempt_count,
        node: node.to_owned(),
        started_at: now,
        ended_at: None,
        outcome: None,
        detail: None,
        http_status: None,
        fully_written: None,
    };
    on!(tx, c => diesel::insert_into(attempt::table).values(&new).execute(c)?);
    Ok(())
}

/// Prolongs the lease of an attempt that takes long. `false`: it belongs to somebody else by now.
pub fn renew(tx: &mut Tx<'_>, claimed: &Sending, now: At) -> Result<bool, StoreError> {
    let until = Queue::until(tx, now)?;
    let moved = on!(tx, c => diesel::update(
            sender_log::table
                .filter(sender_log::message.eq(&claimed.message))
                .filter(sender_log::status.eq(Outgoing::Sending.as_str()))
                .filter(sender_log::fence.eq(claimed.fence)),
        )
        .set(sender_log::lease_until.eq(until))
        .execute(c)?);
    Ok(moved > 0)
}
