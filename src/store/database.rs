//! The store itself: opening it, and the ways into a transaction.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::r2d2::{ConnectionManager, Pool, PooledConnection};
use tokio::sync::{Semaphore, oneshot};
use uuid::Uuid;

use super::error::StoreError;
use super::migrate::{Place, Status};
use super::postgres::{self, PgPool};
use super::sqlite::{self, SqlitePool};
use super::tx::{Tx, on};
use super::wake::{Due, Waker};
use super::writer::{Job, Writer};

/// How long anyone waits for a connection.
pub(super) const WAIT: Duration = Duration::from_secs(5);

/// [`Store::due`] returns after that much in any case.
const POLL: Duration = Duration::from_secs(1);

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
    Sqlite { writer: Writer, readers: SqlitePool },
    Postgres { pool: PgPool },
}

struct Inner {
    database: Database,
    place: Place,
    node: String,
    boot: String,
    waker: Waker,
    /// Tasks wait here, not in threads, for a connection to become free.
    free: Arc<Semaphore>,
}

/// The store: cheap to clone. The last clone that goes waits until the writer has finished.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({})", if self.is_sqlite() { "SQLite" } else { "PostgreSQL" })
    }
}

impl Store {
    /// Opens the database without changing it; `migrate` brings it to the newest schema.
    pub fn open(options: &StoreOptions) -> Result<Self, StoreError> {
        let (database, place, waker) = match options.url.strip_prefix("sqlite:") {
            Some(path) => {
                let (writer, readers) = sqlite::open(Path::new(path), options)?;
                (Database::Sqlite { writer, readers }, Place::Sqlite(PathBuf::from(path)), Waker::alone())
            }
            None if options.url.starts_with("postgres") => {
                let url = postgres::url(&options.url);
                let pool = postgres::open(&url, options)?;
                let waker = Waker::across(url.clone()).map_err(|e| StoreError::Connect(e.to_string()))?;
                (Database::Postgres { pool }, Place::Postgres(url), waker)
            }
            None => return Err(StoreError::Url),
        };
        let free = usize::try_from(options.connections.max(2)).unwrap_or(2);
        Ok(Self(Arc::new(Inner {
            database,
            place,
            node: options.node.clone(),
            boot: Uuid::now_v7().simple().to_string(),
            waker,
            free: Arc::new(Semaphore::new(free)),
        })))
    }

    /// Applies what migrations are missing; gives their names.
    pub fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.0.place.migrate()
    }

    /// Which migrations are applied, and which are not.
    pub fn status(&self) -> Result<Status, StoreError> {
        let status = super::look(&self.0.place.url())?;
        status.ok_or_else(|| StoreError::Connect("the database file is gone".to_owned()))
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

    /// Commits that the SQLite writer made: fewer than the jobs it ran, when they came together.
    #[must_use]
    pub fn commits(&self) -> u64 {
        match &self.0.database {
            Database::Sqlite { writer, .. } => writer.commits(),
            Database::Postgres { .. } => 0,
        }
    }

    /// Wakes whoever waits for work, on this node and on others.
    pub fn wake(&self) {
        self.0.waker.wake();
    }

    /// A worker's own view of the wakes: none is lost while it is busy.
    #[must_use]
    pub fn watch(&self) -> Due {
        self.0.waker.watch()
    }

    /// Waits until there may be work, a second at most: a wake while nobody waits is not kept here. A worker that must
    /// lose none takes [`Store::watch`].
    pub async fn due(&self) {
        let mut due = self.watch();
        due.wait().await;
        let _ = tokio::time::timeout(POLL, due.wait()).await;
    }

    /// Runs a transaction and waits until it is durable. `job` may run more than once and may change nothing but the
    /// transaction; an `Err` of its own rolls back. Where the caller stops waiting, the transaction happens all the same.
    pub async fn write<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        if let Database::Sqlite { writer, .. } = &self.0.database {
            let (answer, answered) = oneshot::channel();
            writer.queue(Box::new(Waiting { job, result: None, answer }));
            return answered.await.unwrap_or_else(|_| Err(StoreError::Closed.into()));
        }
        self.threaded(move |store| store.write_blocking(job)).await
    }

    /// Runs a transaction from a thread that may block.
    pub fn write_blocking<T, E, F>(&self, mut job: F) -> Result<T, E>
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
            // A connection whose job panicked is not used again: the pool sees that the thread panics.
            Database::Postgres { pool } => catch_unwind(AssertUnwindSafe(|| postgres::transaction(pool, &mut job)))
                .unwrap_or_else(|_| Err(StoreError::Panicked.into())),
        }
    }

    /// Reads: one view of the database, which cannot be changed.
    pub async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        self.threaded(move |store| store.read_blocking(job)).await
    }

    /// Reads, from a thread that may block.
    pub fn read_blocking<T, E: From<StoreError>>(&self, job: impl FnOnce(&mut Tx<'_>) -> Result<T, E>) -> Result<T, E> {
        match &self.0.database {
            Database::Sqlite { readers, .. } => {
                let mut connection = pooled(readers)?;
                connection.batch_execute("BEGIN").map_err(StoreError::from)?;
                let result = job(&mut Tx::Sqlite(&mut connection));
                connection.batch_execute("ROLLBACK").map_err(StoreError::from)?;
                result
            }
            Database::Postgres { pool } => {
                let mut connection = postgres::begin(pool, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
                let result = job(&mut Tx::Postgres(&mut connection));
                // A connection that broke is dropped by the pool; what was read was read.
                let _ = connection.batch_execute("ROLLBACK");
                result
            }
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|tx| Ok(on!(tx, c => c.batch_execute("SELECT 1"))?)).await
    }

    async fn threaded<T, E>(&self, work: impl FnOnce(&Self) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let free = tokio::time::timeout(WAIT, self.0.free.clone().acquire_owned()).await;
        let Ok(Ok(place)) = free else {
            return Err(StoreError::Connect(format!("no connection became free within {} s", WAIT.as_secs())).into());
        };
        let store = self.clone();
        let work = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&store)
        });
        work.await.unwrap_or_else(|_| Err(StoreError::Panicked.into()))
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

pub(super) fn pooled<C>(pool: &Pool<ConnectionManager<C>>) -> Result<PooledConnection<ConnectionManager<C>>, StoreError>
where
    C: diesel::r2d2::R2D2Connection + 'static,
{
    pool.get().map_err(|e| StoreError::Connect(e.to_string()))
}
