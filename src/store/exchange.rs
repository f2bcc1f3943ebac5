//! HTTP exchanges. What became a message can be rebuilt from its parts; what was refused keeps its first octets, within
//! a quota: one MiB each, so many in all, so many a minute from one peer, oldest out.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};

use super::error::StoreError;
use super::instant::At;
use super::schema::exchange;
use super::tx::{Tx, on};

/// One exchange.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = exchange, treat_none_as_default_value = false)]
pub struct Exchange {
    /// Sortable id: the incident that a partner is told.
    pub id: String,
    /// When.
    pub at: At,
    /// `in`: their request; `out`: ours.
    pub direction: String,
    /// `accepted`, `duplicate`, `rejected`, `signal`, `sent`.
    pub verdict: String,
    /// [`super::Message::id`], if it belongs to one.
    pub message: Option<String>,
    /// `eb:MessageId`, as far as one was readable.
    pub message_id: Option<String>,
    /// The partner, as far as one is known.
    pub partner: Option<String>,
    /// Address of the other side.
    pub peer: String,
    /// `EBMS:nnnn` of a refusal.
    pub code: Option<String>,
    /// The whole reason of a refusal.
    pub reason: Option<String>,
    /// HTTP head of the request.
    pub request_head: Vec<u8>,
    /// SOAP part of the request.
    pub soap: String,
    /// MIME heads, payload references, IVs and content keys of the request, as JSON: with the parts they give the
    /// request's octets back.
    pub mime: String,
    /// The request's first octets, where it was refused.
    pub raw: Option<Vec<u8>>,
    /// How many.
    pub raw_size: i64,
    /// HTTP status of the answer.
    pub answer_status: Option<i32>,
    /// HTTP head of the answer.
    pub answer_head: Option<Vec<u8>>,
    /// Body of the answer.
    pub answer: Option<Vec<u8>>,
}

/// What refused exchanges may take.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// Octets of all refused exchanges.
    pub octets: i64,
    /// Refused exchanges of one peer that are kept with their octets, a minute.
    pub per_peer: i64,
}

impl Default for Quota {
    fn default() -> Self {
        Self { octets: 1 << 30, per_peer: 60 }
    }
}

/// Records an exchange.
pub fn record(tx: &mut Tx<'_>, new: &Exchange) -> Result<(), StoreError> {
    on!(tx, c => diesel::insert_into(exchange::table).values(new).execute(c)?);
    Ok(())
}

/// Refused exchanges that keep their octets, whatever their size: counting and adding them up stays cheap.
const KEPT: i64 = 20_000;

/// Only these have a place in the indexes of the quota. Written out, so that the databases see it.
const WITH_OCTETS: &str = "verdict = 'rejected' AND raw_size > 0";

#[derive(QueryableByName)]
struct Kept {
    #[diesel(sql_type = BigInt)]
    rows: i64,
    #[diesel(sql_type = BigInt)]
    octets: i64,
}

/// Records a refused exchange within the quota: a peer over its rate loses the octets, never the record; the oldest go
/// when all together are too large.
pub fn record_refused(tx: &mut Tx<'_>, new: &Exchange, quota: Quota) -> Result<(), StoreError> {
    if recent(tx, new, quota.per_peer)? >= quota.per_peer {
        return record(tx, &Exchange { raw: None, raw_size: 0, soap: String::new(), ..new.clone() });
    }
    record(tx, new)?;
    let sum = format!(
        "SELECT count(*) AS rows, CAST(coalesce(sum(raw_size), 0) AS BIGINT) AS octets FROM exchange WHERE {WITH_OCTETS}"
    );
    let mut kept: Kept = on!(tx, c => diesel::sql_query(sum).get_result(c)?);
    while kept.octets > quota.octets || kept.rows > KEPT {
        let Some(size) = forget_oldest(tx)? else { break };
        kept.octets -= size;
        kept.rows -= 1;
    }
    Ok(())
}

/// How many of this peer were kept in the last minute, as far as it matters.
fn recent(tx: &mut Tx<'_>, new: &Exchange, enough: i64) -> Result<i64, StoreError> {
    let minute_ago = At(new.at.0 - time::Duration::minutes(1));
    Ok(i64::try_from(
        on!(tx, c => exchange::table
        .filter(sql::<Bool>(WITH_OCTETS))
        .filter(exchange::peer.eq(&new.peer))
        .filter(exchange::at.gt(minute_ago))
        .limit(enough)
        .select(exchange::id)
        .load::<String>(c)?)
        .len(),
    )
    .unwrap_or(i64::MAX))
}

/// Takes the octets of the oldest refused exchange that has some; gives how many.
fn forget_oldest(tx: &mut Tx<'_>) -> Result<Option<i64>, StoreError> {
    let oldest: Option<(String, i64)> = on!(tx, c => exchange::table
        .filter(sql::<Bool>(WITH_OCTETS))
        .order((exchange::at, exchange::id))
        .select((exchange::id, exchange::raw_size))
        .first(c)
        .optional()?);
    let Some((id, size)) = oldest else { return Ok(None) };
    on!(tx, c => diesel::update(exchange::table.find(&id))
        .set((exchange::raw.eq(None::<Vec<u8>>), exchange::raw_size.eq(0), exchange::soap.eq("")))
        .execute(c)?);
    Ok(Some(size))
}

/// The exchanges of a message, oldest first.
pub fn of_message(tx: &mut Tx<'_>, message: &str) -> Result<Vec<Exchange>, StoreError> {
    Ok(on!(tx, c => exchange::table
        .filter(exchange::message.eq(message))
        .order((exchange::at, exchange::id))
        .select(Exchange::as_select())
        .load(c)?))
}

/// Refused exchanges, newest first.
pub fn rejected(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Exchange>, StoreError> {
    Ok(on!(tx, c => exchange::table
        .filter(sql::<Bool>("verdict = 'rejected'"))
        .order((exchange::at.desc(), exchange::id.desc()))
        .limit(limit)
        .select(Exchange::as_select())
        .load(c)?))
}

/// A line of the list of refused exchanges: without their octets.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, serde::Serialize)]
#[diesel(table_name = exchange)]
pub struct Refused {
    /// The incident.
    pub id: String,
    /// When.
    pub at: At,
    /// Address of the other side.
    pub peer: String,
    /// `eb:MessageId`, as far as one was readable.
    pub message_id: Option<String>,
    /// The partner, as far as one is known.
    pub partner: Option<String>,
    /// `EBMS:nnnn`.
    pub code: Option<String>,
    /// The whole reason.
    pub reason: Option<String>,
    /// Octets of the request that are kept.
    pub raw_size: i64,
}

/// Refused exchanges, newest first, without their octets.
pub fn refusals(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Refused>, StoreError> {
    Ok(on!(tx, c => exchange::table
        .filter(exchange::verdict.eq("rejected"))
        .order((exchange::at.desc(), exchange::id.desc()))
        .limit(limit)
        .select(Refused::as_select())
        .load(c)?))
}

/// The refused exchange of an incident, or the newest about an `eb:MessageId`.
pub fn refused(tx: &mut Tx<'_>, id: &str) -> Result<Option<Exchange>, StoreError> {
    Ok(on!(tx, c => exchange::table
        .filter(exchange::verdict.eq("rejected"))
        .filter(exchange::id.eq(id).or(exchange::message_id.eq(id)))
        .order((exchange::at.desc(), exchange::id.desc()))
        .select(Exchange::as_select())
        .first(c)
        .optional()?))
}
