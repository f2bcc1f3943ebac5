//! Ring 2: the store: Diesel on SQLite and PostgreSQL, one model; and the payload store.

mod database;
pub mod delivery;
mod error;
pub mod event;
pub mod exchange;
pub mod inbox;
mod instant;
mod lease;
mod look;
pub mod message;
mod migrate;
pub mod payload;
mod postgres;
mod schema;
pub mod sender_log;
mod sqlite;
mod state;
mod tx;
mod wake;
mod writer;

pub use database::{Store, StoreOptions};
pub use error::StoreError;
pub use instant::At;
pub use look::look;
pub use message::{Direction, Message, Part};
pub use migrate::Status;
pub use state::{Incoming, Outgoing};
pub use tx::Tx;
pub use wake::Due;
