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

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

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
#[derive(Clone)]
pub(super) struct Writer {
    jobs: Sender<Box<dyn Job>>,
}

impl Writer {
    /// Starts the writer's thread.
    pub(super) fn start(connection: SqliteConnection, group: usize) -> std::io::Result<Self> {
        let (jobs, waiting) = channel();
        std::thread::Builder::new()
            .name("postrider-writer".to_owned())
            .spawn(move || work(connection, &waiting, group.max(1)))?;
        Ok(Self { jobs })
    }

    /// Queues a job.
    pub(super) fn queue(&self, job: Box<dyn Job>) {
        if let Err(closed) = self.jobs.send(job) {
            closed.0.answer(Err(StoreError::Closed));
        }
    }
}

fn work(mut connection: SqliteConnection, waiting: &Receiver<Box<dyn Job>>, group: usize) {
    while let Ok(first) = waiting.recv() {
        let mut jobs = vec![first];
        jobs.extend(waiting.try_iter().take(group - 1));
        commit(&mut connection, jobs);
    }
}

/// Runs the jobs as one transaction, or, where that breaks, each as one of its own.
fn commit(connection: &mut SqliteConnection, mut jobs: Vec<Box<dyn Job>>) {
    if jobs.len() > 1 && together(connection, &mut jobs).is_ok() {
        jobs.into_iter().for_each(|job| job.answer(Ok(())));
        return;
    }
    for mut job in jobs {
        let committed = alone(connection, &mut *job);
        job.answer(committed);
    }
}

fn together(connection: &mut SqliteConnection, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    connection.batch_execute("BEGIN IMMEDIATE")?;
    let done = jobs.iter_mut().try_for_each(|job| {
        connection.batch_execute("SAVEPOINT job")?;
        // The savepoint is gone when an error rolled back everything: this fails then, and shows it.
        let end = if guarded(connection, &mut **job) { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" };
        connection.batch_execute(end)
    });
    let done = done.and_then(|()| connection.batch_execute("COMMIT"));
    if done.is_err() {
        // Nothing to roll back is as good as rolled back.
        let _ = connection.batch_execute("ROLLBACK");
    }
    Ok(done?)
}

fn alone(connection: &mut SqliteConnection, job: &mut dyn Job) -> Result<(), StoreError> {
    connection.batch_execute("BEGIN IMMEDIATE").map_err(not_committed)?;
    if !guarded(connection, job) {
        let _ = connection.batch_execute("ROLLBACK");
        return Ok(());
    }
    connection.batch_execute("COMMIT").map_err(|error| {
        let _ = connection.batch_execute("ROLLBACK");
        not_committed(error)
    })
}

fn guarded(connection: &mut SqliteConnection, job: &mut dyn Job) -> bool {
    catch_unwind(AssertUnwindSafe(|| job.run(&mut Tx::Sqlite(connection)))).unwrap_or_else(|_| {
        job.panicked();
        false
    })
}

#[expect(clippy::needless_pass_by_value, reason = "it is a mapping for map_err")]
fn not_committed(error: diesel::result::Error) -> StoreError {
    StoreError::NotCommitted(error.to_string())
}
