//! Delivery jobs: the effect that the MSH owns, carried to consumers at least once with the same key.

use std::collections::{BTreeSet, HashMap};

use diesel::prelude::*;

use super::error::StoreError;
use super::instant::At;
use super::lease::{Bounds, Queue};
use super::schema::{delivery, message as message_row};
use super::state::Incoming;
use super::tx::{Tx, on};
use super::{event, inbox, message};

/// A delivery job.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = delivery, treat_none_as_default_value = false)]
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

impl Job {
    /// A job that is due at once.
    #[must_use]
    pub fn new(id: String, message: &str, backend: &str, delivery_key: String, now: At) -> Self {
        Self {
            id,
            message: message.to_owned(),
            backend: backend.to_owned(),
            delivery_key,
            state: Incoming::Received.as_str().to_owned(),
            attempts: 0,
            created_at: now,
            next_at: Some(now),
            lease_owner: None,
            lease_until: None,
            fence: 0,
            boot_id: None,
            last_error: None,
            settled_at: None,
        }
    }
}

/// Adds a job.
pub fn add(tx: &mut Tx<'_>, new: &Job) -> Result<(), StoreError> {
    on!(tx, c => diesel::insert_into(delivery::table).values(new).execute(c)?);
    Ok(())
}

/// The queue of delivery jobs: one lane a backend.
pub(super) const QUEUE: Queue = Queue {
    table: "delivery",
    id: "id",
    lane: "backend",
    state: "state",
    due: "next_at",
    waiting: "received",
    held: "delivering",
};

/// Claims jobs that are due, oldest first, of one backend no more than make `per_backend` together with those that this
/// node holds already.
pub fn claim(
    tx: &mut Tx<'_>,
    node: &str,
    boot: &str,
    now: At,
    limit: i64,
    per_backend: i64,
) -> Result<Vec<Job>, StoreError> {
    let lapsed = QUEUE.lapsed(tx, now, limit)?;
    back_to_received(tx, &lapsed, now)?;
    let ids = QUEUE.due(tx, node, now, Bounds { rows: limit, lane: per_backend })?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let until = Queue::until(tx, now)?;
    let taken: Vec<Job> = on!(tx, c => diesel::update(
            delivery::table.filter(delivery::id.eq_any(&ids)).filter(delivery::state.eq(Incoming::Received.as_str())),
        )
        .set((
            delivery::state.eq(Incoming::Delivering.as_str()),
            delivery::lease_owner.eq(node),
            delivery::lease_until.eq(until),
            delivery::boot_id.eq(boot),
            delivery::fence.eq(delivery::fence + 1),
            delivery::attempts.eq(delivery::attempts + 1),
        ))
        .returning(Job::as_returning())
        .get_results(c)?);
    let mut taken: HashMap<String, Job> = taken.into_iter().map(|job| (job.id.clone(), job)).collect();
    let taken: Vec<Job> = ids.iter().filter_map(|id| taken.remove(id)).collect();
    let messages: BTreeSet<&str> = taken.iter().map(|job| job.message.as_str()).collect();
    for id in messages {
        message::move_incoming(tx, id, &[Incoming::Received.as_str()], Incoming::Delivering.as_str(), None, now)?;
    }
    Ok(taken)
}

/// Prolongs the lease of an offer that takes long. `false`: it belongs to somebody else by now.
pub fn renew(tx: &mut Tx<'_>, job: &Job, now: At) -> Result<bool, StoreError> {
    let until = Queue::until(tx, now)?;
    let moved = on!(tx, c => diesel::update(
            delivery::table
                .find(&job.id)
                .filter(delivery::state.eq(Incoming::Delivering.as_str()))
                .filter(delivery::fence.eq(job.fence)),
        )
        .set(delivery::lease_until.eq(until))
        .execute(c)?);
    Ok(moved > 0)
}

/// When the next job is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<At>, StoreError> {
    QUEUE.first(tx)
}

/// The consumer has it. When every job of the message is settled, the message is delivered. `false`: a stale owner.
pub fn settle(tx: &mut Tx<'_>, job: &Job, now: At) -> Result<bool, StoreError> {
    if !end(tx, job, Incoming::Delivered, None, None, now)? {
        return Ok(false);
    }
    if sum_up(tx, &job.message, None, now)? == Incoming::Delivered {
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
    sum_up(tx, &job.message, Some(error), now)?;
    Ok(true)
}

/// Brings a message to what its jobs make together: failed when one is parked, else delivering when one is under way,
/// else received when one waits, else delivered.
fn sum_up(tx: &mut Tx<'_>, id: &str, error: Option<&str>, now: At) -> Result<Incoming, StoreError> {
    if let Tx::Postgres(c) = tx {
        // Two jobs that end at the same time would each see the other one open.
        message_row::table.find(id).select(message_row::id).for_update().first::<String>(*c).optional()?;
    }
    let states: Vec<String> =
        on!(tx, c => delivery::table.filter(delivery::message.eq(id)).select(delivery::state).distinct().load(c)?);
    let order = [Incoming::Failed, Incoming::Delivering, Incoming::Received];
    let next = order.into_iter().find(|state| states.iter().any(|s| s == state.as_str()));
    let next = next.unwrap_or(Incoming::Delivered);
    let from: Vec<&str> = Incoming::ALL.iter().filter(|s| s.may_become(next)).map(|s| s.as_str()).collect();
    message::move_incoming(tx, id, &from, next.as_str(), error, now)?;
    Ok(next)
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
            delivery::lease_until.eq(None::<At>),
            delivery::last_error.eq(error),
            delivery::settled_at.eq(settled),
        ))
        .execute(c)?);
    Ok(moved > 0)
}

/// Jobs that an earlier run of this node left claimed become due at once. On SQLite that is every job of another run,
/// whatever the node was called then.
pub fn release(tx: &mut Tx<'_>, node: &str, boot: &str, now: At) -> Result<usize, StoreError> {
    let another = delivery::boot_id.is_null().or(delivery::boot_id.ne(boot));
    // Written out, so that the index on held rows alone serves.
    let held = diesel::dsl::sql::<diesel::sql_types::Bool>("state = 'delivering'");
    let stale = delivery::table.filter(held.and(another)).select(delivery::id);
    let stale: Vec<String> = match tx {
        Tx::Sqlite(c) => stale.load(*c)?,
        Tx::Postgres(c) => stale.filter(delivery::lease_owner.eq(node)).for_update().load(*c)?,
    };
    back_to_received(tx, &stale, now)?;
    Ok(stale.len())
}

fn back_to_received(tx: &mut Tx<'_>, ids: &[String], now: At) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    let messages: Vec<String> = on!(tx, c => diesel::update(
            delivery::table.filter(delivery::id.eq_any(ids)).filter(delivery::state.eq(Incoming::Delivering.as_str())),
        )
        .set((
            delivery::state.eq(Incoming::Received.as_str()),
            delivery::next_at.eq(now),
            delivery::lease_owner.eq(None::<String>),
            delivery::lease_until.eq(None::<At>),
        ))
        .returning(delivery::message)
        .get_results(c)?);
    for id in messages.into_iter().collect::<BTreeSet<_>>() {
        sum_up(tx, &id, None, now)?;
    }
    Ok(())
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
