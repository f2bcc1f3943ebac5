//! Migrations: one folder a database, the same names in both.

use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource, MigrationVersion};
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
    /// Those among them that this program does not know: a newer one applied them.
    pub newer: Vec<String>,
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
    pub(super) fn url(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite:{}", path.display()),
            Self::Postgres(url) => url.clone(),
        }
    }

    /// Applies what is missing, over a connection of its own: a migration may take longer than a transaction may.
    pub(super) fn migrate(&self) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Sqlite(path) => run("sqlite", SQLITE, &mut sqlite::connect(path)?),
            Self::Postgres(url) => {
                let mut connection = postgres(url)?;
                // Nodes that start together migrate one after the other; the lock goes with the connection.
                connection.batch_execute("SELECT pg_advisory_lock(74657)")?;
                run("postgres", POSTGRES, &mut connection)
            }
        }
    }
}

/// What the applied versions come to against what this program has.
pub(super) fn known<DB>(backend: &'static str, applied: &[String]) -> Result<Status, StoreError>
where
    DB: diesel::backend::Backend,
    EmbeddedMigrations: MigrationSource<DB>,
{
    let ours = if backend == "sqlite" { SQLITE } else { POSTGRES };
    let all = MigrationSource::<DB>::migrations(&ours).map_err(failed)?;
    let version = |m: &dyn Migration<DB>| m.name().version().to_string();
    let versions: Vec<String> = all.iter().map(|m| version(&**m)).collect();
    let pending = all.iter().filter(|m| !applied.contains(&version(&***m))).map(|m| m.name().to_string()).collect();
    let newer = applied.iter().filter(|applied| !versions.contains(applied)).cloned().collect();
    Ok(Status { backend, pending, applied: applied.to_vec(), newer })
}

/// Applies what is missing. A schema that a newer program made is left alone: what it means is not known here.
fn run<C, DB>(backend: &'static str, ours: EmbeddedMigrations, c: &mut C) -> Result<Vec<String>, StoreError>
where
    DB: diesel::backend::Backend,
    C: MigrationHarness<DB>,
    EmbeddedMigrations: MigrationSource<DB>,
{
    let applied = c.applied_migrations().map(texts).map_err(failed)?;
    let newer = known::<DB>(backend, &applied)?.newer;
    if !newer.is_empty() {
        return Err(StoreError::Newer(newer));
    }
    c.run_pending_migrations(ours).map(texts).map_err(failed)
}
