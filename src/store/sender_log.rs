//! The Idempotent Sender: a stable key, fixed with the payload hash before any attempt; leases; attempts; conclusions.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::error::StoreError;
use super::instant::{At, Instant};
use super::message;
use super::schema::{attempt, package, sender_log};
use super::state::Outgoing;
use super::tx::{Tx, on};

/// How long a claimed row belongs to its worker on PostgreSQL; renewed by each attempt.
const LEASE_SECONDS: i32 = 300;

/// A row of the sender log (OUT-08).
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable, QueryableByName)]
#[diesel(table_name = sender_log)]
pub struct Sending {
    /// Who submitted: API token, folder, SQL role.
    pub producer: String,
    /// The producer's key, one derived from the document, or a UUID drawn at submission.
    pub key: String,
    /// `eb:MessageId`: the same on every attempt.
    pub message_id: String,
    /// [`super::Message::id`].
    pub message: String,
    /// The payload hash (OUT-12).
    pub payload_hash: String,
    /// [`Outgoing`].
    pub status: String,
    /// Attempts begun.
    pub attempt_count: i32,
    /// When it was submitted.
    pub created_at: At,
    /// When it is due.
    pub next_attempt_at: Option<At>,
    /// Who has it.
    pub lease_owner: Option<String>,
    /// Until when.
    pub lease_until: Option<At>,
    /// Grows with each claim: what an old owner brings is discarded.
    pub fence: i64,
    /// The run of the process that claimed it (SQLite).
    pub boot_id: Option<String>,
    /// The partner.
    pub partner: String,
    /// `as4`.
    pub channel: String,
    /// P-Mode id.
    pub pmode: String,
    /// P-Mode revision.
    pub pmode_revision: String,
    /// An earlier attempt was written whole and got no answer (EB-165).
    pub unanswered: bool,
    /// An earlier attempt was answered by an error or a 5xx (EB-165).
    pub refused: bool,
    /// What the last attempt met.
    pub last_error: Option<String>,
    /// `receipt`, or `none` where only a duplicate answer says so.
    pub proof: Option<String>,
    /// The receipt came after the message had failed.
    pub late: bool,
    /// When it was delivered.
    pub delivered_at: Option<At>,
    /// When it reached its end.
    pub settled_at: Option<At>,
}

/// What is frozen (EB-161).
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = package)]
pub struct Package {
    /// [`super::Message::id`].
    pub message: String,
    /// Envelope without `wsse:Security`.
    pub envelope: String,
    /// Token and signature.
    pub blocks: String,
    /// Signed references, as JSON.
    pub refs: String,
    /// MIME boundary.
    pub boundary: String,
    /// Content-ID of the SOAP part.
    pub root_id: String,
    /// The To party, as JSON: whom a receipt must come from.
    pub recipient: String,
}

/// One attempt (OUT-28).
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable, serde::Serialize)]
#[diesel(table_name = attempt)]
pub struct Attempt {
    /// [`super::Message::id`].
    #[serde(skip)]
    pub message: String,
    /// From 1.
    pub number: i32,
    /// The node.
    pub node: String,
    /// When it began.
    pub started_at: At,
    /// When it ended; none after a crash.
    pub ended_at: Option<At>,
    /// `receipt`, `retry`, `refused`, …
    pub outcome: Option<String>,
    /// What came.
    pub detail: Option<String>,
    /// HTTP status of the answer.
    pub http_status: Option<i32>,
    /// Whether the request was written whole.
    pub fully_written: Option<bool>,
}

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

/// Rows that an earlier run of this node left claimed become due at once.
pub fn release(tx: &mut Tx<'_>, node: &str, boot: &str, now: At) -> Result<usize, StoreError> {
    let stale = on!(tx, c => sender_log::table
        .filter(sender_log::status.eq(Outgoing::Sending.as_str()))
        .filter(sender_log::lease_owner.eq(node))
        .filter(sender_log::boot_id.ne(boot))
        .select(sender_log::message)
        .load::<String>(c)?);
    for id in &stale {
        back_to_pending(tx, id, now)?;
    }
    Ok(stale.len())
}

/// What was under way when its owner vanished: written or not, nobody knows (OUT-01).
fn back_to_pending(tx: &mut Tx<'_>, id: &str, now: At) -> Result<(), StoreError> {
    on!(tx, c => diesel::update(sender_log::table.filter(sender_log::message.eq(id)))
        .set((
            sender_log::status.eq(Outgoing::Pending.as_str()),
            sender_log::next_attempt_at.eq(now),
            sender_log::unanswered.eq(true),
            sender_log::lease_owner.eq(None::<String>),
        ))
        .execute(c)?);
    message::move_state(tx, id, &[Outgoing::Sending.as_str()], Outgoing::Pending.as_str(), None, now)?;
    Ok(())
}

/// Claims rows that are due: at most `limit`, and of one partner no more than `per_partner`, oldest first.
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
    const DUE: &str = "SELECT message FROM (SELECT message, next_attempt_at, row_number() OVER (PARTITION BY partner \
                       ORDER BY next_attempt_at) AS place FROM sender_log WHERE status = 'pending' AND next_attempt_at";
    let ids: Vec<Claimed> = match tx {
        Tx::Sqlite(c) => {
            diesel::sql_query(format!("{DUE} <= ?) AS due WHERE place <= ? ORDER BY next_attempt_at LIMIT ?"))
                .bind::<Instant, _>(now)
                .bind::<BigInt, _>(per_partner)
                .bind::<BigInt, _>(limit)
                .load(*c)?
        }
        Tx::Postgres(c) => {
            let lapsed = diesel::sql_query(
                "SELECT message FROM sender_log WHERE status = 'sending' AND lease_until < clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED",
            )
            .bind::<BigInt, _>(limit)
            .load::<Claimed>(*c)?;
            let mut tx = Tx::Postgres(c);
            for row in &lapsed {
                back_to_pending(&mut tx, &row.message, now)?;
            }
            diesel::sql_query(format!(
                "SELECT message FROM sender_log WHERE status = 'pending' AND message IN ({DUE} <= $1) AS due WHERE place <= $2 \
                 ORDER BY next_attempt_at LIMIT $3) FOR UPDATE SKIP LOCKED"
            ))
            .bind::<Instant, _>(now)
            .bind::<BigInt, _>(per_partner)
            .bind::<BigInt, _>(limit)
            .load(*c)?
        }
    };
    let mut claimed = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(row) = take(tx, &id.message, node, boot, now)? {
            claimed.push(row);
        }
    }
    Ok(claimed)
}

#[derive(QueryableByName)]
struct Claimed {
    #[diesel(sql_type = Text)]
    message: String,
}

fn take(tx: &mut Tx<'_>, id: &str, node: &str, boot: &str, now: At) -> Result<Option<Sending>, StoreError> {
    let row =
        sender_log::table.filter(sender_log::message.eq(id)).filter(sender_log::status.eq(Outgoing::Pending.as_str()));
    let set = (
        sender_log::status.eq(Outgoing::Sending.as_str()),
        sender_log::lease_owner.eq(node),
        sender_log::boot_id.eq(boot),
        sender_log::fence.eq(sender_log::fence + 1),
        sender_log::attempt_count.eq(sender_log::attempt_count + 1),
    );
    let moved = match tx {
        Tx::Sqlite(c) => diesel::update(row).set(set).execute(*c)?,
        Tx::Postgres(c) => {
            let until = diesel::dsl::sql::<diesel::sql_types::Nullable<Instant>>(&format!(
                "clock_timestamp() + interval '{LEASE_SECONDS} seconds'"
            ));
            diesel::update(row).set((set, sender_log::lease_until.eq(until))).execute(*c)?
        }
    };
    if moved == 0 {
        return Ok(None);
    }
    message::move_state(tx, id, &[Outgoing::Pending.as_str()], Outgoing::Sending.as_str(), None, now)?;
    let row = by_message(tx, id)?;
    if let Some(row) = &row {
        // A number that is there already belongs to an attempt that ended in a crash.
        let new = Attempt {
            message: id.to_owned(),
            number: row.attempt_count,
            node: node.to_owned(),
            started_at: now,
            ended_at: None,
            outcome: None,
            detail: None,
            http_status: None,
            fully_written: None,
        };
        on!(tx, c => diesel::insert_into(attempt::table).values(&new).on_conflict_do_nothing().execute(c)?);
    }
    Ok(row)
}

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

/// Ends an attempt: attempt and state in one transaction. A stale owner's result is discarded, except a receipt, which is
/// always accepted (OUT-11). `false`: it was discarded.
pub fn conclude(tx: &mut Tx<'_>, claimed: &Sending, ended: &Ended, now: At) -> Result<bool, StoreError> {
    on!(tx, c => diesel::update(attempt::table.find((&claimed.message, claimed.attempt_count)))
        .set((
            attempt::ended_at.eq(now),
            attempt::outcome.eq(ended.outcome),
            attempt::detail.eq(&ended.detail),
            attempt::http_status.eq(ended.http_status),
            attempt::fully_written.eq(ended.fully_written),
        ))
        .execute(c)?);
    let Some(row) = by_message(tx, &claimed.message)? else { return Ok(false) };
    let stale = row.fence != claimed.fence || row.status != Outgoing::Sending.as_str();
    let receipt = ended.next == Outgoing::Delivered && ended.proof == Some("receipt");
    if stale && !receipt {
        return Ok(false);
    }
    settle(tx, &row, ended, now)
}

/// A receipt that came in a request of its own, or after the message had failed (OUT-24).
pub fn acknowledged(tx: &mut Tx<'_>, row: &Sending, detail: &str, now: At) -> Result<bool, StoreError> {
    let ended = Ended {
        next: Outgoing::Delivered,
        due: None,
        proof: Some("receipt"),
        outcome: "receipt",
        detail: detail.to_owned(),
        http_status: None,
        fully_written: true,
        unanswered: false,
        refused: false,
    };
    settle(tx, row, &ended, now)
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
    let moved = on!(tx, c => diesel::update(
            sender_log::table
                .filter(sender_log::message.eq(&row.message))
                .filter(sender_log::status.eq(&row.status))
                .filter(sender_log::fence.eq(row.fence)),
        )
        .set((
            sender_log::status.eq(ended.next.as_str()),
            sender_log::next_attempt_at.eq(ended.due),
            sender_log::lease_owner.eq(None::<String>),
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
    message::move_state(tx, &row.message, &[&row.status], ended.next.as_str(), error, now)
}

/// Sends a failed message again under the same id (OUT-21), or a waiting one at once.
pub fn requeue(tx: &mut Tx<'_>, id: &str, now: At) -> Result<Sending, StoreError> {
    let Some(row) = by_message(tx, id)? else {
        return Err(StoreError::Move { found: "not an outgoing message".to_owned(), wanted: "pending" });
    };
    let again =
        matches!(Outgoing::read(&row.status), Some(Outgoing::Failed | Outgoing::Pending | Outgoing::AwaitingReceipt));
    if !again {
        return Err(StoreError::Move { found: row.status, wanted: "pending" });
    }
    on!(tx, c => diesel::update(sender_log::table.filter(sender_log::message.eq(&row.message)))
        .set((
            sender_log::status.eq(Outgoing::Pending.as_str()),
            sender_log::next_attempt_at.eq(now),
            sender_log::settled_at.eq(None::<At>),
        ))
        .execute(c)?);
    message::move_state(tx, &row.message, &[&row.status], Outgoing::Pending.as_str(), None, now)?;
    Ok(row)
}

/// Messages that are out and unanswered since before `before`: their receipt is due by now.
pub fn overdue(tx: &mut Tx<'_>, before: At, limit: i64) -> Result<Vec<Sending>, StoreError> {
    Ok(on!(tx, c => sender_log::table
        .filter(sender_log::status.eq(Outgoing::AwaitingReceipt.as_str()))
        .filter(sender_log::next_attempt_at.le(before))
        .limit(limit)
        .select(Sending::as_select())
        .load(c)?))
}

/// When the next row is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<At>, StoreError> {
    Ok(on!(tx, c => sender_log::table
        .filter(sender_log::status.eq(Outgoing::Pending.as_str()))
        .order(sender_log::next_attempt_at)
        .select(sender_log::next_attempt_at)
        .first::<Option<At>>(c)
        .optional()?)
    .flatten())
}

/// The partner refused for good, in a request of its own.
pub fn refused(tx: &mut Tx<'_>, row: &Sending, detail: &str, now: At) -> Result<bool, StoreError> {
    let ended = Ended {
        next: Outgoing::Failed,
        due: None,
        proof: None,
        outcome: "refused",
        detail: detail.to_owned(),
        http_status: None,
        fully_written: true,
        unanswered: false,
        refused: true,
    };
    settle(tx, row, &ended, now)
}
