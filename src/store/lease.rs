//! Claims: which rows of a queue are due, fair across its lanes, and how long they belong to whoever took them.
//!
//! A queue is a table whose rows wait, are held, or are done; its lanes are the partners of the sender log and the
//! backends of the delivery jobs. A hundred thousand rows of a dead partner cost no more than ten: the lanes are walked
//! by index, and of each only its first rows are read.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::error::StoreError;
use super::instant::{At, Instant};
use super::tx::Tx;

/// How long a claimed row belongs to its worker on PostgreSQL, by the database's clock (OUT-29), unless it is renewed.
pub(super) const LEASE_SECONDS: i32 = 300;

/// On SQLite nobody else can take a row. A worker that vanished in this very process is noticed all the same, after
/// longer than any attempt takes.
const LOST: time::Duration = time::Duration::hours(1);

/// The names of a queue.
pub(super) struct Queue {
    pub(super) table: &'static str,
    pub(super) id: &'static str,
    pub(super) lane: &'static str,
    pub(super) state: &'static str,
    pub(super) due: &'static str,
    pub(super) waiting: &'static str,
    pub(super) held: &'static str,
}

/// How much may be claimed.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Rows in all.
    pub(super) rows: i64,
    /// Rows of one lane that this node may hold at a time.
    pub(super) lane: i64,
}

#[derive(QueryableByName)]
struct Due {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    lane: String,
    #[diesel(sql_type = BigInt)]
    room: i64,
}

#[derive(QueryableByName)]
struct First {
    #[diesel(sql_type = diesel::sql_types::Nullable<Instant>)]
    first: Option<At>,
}

#[derive(QueryableByName)]
struct Lapsed {
    #[diesel(sql_type = Text)]
    id: String,
}

impl Queue {
    /// Walks the lanes that have waiting rows, from one index entry to the next.
    fn lanes(&self) -> String {
        let Self { table, lane, state, waiting, .. } = self;
        format!(
            "WITH RECURSIVE lanes(lane) AS (SELECT min({lane}) FROM {table} WHERE {state} = '{waiting}' UNION ALL SELECT \
             (SELECT min({lane}) FROM {table} WHERE {state} = '{waiting}' AND {lane} > lanes.lane) FROM lanes WHERE \
             lanes.lane IS NOT NULL)"
        )
    }

    /// The lanes with something due, those first that wait longest. Parameters: node, rows a lane, now, rows.
    fn front(&self, [node, lane_rows, now, rows]: [&str; 4]) -> String {
        let Self { table, lane, state, due, waiting, held, .. } = self;
        format!(
            "{lanes}, walked AS (SELECT lane, (SELECT min({due}) FROM {table} WHERE {state} = '{waiting}' AND {lane} = \
             lanes.lane) AS first, {lane_rows} - (SELECT count(*) FROM {table} WHERE {state} = '{held}' AND lease_owner = \
             {node} AND {lane} = lanes.lane) AS room FROM lanes WHERE lane IS NOT NULL), front AS (SELECT lane, room FROM \
             walked WHERE first <= {now} AND room > 0 ORDER BY first LIMIT {rows})",
            lanes = self.lanes()
        )
    }

    pub(super) fn sqlite(&self) -> String {
        let Self { table, id, lane, state, due, waiting, .. } = self;
        format!(
            "{front} SELECT r.{id} AS id, r.{lane} AS lane, front.room AS room FROM front CROSS JOIN {table} AS r ON r.rowid \
             IN (SELECT rowid FROM {table} WHERE {state} = '{waiting}' AND {lane} = front.lane AND {due} <= ?3 ORDER BY \
             {due} LIMIT ?2) ORDER BY r.{due}, r.{id}",
            front = self.front(["?1", "?2", "?3", "?4"])
        )
    }

    /// What another node is claiming is skipped.
    pub(super) fn postgres(&self) -> String {
        let Self { table, id, lane, state, due, waiting, .. } = self;
        format!(
            "{front} SELECT r.id, r.lane, front.room FROM front CROSS JOIN LATERAL (SELECT {id} AS id, {lane} AS lane, {due} AS \
             due FROM {table} WHERE {state} = '{waiting}' AND {lane} = front.lane AND {due} <= $3 ORDER BY {due} LIMIT \
             front.room FOR UPDATE SKIP LOCKED) AS r ORDER BY r.due, r.id LIMIT $4",
            front = self.front(["$1", "$2", "$3", "$4"])
        )
    }

    /// Ids of rows that are due, oldest first. They are claimed only when they are updated in the same transaction.
    pub(super) fn due(&self, tx: &mut Tx<'_>, node: &str, now: At, bounds: Bounds) -> QueryResult<Vec<String>> {
        let sql = if matches!(tx, Tx::Sqlite(_)) { self.sqlite() } else { self.postgres() };
        let query = diesel::sql_query(sql)
            .bind::<Text, _>(node)
            .bind::<BigInt, _>(bounds.lane)
            .bind::<Instant, _>(now)
            .bind::<BigInt, _>(bounds.rows);
        let found: Vec<Due> = super::tx::on!(tx, c => query.load(c)?);
        Ok(cut(found, bounds.rows))
    }

    /// When the first waiting row is due.
    pub(super) fn first(&self, tx: &mut Tx<'_>) -> Result<Option<At>, StoreError> {
        let Self { table, lane, state, due, waiting, .. } = self;
        let query = diesel::sql_query(format!(
            "{} SELECT min((SELECT min({due}) FROM {table} WHERE {state} = '{waiting}' AND {lane} = lanes.lane)) AS first FROM \
             lanes WHERE lane IS NOT NULL",
            self.lanes()
        ));
        let found: Vec<First> = super::tx::on!(tx, c => query.load(c)?);
        Ok(found.into_iter().find_map(|row| row.first))
    }

    /// Ids of held rows whose lease has run out.
    pub(super) fn lapsed(&self, tx: &mut Tx<'_>, now: At, rows: i64) -> QueryResult<Vec<String>> {
        let Self { table, id, state, held, .. } = self;
        let select = format!("SELECT {id} AS id FROM {table} WHERE {state} = '{held}' AND lease_until <");
        let found: Vec<Lapsed> = match tx {
            Tx::Sqlite(c) => diesel::sql_query(format!("{select} ?1 LIMIT ?2"))
                .bind::<Instant, _>(now)
                .bind::<BigInt, _>(rows)
                .load(*c)?,
            Tx::Postgres(c) => {
                diesel::sql_query(format!("{select} clock_timestamp() ORDER BY {id} LIMIT $1 FOR UPDATE SKIP LOCKED"))
                    .bind::<BigInt, _>(rows)
                    .load(*c)?
            }
        };
        Ok(found.into_iter().map(|row| row.id).collect())
    }

    /// Until when a row belongs to whoever takes it now.
    pub(super) fn until(tx: &mut Tx<'_>, now: At) -> QueryResult<At> {
        match tx {
            Tx::Sqlite(_) => Ok(At(now.0.saturating_add(LOST))),
            Tx::Postgres(c) => {
                let clock = format!("clock_timestamp() + interval '{LEASE_SECONDS} seconds'");
                diesel::select(diesel::dsl::sql::<Instant>(&clock)).get_result(*c)
            }
        }
    }
}

/// No lane over its room, and no more than `rows` in all.
fn cut(found: Vec<Due>, rows: i64) -> Vec<String> {
    let rows = usize::try_from(rows).unwrap_or(0);
    let mut taken = std::collections::HashMap::<String, i64>::new();
    let fits = found.into_iter().filter_map(|row| {
        let taken = taken.entry(row.lane).or_default();
        *taken += 1;
        (*taken <= row.room).then_some(row.id)
    });
    fits.take(rows).collect()
}
