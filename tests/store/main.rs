//! The store on both databases: one scenario a sentence, each run by the same code on SQLite and on PostgreSQL.

#[path = "../support/postgres.rs"]
mod server;

mod fixture;

mod claim;
mod conclude;
mod delivery;
mod group;
mod inbox;
mod kill;
mod lost;
mod messages;
mod migrations;
mod parallel;
mod plans;
mod refused;
mod schema;
mod states;
mod submit;
mod takeover;
mod throughput;
mod wake;
