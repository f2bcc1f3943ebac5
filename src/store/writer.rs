//! The one SQLite writer: it takes all jobs that wait, runs each in a savepoint, and commits once.
//!
//! One fsync then covers many messages. The rules of failure:
//!
//! - a job is answered only after the outer COMMIT;
//! - a job that fails or panics is rolled back to its savepoint, the others go on;
//! - `SQLITE_FULL`, `IOERR`, `NOMEM` and `BUSY` may have rolled back everything: where the savepoint is gone, or the
//!   COMMIT fails, each job is run again alone and answered by its own commit.
//!
//! Jobs therefore run more than once at times: they may change nothing but the transaction.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use diesel::connection::SimpleConnection;
use diesel::sqlite::SqliteConnection;

use super::error::StoreError;
use super::tx::Tx;

/// A job with the way back to whoever waits for it.
pub(super) trait Job: Send {
    /// Runs it. `false` wants its changes undone.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;

    /// It panicked.
    fn panicked(&mut self);

    /// Answers: its own result, or why nothing of it is there.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// The way to the writer.
pub(super) struct Writer {
    jobs: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl Writer {
    /// Starts the writer's thread, which keeps `lock` until its connection is closed.
    pub(super) fn start(connection: SqliteConnection, group: usize, lock: File) -> std::io::Result<Self> {
        let (jobs, waiting) = channel();
        let commits = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&commits);
        let thread = std::thread::Builder::new().name("postrider-writer".to_owned()).spawn(move || {
            work(Database { connection, commits: counted }, &waiting, group.max(1));
            drop(lock);
        })?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), commits })
    }

    /// Queues a job.
    pub(super) fn queue(&self, job: Box<dyn Job>) {
        let unsent = match &self.jobs {
            Some(jobs) => jobs.send(job).map_err(|closed| closed.0),
            None => Err(job),
        };
        if let Err(job) = unsent {
            job.answer(Err(StoreError::Closed));
        }
    }

    /// Commits so far.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    /// What is queued is finished, and the file is closed, before the next one may open it.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

struct Database {
    connection: SqliteConnection,
    commits: Arc<AtomicU64>,
}

fn work(mut database: Database, waiting: &Receiver<Box<dyn Job>>, group: usize) {
    while let Ok(first) = waiting.recv() {
        let mut jobs = vec![first];
        jobs.extend(waiting.try_iter().take(group - 1));
        // Jobs are guarded one by one; this guards the writer against what their answers and their ends may do.
        let _ = catch_unwind(AssertUnwindSafe(|| database.commit(jobs)));
    }
}

impl Database {
    /// Runs the jobs as one transaction, or, where that breaks, each as one of its own.
    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        if jobs.len() > 1 && self.together(&mut jobs).is_ok() {
            for job in jobs {
                job.answer(Ok(()));
            }
            return;
        }
        for mut job in jobs {
            let committed = self.alone(&mut *job);
            job.answer(committed);
        }
    }

    fn together(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        self.begin()?;
        let done = jobs.iter_mut().try_for_each(|job| {
            self.connection.batch_execute("SAVEPOINT job")?;
            // The savepoint is gone when an error rolled back everything: this fails then, and shows it.
            let end = if self.guarded(&mut **job) { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" };
            self.connection.batch_execute(end)
        });
        self.finish(done)
    }

    fn alone(&mut self, job: &mut dyn Job) -> Result<(), StoreError> {
        self.begin()?;
        if self.guarded(job) {
            return self.finish(Ok(()));
        }
        let _ = self.connection.batch_execute("ROLLBACK");
        Ok(())
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        const BEGIN: &str = "BEGIN IMMEDIATE";
        let begun = self.connection.batch_execute(BEGIN).or_else(|error| {
            // Where a panic left a transaction open, it is rolled back; else nothing is there to roll back.
            self.connection.batch_execute("ROLLBACK").map_err(|_| error)?;
            self.connection.batch_execute(BEGIN)
        });
        begun.map_err(not_committed)
    }

    fn finish(&mut self, done: diesel::QueryResult<()>) -> Result<(), StoreError> {
        let done = done.and_then(|()| self.connection.batch_execute("COMMIT"));
        if done.is_ok() {
            self.commits.fetch_add(1, Ordering::Relaxed);
        } else {
            // Nothing to roll back is as good as rolled back.
            let _ = self.connection.batch_execute("ROLLBACK");
        }
        done.map_err(not_committed)
    }

    fn guarded(&mut self, job: &mut dyn Job) -> bool {
        let connection = &mut self.connection;
        catch_unwind(AssertUnwindSafe(|| job.run(&mut Tx::Sqlite(connection)))).unwrap_or_else(|_| {
            job.panicked();
            false
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is a mapping for map_err")]
fn not_committed(error: diesel::result::Error) -> StoreError {
    StoreError::NotCommitted(error.to_string())
}
