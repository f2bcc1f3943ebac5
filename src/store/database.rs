//! The store itself: opening, migrating, and the ways into a transaction.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use diesel::connection::SimpleConnection;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, CustomizeConnection, Pool, PooledConnection};
use diesel::sqlite::SqliteConnection;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use fs4::fs_std::FileExt;
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use super::error::StoreError;
use super::tx::{Tx, on};
use super::writer::{Job, Writer};

const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("migrations/postgres");

/// How often a transaction is run again after a serialization failure or a deadlock.
const TRIES: u32 = 5;

/// How to open the store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// `sqlite:PATH` or `postgres://…`.
    pub url: String,
    /// Name of this node, written into leases.
    pub node: String,
    /// Connections.
    pub connections: u32,
    /// Jobs that one SQLite commit may carry.
    pub group: u32,
}

enum Database {
    Sqlite { writer: Writer, readers: Pool<ConnectionManager<SqliteConnection>>, _lock: File },
    Postgres { pool: Pool<ConnectionManager<PgConnection>> },
}

struct Inner {
    database: Database,
    node: String,
    boot: String,
    due: Notify,
}

/// The store: cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({})", if self.is_sqlite() { "SQLite" } else { "PostgreSQL" })
    }
}

/// What `db status` says.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Status {
    /// `sqlite` or `postgres`.
    pub backend: &'static str,
    /// Migrations that are not applied yet.
    pub pending: Vec<String>,
    /// Migrations that are.
    pub applied: Vec<String>,
}

#[derive(Debug)]
struct Pragmas;

impl CustomizeConnection<SqliteConnection, diesel::r2d2::Error> for Pragmas {
    fn on_acquire(&self, connection: &mut SqliteConnection) -> Result<(), diesel::r2d2::Error> {
        pragmas(connection).map_err(diesel::r2d2::Error::QueryError)
    }
}

fn pragmas(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute(
        "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
    )
}

impl Store {
    /// Opens the database without changing it; `migrate` brings it to the newest schema.
    pub fn open(options: &StoreOptions) -> Result<Self, StoreError> {
        let database = match options.url.strip_prefix("sqlite:") {
            Some(path) => open_sqlite(Path::new(path), options)?,
            None if options.url.starts_with("postgres") => {
                let pool = Pool::builder()
                    .max_size(options.connections.max(2))
                    .connection_timeout(std::time::Duration::from_secs(5))
                    .build(ConnectionManager::new(&options.url))
                    .map_err(|e| StoreError::Connect(e.to_string()))?;
                Database::Postgres { pool }
            }
            None => return Err(StoreError::Url),
        };
        let boot = Uuid::now_v7().simple().to_string();
        Ok(Self(Arc::new(Inner { database, node: options.node.clone(), boot, due: Notify::new() })))
    }

    /// Applies what migrations are missing; gives their names.
    pub fn migrate(&self) -> Result<Vec<String>, StoreError> {
        let failed = |e: Box<dyn std::error::Error + Send + Sync>| StoreError::Migrate(e.to_string());
        let names =
            |versions: Vec<diesel::migration::MigrationVersion<'_>>| versions.iter().map(ToString::to_string).collect();
        match &self.0.database {
            Database::Sqlite { readers, .. } => {
                let mut connection = pooled(readers)?;
                connection.run_pending_migrations(SQLITE).map(names).map_err(failed)
            }
            Database::Postgres { pool } => {
                let mut connection = pooled(pool)?;
                // Nodes that start together migrate one after the other.
                connection.batch_execute("SELECT pg_advisory_lock(74657)")?;
                let done = connection.run_pending_migrations(POSTGRES).map(names).map_err(failed);
                connection.batch_execute("SELECT pg_advisory_unlock(74657)")?;
                done
            }
        }
    }

    /// Which migrations are applied, and which are not.
    pub fn status(&self) -> Result<Status, StoreError> {
        let failed = |e: Box<dyn std::error::Error + Send + Sync>| StoreError::Migrate(e.to_string());
        let texts = |v: Vec<diesel::migration::MigrationVersion<'_>>| v.iter().map(ToString::to_string).collect();
        match &self.0.database {
            Database::Sqlite { readers, .. } => {
                let mut c = pooled(readers)?;
                let pending = c.pending_migrations(SQLITE).map_err(failed)?;
                let pending = pending.iter().map(|m| m.name().to_string()).collect();
                Ok(Status { backend: "sqlite", pending, applied: c.applied_migrations().map(texts).map_err(failed)? })
            }
            Database::Postgres { pool } => {
                let mut c = pooled(pool)?;
                let pending = c.pending_migrations(POSTGRES).map_err(failed)?;
                let pending = pending.iter().map(|m| m.name().to_string()).collect();
                Ok(Status { backend: "postgres", pending, applied: c.applied_migrations().map(texts).map_err(failed)? })
            }
        }
    }

    /// Whether it is SQLite.
    #[must_use]
    pub fn is_sqlite(&self) -> bool {
        matches!(self.0.database, Database::Sqlite { .. })
    }

    /// The name of this node.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.0.node
    }

    /// The id of this run of the process.
    #[must_use]
    pub fn boot(&self) -> &str {
        &self.0.boot
    }

    /// Wakes whoever waits for work.
    pub fn wake(&self) {
        self.0.due.notify_waiters();
    }

    /// Waits until there may be work. Polling is the fallback: what another node committed does not wake us.
    pub async fn due(&self) {
        self.0.due.notified().await;
    }

    /// Runs a transaction and waits until it is durable. `job` may run more than once and may change nothing but the
    /// transaction; an `Err` of its own rolls back.
    pub async fn write<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        match &self.0.database {
            Database::Sqlite { writer, .. } => {
                let (answer, answered) = oneshot::channel();
                writer.queue(Box::new(Waiting { job, result: None, answer }));
                answered.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
            }
            Database::Postgres { pool } => {
                let pool = pool.clone();
                let work = tokio::task::spawn_blocking(move || postgres(&pool, job));
                work.await.unwrap_or_else(|_| Err(StoreError::Panicked.into()))
            }
        }
    }

    /// Runs a transaction from a thread that may block.
    pub fn write_blocking<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        match &self.0.database {
            Database::Sqlite { writer, .. } => {
                let (answer, answered) = oneshot::channel();
                writer.queue(Box::new(Waiting { job, result: None, answer }));
                answered.blocking_recv().unwrap_or_else(|_| Err(StoreError::Closed.into()))
            }
            Database::Postgres { pool } => postgres(pool, job),
        }
    }

    /// Reads.
    pub async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        let store = self.clone();
        let work = tokio::task::spawn_blocking(move || store.read_blocking(job));
        work.await.unwrap_or_else(|_| Err(StoreError::Panicked.into()))
    }

    /// Reads, from a thread that may block.
    pub fn read_blocking<T, E: From<StoreError>>(&self, job: impl FnOnce(&mut Tx<'_>) -> Result<T, E>) -> Result<T, E> {
        match &self.0.database {
            Database::Sqlite { readers, .. } => job(&mut Tx::Sqlite(&mut *pooled(readers)?)),
            Database::Postgres { pool } => job(&mut Tx::Postgres(&mut *pooled(pool)?)),
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|tx| Ok(on!(tx, c => c.batch_execute("SELECT 1"))?)).await
    }
}

struct Waiting<T, E, F> {
    job: F,
    result: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Job for Waiting<T, E, F>
where
    T: Send,
    E: From<StoreError> + Send,
    F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let result = (self.job)(tx);
        let good = result.is_ok();
        self.result = Some(result);
        good
    }

    fn panicked(&mut self) {
        self.result = Some(Err(StoreError::Panicked.into()));
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (committed, self.result) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(StoreError::Closed.into()),
        };
        // Whoever waited may have gone; the work is done all the same.
        let _ = self.answer.send(answer);
    }
}

fn pooled<C>(pool: &Pool<ConnectionManager<C>>) -> Result<PooledConnection<ConnectionManager<C>>, StoreError>
where
    C: diesel::r2d2::R2D2Connection + 'static,
{
    pool.get().map_err(|e| StoreError::Connect(e.to_string()))
}

fn postgres<T, E, F>(pool: &Pool<ConnectionManager<PgConnection>>, mut job: F) -> Result<T, E>
where
    E: From<StoreError>,
    F: FnMut(&mut Tx<'_>) -> Result<T, E>,
{
    let mut tries = 0;
    loop {
        tries += 1;
        let mut connection = pooled(pool)?;
        connection.batch_execute("BEGIN").map_err(StoreError::from)?;
        let result = job(&mut Tx::Postgres(&mut connection));
        if result.is_err() {
            let _ = connection.batch_execute("ROLLBACK");
            return result;
        }
        match connection.batch_execute("COMMIT") {
            Ok(()) => return result,
            Err(error) => {
                let error = commit_failed(error);
                if error.is_transient() && tries < TRIES {
                    continue;
                }
                return Err(error.into());
            }
        }
    }
}

/// A COMMIT that the server refused did nothing; one whose connection broke may have done everything.
fn commit_failed(error: diesel::result::Error) -> StoreError {
    use diesel::result::{DatabaseErrorKind, Error};
    match error {
        Error::DatabaseError(DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand, info) => {
            StoreError::OutcomeUnknown(info.message().to_owned())
        }
        other => StoreError::Query(other),
    }
}

fn open_sqlite(path: &Path, options: &StoreOptions) -> Result<Database, StoreError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::File { path, source }
    };
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed(folder))?;
    }
    let mut lock_path: PathBuf = path.to_owned();
    lock_path.as_mut_os_string().push(".lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&lock_path).map_err(failed(&lock_path))?;
    if !FileExt::try_lock_exclusive(&lock).map_err(failed(&lock_path))? {
        return Err(StoreError::InUse(path.to_owned()));
    }
    let url = path.display().to_string();
    let mut connection =
        SqliteConnection::establish(&url).map_err(|e| StoreError::Connect(format!("{}: {e}", path.display())))?;
    pragmas(&mut connection)?;
    let readers = Pool::builder()
        .max_size(options.connections.max(2))
        .min_idle(Some(1))
        .connection_customizer(Box::new(Pragmas))
        .build(ConnectionManager::new(url))
        .map_err(|e| StoreError::Connect(e.to_string()))?;
    let group = usize::try_from(options.group).unwrap_or(256);
    let writer = Writer::start(connection, group).map_err(failed(path))?;
    Ok(Database::Sqlite { writer, readers, _lock: lock })
}
