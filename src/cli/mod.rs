//! Ring 4: the command line, one file a command.
//!
//! Nouns and verbs are the console's and the API's. Data goes to standard output, words to standard error. How a
//! command ended is an [`exit`] code.

mod arguments;
pub mod check;
pub mod client;
pub mod db;
pub mod demo;
mod endpoint;
pub mod exit;
pub mod explain;
mod failure;
mod generate;
mod init;
pub mod message;
mod multipart;
pub mod output;
pub mod pmode;
pub mod serve;
pub mod submit;
mod wait;

#[cfg(test)]
mod tests;

pub use arguments::{Cli, Command, Global, main};
pub use endpoint::{ApiArgs, Endpoint};
pub use failure::Failure;
pub use wait::{Awaited, WaitArgs};
