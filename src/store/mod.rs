//! Ring 2: the store: Diesel on SQLite and PostgreSQL, one model; and the payload store.

pub mod payload;
