//! What can go wrong with the store, split by who must act.

use std::path::PathBuf;

/// A store failure.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The URL.
    #[error("the store URL must be `sqlite:PATH` or `postgres://…`")]
    Url,
    /// The data folder belongs to another process (OUT-29).
    #[error("`{}` is in use by another process; stop it, or give this one a database of its own", .0.display())]
    InUse(PathBuf),
    /// The database's file or folder.
    #[error("cannot open `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no database of ours, or is damaged.
    #[error("`{}` cannot be used as the database: {why}", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It has migrations that this program does not know.
    #[error(
        "the database is newer than this program, which does not know {}; run the version that migrated it, or a later one",
        .0.join(", ")
    )]
    Newer(Vec<String>),
    /// The database cannot be reached.
    #[error("the database cannot be reached: {0}")]
    Connect(String),
    /// Bringing it to the newest schema.
    #[error("the database cannot be migrated: {0}")]
    Migrate(String),
    /// A statement.
    #[error("the database refused: {0}")]
    Query(#[from] diesel::result::Error),
    /// The transaction could not be committed: nothing of it is there.
    #[error("the transaction was not committed: {0}")]
    NotCommitted(String),
    /// The connection was lost during the commit: it may be there. The unique keys decide on the next try.
    #[error("whether the transaction was committed is not known: {0}")]
    OutcomeUnknown(String),
    /// A job panicked; its part of the transaction was rolled back.
    #[error("a database job panicked")]
    Panicked,
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
    /// A row does not hold what it should.
    #[error("a row of `{table}` is damaged: {why}")]
    Row {
        /// Its table.
        table: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A state move that is not allowed, or that someone else was quicker with.
    #[error("the message is {found}, so it cannot become {wanted}")]
    Move {
        /// What it is.
        found: String,
        /// What it should become.
        wanted: &'static str,
    },
}

impl StoreError {
    /// Whether running the same transaction again may help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::NotCommitted(_) | Self::Connect(_))
            || matches!(self, Self::Query(error) if super::postgres::is_conflict(error))
    }
}
