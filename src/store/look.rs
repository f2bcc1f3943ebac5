//! Looks at a database without changing it: not its rows, not its journal, not its lock. A gateway may be running on it.

use std::path::Path;

use diesel::connection::SimpleConnection;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::SqliteConnection;
use rustix::fs::Access;

use super::error::StoreError;
use super::migrate::{Status, known};
use super::postgres;

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Text)]
    version: String,
}

/// Which migrations a database has; `None` where there is no database file yet.
///
/// # Errors
/// When it cannot be reached, or is no database of ours.
pub fn look(url: &str) -> Result<Option<Status>, StoreError> {
    match url.strip_prefix("sqlite:") {
        Some(path) => sqlite(Path::new(path)),
        None if url.starts_with("postgres") => self::postgresql(url).map(Some),
        None => Err(StoreError::Url),
    }
}

fn sqlite(path: &Path) -> Result<Option<Status>, StoreError> {
    let failed = |source| StoreError::File { path: path.to_owned(), source };
    // Not by opening it: closing the file again would drop the locks that SQLite holds on it in this process.
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => return Err(failed(std::io::ErrorKind::IsADirectory.into())),
        Ok(_) => rustix::fs::access(path, Access::READ_OK).map_err(|e| failed(e.into()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let broken = |e: &dyn std::fmt::Display| StoreError::NotOurs { path: path.to_owned(), why: e.to_string() };
    let mut connection = SqliteConnection::establish(&uri(path)).map_err(|e| broken(&e))?;
    let tables = |c: &mut SqliteConnection, which: &str| {
        let text = format!("SELECT count(*) AS count FROM sqlite_schema WHERE type = 'table' AND {which}");
        diesel::sql_query(text).get_result::<Count>(c).map(|found| found.count)
    };
    // Reading the first page tells whether it is a database at all.
    let migrated = tables(&mut connection, "name = '__diesel_schema_migrations'").map_err(|e| broken(&e))?;
    if migrated == 0 {
        let others = tables(&mut connection, "name NOT LIKE 'sqlite_%'").map_err(|e| broken(&e))?;
        if others > 0 {
            return Err(broken(&format!("it holds {others} tables of another program")));
        }
        return Ok(Some(known::<diesel::sqlite::Sqlite>("sqlite", &[])?));
    }
    let applied = applied(&mut connection).map_err(|e| broken(&e))?;
    Ok(Some(known::<diesel::sqlite::Sqlite>("sqlite", &applied)?))
}

/// Without a journal the file is all there is, and nobody need be asked; with one, it is read and not taken over.
fn uri(path: &Path) -> String {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    let unwritten = std::fs::metadata(&journal).is_ok_and(|about| about.len() > 0);
    let how = if unwritten { "mode=ro&readonly_shm=1" } else { "mode=ro&immutable=1" };
    let path = path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?{how}")
}

fn postgresql(url: &str) -> Result<Status, StoreError> {
    let lost = |e: &dyn std::fmt::Display| StoreError::Connect(e.to_string());
    let mut connection = PgConnection::establish(&postgres::url(url)).map_err(|e| lost(&e))?;
    connection.batch_execute("BEGIN READ ONLY").map_err(|e| lost(&e))?;
    let there = "SELECT count(*) AS count FROM pg_tables WHERE tablename = '__diesel_schema_migrations' \
                 AND schemaname = ANY (current_schemas(false))";
    let migrated = diesel::sql_query(there).get_result::<Count>(&mut connection)?.count > 0;
    let applied = if migrated { applied(&mut connection)? } else { Vec::new() };
    known::<diesel::pg::Pg>("postgres", &applied)
}

/// What the table of migrations holds, in order.
fn applied<C>(connection: &mut C) -> QueryResult<Vec<String>>
where
    C: diesel::connection::LoadConnection,
    C::Backend: diesel::sql_types::HasSqlType<Text>,
    Version: QueryableByName<C::Backend>,
    diesel::query_builder::SqlQuery: diesel::query_dsl::methods::LoadQuery<'static, C, Version>,
{
    let rows = diesel::sql_query("SELECT version FROM __diesel_schema_migrations ORDER BY version");
    Ok(rows.load::<Version>(connection)?.into_iter().map(|row| row.version).collect())
}
