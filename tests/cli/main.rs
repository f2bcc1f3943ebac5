//! The program as people run it, given what is wrong: every command ends with its exit code, names the place and the
//! remedy on standard error, writes nothing to standard output that is no data, and leaves the database as it is.

#![expect(clippy::unwrap_used, reason = "a test may: it says where")]

#[path = "../support/http.rs"]
#[expect(dead_code, reason = "it serves other test binaries too")]
mod http;
#[path = "../support/ports.rs"]
mod ports;

mod captured;
mod database;
mod files;
mod gateway;
mod output;
mod site;
mod start;
mod words;
