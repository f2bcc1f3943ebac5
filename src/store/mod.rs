//! Ring 2: the store: Diesel on SQLite and PostgreSQL, one model; and the payload store.

mod database;
mod error;
pub mod payload;
mod schema;
mod tx;
mod types;
mod writer;

pub use database::{Status, Store, StoreOptions};
pub use error::StoreError;
pub use tx::Tx;
pub use types::At;
