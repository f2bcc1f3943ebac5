//! Ring 2: the store: Diesel on SQLite and PostgreSQL, one model; and the payload store.

mod database;
pub mod delivery;
mod error;
pub mod event;
pub mod exchange;
pub mod inbox;
mod instant;
pub mod message;
pub mod payload;
mod schema;
pub mod sender_log;
mod state;
mod tx;

mod writer;

pub use database::{Status, Store, StoreOptions};
pub use error::StoreError;
pub use instant::At;
pub use message::{Direction, Message, Part};
pub use state::{Incoming, Outgoing};
pub use tx::Tx;
