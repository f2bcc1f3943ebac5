//! SQLite: the file, its lock, the one writer and the readers.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, CustomizeConnection, Pool};
use diesel::sqlite::SqliteConnection;
use fs4::fs_std::FileExt;
use rustix::fs::Access;

use super::database::{StoreOptions, WAIT};
use super::error::StoreError;
use super::look::look;
use super::writer::Writer;

pub(super) type SqlitePool = Pool<ConnectionManager<SqliteConnection>>;

/// Readers are refused any change: the writer is the one way in.
#[derive(Debug)]
struct ReadOnly;

impl CustomizeConnection<SqliteConnection, diesel::r2d2::Error> for ReadOnly {
    fn on_acquire(&self, connection: &mut SqliteConnection) -> Result<(), diesel::r2d2::Error> {
        pragmas(connection)
            .and_then(|()| connection.batch_execute("PRAGMA query_only = ON"))
            .map_err(diesel::r2d2::Error::QueryError)
    }
}

/// `busy_timeout` first: the others may have to wait already. A journal that grew under a long reader is cut again.
fn pragmas(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute(
        "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
         PRAGMA journal_size_limit = 67108864;",
    )
}

/// One connection.
pub(super) fn connect(path: &Path) -> Result<SqliteConnection, StoreError> {
    let mut connection = SqliteConnection::establish(&path.display().to_string()).map_err(|e| not_ours(path, &e))?;
    pragmas(&mut connection).map_err(|e| not_ours(path, &e))?;
    Ok(connection)
}

fn not_ours(path: &Path, why: &dyn std::fmt::Display) -> StoreError {
    StoreError::NotOurs { path: path.to_owned(), why: why.to_string() }
}

/// SQLite would open a file that it may not write, and fail with the first message.
fn writable(path: &Path) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            Err(StoreError::File { path: path.to_owned(), source: std::io::ErrorKind::IsADirectory.into() })
        }
        Ok(_) => rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK)
            .map_err(|e| StoreError::File { path: path.to_owned(), source: e.into() }),
        Err(_) => Ok(()),
    }
}

/// Locks and opens the file.
pub(super) fn open(path: &Path, options: &StoreOptions) -> Result<(Writer, SqlitePool), StoreError> {
    let failed = |source| StoreError::File { path: path.to_owned(), source };
    writable(path)?;
    let lock = lock(path)?;
    // What is another program's, or of a newer version of this one, is not touched.
    let newer = look(&format!("sqlite:{}", path.display()))?.map(|status| status.newer).unwrap_or_default();
    if !newer.is_empty() {
        return Err(StoreError::Newer(newer));
    }
    let connection = connect(path)?;
    let readers = Pool::builder()
        .max_size(options.connections.max(2))
        .min_idle(Some(1))
        .connection_timeout(WAIT)
        .test_on_check_out(false)
        .connection_customizer(Box::new(ReadOnly))
        .build(ConnectionManager::new(path.display().to_string()))
        .map_err(|e| StoreError::Connect(e.to_string()))?;
    let group = usize::try_from(options.group).unwrap_or(256);
    let writer = Writer::start(connection, group, lock).map_err(failed)?;
    Ok((writer, readers))
}

/// One process a file (OUT-29).
fn lock(path: &Path) -> Result<File, StoreError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::File { path, source }
    };
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed(folder))?;
    }
    let mut beside: PathBuf = path.to_owned();
    beside.as_mut_os_string().push(".lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&beside).map_err(failed(&beside))?;
    if !FileExt::try_lock_exclusive(&lock).map_err(failed(&beside))? {
        return Err(StoreError::InUse(path.to_owned()));
    }
    Ok(lock)
}
