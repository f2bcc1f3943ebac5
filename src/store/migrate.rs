//! Migrations: one folder a database, the same names in both.

use diesel::connection::SimpleConnection;
use diesel::migration::MigrationVersion;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use super::error::StoreError;
use super::sqlite;

const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("migrations/postgres");

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

/// Where the database is.
pub(super) enum Place {
    /// A file.
    Sqlite(std::path::PathBuf),
    /// A URL.
    Postgres(String),
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[expect(clippy::needless_pass_by_value, reason = "it is a mapping for map_err")]
fn failed(error: Failure) -> StoreError {
    StoreError::Migrate(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "it is a mapping for map")]
fn texts(versions: Vec<MigrationVersion<'_>>) -> Vec<String> {
    versions.iter().map(ToString::to_string).collect()
}

fn postgres(url: &str) -> Result<PgConnection, StoreError> {
    PgConnection::establish(url).map_err(|e| StoreError::Connect(e.to_string()))
}

impl Place {
    /// Applies what is missing, over a connection of its own: a migration may take longer than a transaction may.
    pub(super) fn migrate(&self) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Sqlite(path) => sqlite::connect(path)?.run_pending_migrations(SQLITE).map(texts).map_err(failed),
            Self::Postgres(url) => {
                let mut connection = postgres(url)?;
                // Nodes that start together migrate one after the other; the lock goes with the connection.
                connection.batch_execute("SELECT pg_advisory_lock(74657)")?;
                connection.run_pending_migrations(POSTGRES).map(texts).map_err(failed)
            }
        }
    }

    pub(super) fn status(&self) -> Result<Status, StoreError> {
        match self {
            Self::Sqlite(path) => status("sqlite", SQLITE, &mut sqlite::connect(path)?),
            Self::Postgres(url) => status("postgres", POSTGRES, &mut postgres(url)?),
        }
    }
}

fn status<C, DB>(backend: &'static str, ours: EmbeddedMigrations, c: &mut C) -> Result<Status, StoreError>
where
    DB: diesel::backend::Backend,
    C: MigrationHarness<DB>,
    EmbeddedMigrations: diesel::migration::MigrationSource<DB>,
{
    let pending = c.pending_migrations(ours).map_err(failed)?;
    let pending = pending.iter().map(|m| m.name().to_string()).collect();
    Ok(Status { backend, pending, applied: c.applied_migrations().map(texts).map_err(failed)? })
}
