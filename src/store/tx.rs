//! An open transaction on either database.

use diesel::pg::PgConnection;
use diesel::sqlite::SqliteConnection;

/// An open transaction. Functions of the store take it, so that several of them are one transaction.
pub enum Tx<'c> {
    /// On SQLite.
    Sqlite(&'c mut SqliteConnection),
    /// On PostgreSQL.
    Postgres(&'c mut PgConnection),
}

/// Runs the same Diesel expression on whichever database the transaction is: `on!(tx, c => query.execute(c))`.
macro_rules! on {
    ($tx:expr, $c:ident => $body:expr) => {
        match $tx {
            $crate::store::Tx::Sqlite(connection) => {
                let $c: &mut diesel::sqlite::SqliteConnection = connection;
                $body
            }
            $crate::store::Tx::Postgres(connection) => {
                let $c: &mut diesel::pg::PgConnection = connection;
                $body
            }
        }
    };
}
pub(crate) use on;
