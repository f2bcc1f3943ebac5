//! Delivery jobs: the effect that the MSH owns, carried to consumers at least once with the same key.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::error::StoreError;
use super::instant::{At, Instant};
use super::message;
use super::schema::delivery;
use super::state::Incoming;
use super::tx::{Tx, on};
use super::{event, inbox};

const LEASE_SECONDS: i32 = 300;

/// A delivery job.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = delivery)]
pub struct Job {
    /// Sortable id.
    pub id: String,
    /// [`super::Message::id`].
    pub message: String,
    /// Name of the backend.
    pub backend: String,
    /// The key that every repetition carries.
    pub delivery_key: String,
    /// [`Incoming`].
    pub state: String,
    /// Offers made.
    pub attempts: i32,
    /// When it was made.
    pub created_at: At,
    /// When it is due.
    pub next_at: Option<At>,
    /// Who has it.
    pub lease_owner: Option<String>,
    /// Until when.
    pub lease_until: Option<At>,
    /// Grows with each claim.
    pub fence: i64,
    /// The run of the process that claimed it.
    pub boot_id: Option<String>,
    /// What the last offer met.
    pub last_error: Option<String>,
    /// When it reached its end.
    pub settled_at: Option<At>,
}

/// Adds a job.
pub fn add(tx: &mut Tx<'_>, new: &Job) -> Result<(), StoreError> {
    on!(tx, c => diesel::insert_into(delivery::table).values(new).execute(c)?);
    Ok(())
}

#[derive(QueryableByName)]
struct Due {
    #[diesel(sql_type = Text)]
    id: String,
}

/// Claims jobs that are due, at most `per_backend` of one backend.
pub fn claim(
    tx: &mut Tx<'_>,
    node: &str,
    boot: &str,
    now: At,
    limit: i64,
    per_backend: i64,
) -> Result<Vec<Job>, StoreError> {
    const DUE: &str = "SELECT id FROM (SELECT id, next_at, row_number() OVER (PARTITION BY backend ORDER BY next_at) AS \
                       place FROM delivery WHERE state = 'received' AND next_at";
    let ids: Vec<Due> = match tx {
        Tx::Sqlite(c) => diesel::sql_query(format!("{DUE} <= ?) AS due WHERE place <= ? ORDER BY next_at LIMIT ?"))
            .bind::<Instant, _>(now)
            .bind::<BigInt, _>(per_backend)
            .bind::<BigInt, _>(limit)
            .load(*c)?,
        Tx::Postgres(c) => {
            diesel::sql_query(
                "UPDATE delivery SET state = 'received', next_at = clock_timestamp() WHERE state = 'delivering' \
                 AND lease_until < clock_timestamp()",
            )
            .execute(*c)?;
            diesel::sql_query(format!(
                "SELECT id FROM delivery WHERE state = 'received' AND id IN ({DUE} <= $1) AS due WHERE place <= $2 ORDER BY \
                 next_at LIMIT $3) FOR UPDATE SKIP LOCKED"
            ))
            .bind::<Instant, _>(now)
            .bind::<BigInt, _>(per_backend)
            .bind::<BigInt, _>(limit)
            .load(*c)?
        }
    };
    let mut claimed = Vec::with_capacity(ids.len());
    for due in ids {
        let row = delivery::table.find(due.id.clone()).filter(delivery::state.eq(Incoming::Received.as_str()));
        let set = (
            delivery::state.eq(Incoming::Delivering.as_str()),
            delivery::lease_owner.eq(node),
            delivery::boot_id.eq(boot),
            delivery::fence.eq(delivery::fence + 1),
            delivery::attempts.eq(delivery::attempts + 1),
        );
        let moved = match tx {
            Tx::Sqlite(c) => diesel::update(row).set(set).execute(*c)?,
            Tx::Postgres(c) => {
                let until = diesel::dsl::sql::<diesel::sql_types::Nullable<Instant>>(&format!(
                    "clock_timestamp() + interval '{LEASE_SECONDS} seconds'"
                ));
                diesel::update(row).set((set, delivery::lease_until.eq(until))).execute(*c)?
            }
        };
        if moved > 0 {
            claimed.push(on!(tx, c => delivery::table.find(&due.id).select(Job::as_select()).first(c)?));
        }
    }
    for job in &claimed {
        let from = [Incoming::Received.as_str()];
        message::move_incoming(tx, &job.message, &from, Incoming::Delivering.as_str(), None, now)?;
    }
    Ok(claimed)
}

/// The consumer has it. When every job of the message is settled, the message is delivered. `false`: a stale owner.
pub fn settle(tx: &mut Tx<'_>, job: &Job, now: At) -> Result<bool, StoreError> {
    if !end(tx, job, Incoming::Delivered, None, None, now)? {
        return Ok(false);
    }
    let open: i64 = on!(tx, c => delivery::table
        .filter(delivery::message.eq(&job.message))
        .filter(delivery::state.ne(Incoming::Delivered.as_str()))
        .count()
        .get_result(c)?);
    if open == 0 {
        let from = [Incoming::Received.as_str(), Incoming::Delivering.as_str(), Incoming::Failed.as_str()];
        message::move_incoming(tx, &job.message, &from, Incoming::Delivered.as_str(), None, now)?;
        inbox::processed(tx, &job.message, "delivered", now)?;
    }
    Ok(true)
}

/// The consumer did not take it: offered again at `due`, or parked (IN-33).
pub fn put_off(tx: &mut Tx<'_>, job: &Job, error: &str, due: Option<At>, now: At) -> Result<bool, StoreError> {
    let next = if due.is_some() { Incoming::Received } else { Incoming::Failed };
    if !end(tx, job, next, Some(error), due, now)? {
        return Ok(false);
    }
    let from = [Incoming::Received.as_str(), Incoming::Delivering.as_str()];
    message::move_incoming(tx, &job.message, &from, next.as_str(), Some(error), now)?;
    Ok(true)
}

fn end(
    tx: &mut Tx<'_>,
    job: &Job,
    next: Incoming,
    error: Option<&str>,
    due: Option<At>,
    now: At,
) -> Result<bool, StoreError> {
    let settled = matches!(next, Incoming::Delivered | Incoming::Failed).then_some(now);
    let moved = on!(tx, c => diesel::update(
            delivery::table
                .find(&job.id)
                .filter(delivery::state.eq(Incoming::Delivering.as_str()))
                .filter(delivery::fence.eq(job.fence)),
        )
        .set((
            delivery::state.eq(next.as_str()),
            delivery::next_at.eq(due),
            delivery::lease_owner.eq(None::<String>),
            delivery::last_error.eq(error),
            delivery::settled_at.eq(settled),
        ))
        .execute(c)?);
    Ok(moved > 0)
}

/// Jobs that an earlier run of this node left claimed become due at once.
pub fn release(tx: &mut Tx<'_>, node: &str, boot: &str, now: At) -> Result<usize, StoreError> {
    Ok(on!(tx, c => diesel::update(
            delivery::table
                .filter(delivery::state.eq(Incoming::Delivering.as_str()))
                .filter(delivery::lease_owner.eq(node))
                .filter(delivery::boot_id.ne(boot)),
        )
        .set((delivery::state.eq(Incoming::Received.as_str()), delivery::next_at.eq(now)))
        .execute(c)?))
}

/// Offers a parked message again.
pub fn redeliver(tx: &mut Tx<'_>, id: &str, now: At) -> Result<usize, StoreError> {
    let count = on!(tx, c => diesel::update(
            delivery::table.filter(delivery::message.eq(id)).filter(delivery::state.eq(Incoming::Failed.as_str())),
        )
        .set((
            delivery::state.eq(Incoming::Received.as_str()),
            delivery::next_at.eq(now),
            delivery::settled_at.eq(None::<At>),
        ))
        .execute(c)?);
    if count > 0 {
        message::move_incoming(tx, id, &[Incoming::Failed.as_str()], Incoming::Received.as_str(), None, now)?;
        event::add(tx, id, now, "deliver.retrying", "offered to the consumer again")?;
    }
    Ok(count)
}

/// The jobs of a message.
pub fn of_message(tx: &mut Tx<'_>, id: &str) -> Result<Vec<Job>, StoreError> {
    Ok(on!(tx, c => delivery::table
        .filter(delivery::message.eq(id))
        .order(delivery::id)
        .select(Job::as_select())
        .load(c)?))
}
