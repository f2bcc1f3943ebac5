//! PostgreSQL: the pool, and the transaction that runs again where the database asked for it.

use std::cell::Cell;
use std::time::Duration;

use diesel::connection::{Instrumentation, InstrumentationEvent, SimpleConnection};
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, CustomizeConnection, Pool, PooledConnection};
use diesel::result::{DatabaseErrorKind, Error};

use super::database::{StoreOptions, WAIT, pooled};
use super::error::StoreError;
use super::tx::Tx;

/// How often a transaction is run again after a serialization failure, a deadlock or a lost connection.
const TRIES: u32 = 5;

/// Bounds on what a paused or lost node can hold up: it may neither keep a row locked nor wait for one without end.
const SESSION: &str = "SET idle_in_transaction_session_timeout = '60s'; SET lock_timeout = '10s'";

/// What libpq is told unless the URL says otherwise: without them a peer that vanished is noticed after minutes.
const DEFAULTS: [(&str, &str); 4] = [
    ("connect_timeout", "5"),
    ("tcp_user_timeout", "20000"),
    ("keepalives_idle", "30"),
    ("application_name", "postrider"),
];

pub(super) type PgPool = Pool<ConnectionManager<PgConnection>>;

/// The URL with our defaults added.
pub(super) fn url(given: &str) -> String {
    let mut url = given.to_owned();
    for (name, value) in DEFAULTS {
        if !given.contains(&format!("{name}=")) {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&format!("{name}={value}"));
        }
    }
    url
}

pub(super) fn open(url: &str, options: &StoreOptions) -> Result<PgPool, StoreError> {
    Pool::builder()
        .max_size(options.connections.max(2))
        .min_idle(Some(1))
        .connection_timeout(WAIT)
        // BEGIN tells: it spares a round trip for each transaction.
        .test_on_check_out(false)
        .connection_customizer(Box::new(Session))
        .build(ConnectionManager::new(url))
        .map_err(|e| StoreError::Connect(e.to_string()))
}

#[derive(Debug)]
struct Session;

impl CustomizeConnection<PgConnection, diesel::r2d2::Error> for Session {
    fn on_acquire(&self, connection: &mut PgConnection) -> Result<(), diesel::r2d2::Error> {
        connection.batch_execute(SESSION).map_err(diesel::r2d2::Error::QueryError)?;
        connection.set_instrumentation(Observer);
        Ok(())
    }
}

thread_local! {
    /// Whether a statement of this thread's transaction failed for a reason that running it again may cure. The job's own
    /// error type cannot tell.
    static PASSING: Cell<bool> = const { Cell::new(false) };
}

struct Observer;

impl Instrumentation for Observer {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::FinishQuery { error: Some(error), .. } = event
            && (is_lost(error) || is_conflict(error))
        {
            PASSING.set(true);
        }
    }
}

pub(super) fn is_conflict(error: &Error) -> bool {
    match error {
        Error::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        Error::DatabaseError(_, info) => info.message().contains("deadlock detected"),
        _ => false,
    }
}

fn is_lost(error: &Error) -> bool {
    matches!(
        error,
        Error::DatabaseError(DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand, _)
            | Error::BrokenTransactionManager
    )
}

/// A connection with an open transaction. Connections that died in the pool are dropped on the way.
pub(super) fn begin(pool: &PgPool, how: &str) -> Result<PooledConnection<ConnectionManager<PgConnection>>, StoreError> {
    let mut left = pool.max_size() + 1;
    loop {
        let mut connection = pooled(pool)?;
        left -= 1;
        match connection.batch_execute(how) {
            Ok(()) => return Ok(connection),
            Err(error) if is_lost(&error) && left > 0 => {}
            Err(error) if is_lost(&error) => return Err(StoreError::Connect(error.to_string())),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Runs a job as a transaction.
pub(super) fn transaction<T, E, F>(pool: &PgPool, job: &mut F) -> Result<T, E>
where
    E: From<StoreError>,
    F: FnMut(&mut Tx<'_>) -> Result<T, E>,
{
    let mut tries = 0;
    loop {
        tries += 1;
        let mut connection = begin(pool, "BEGIN")?;
        PASSING.set(false);
        let result = job(&mut Tx::Postgres(&mut connection));
        let error = match result {
            Err(error) => {
                let _ = connection.batch_execute("ROLLBACK");
                if PASSING.get() && tries < TRIES {
                    drop(connection);
                    pause(tries);
                    continue;
                }
                return Err(error);
            }
            Ok(done) => match connection.batch_execute(COMMIT) {
                Ok(()) => return Ok(done),
                Err(error) => error,
            },
        };
        if is_lost(&error) {
            return Err(StoreError::OutcomeUnknown(error.to_string()).into());
        }
        let _ = connection.batch_execute("ROLLBACK");
        if !is_conflict(&error) || tries >= TRIES {
            return Err(StoreError::from(error).into());
        }
        drop(connection);
        pause(tries);
    }
}

/// In a transaction that a failed statement aborted, COMMIT alone succeeds, and rolls back. The SELECT fails there, and
/// COMMIT is not reached; both go in one message.
const COMMIT: &str = "SELECT 1; COMMIT";

fn pause(tries: u32) {
    std::thread::sleep(Duration::from_millis(u64::from(4_u32 << tries.min(6))));
}
