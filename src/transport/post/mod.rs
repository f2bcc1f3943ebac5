//! Sending requests out.
//!
//! ```text
//! Poster     one try on a pooled connection, one more on a fresh one when the pooled one proves dead
//!   pool     connections by scheme, host, port and TLS configuration
//!   connect  addresses, TCP, TLS
//!     line   the socket as hyper sees it: counts, notes the answer's head, lets early answers through
//!       hyper
//! ```

mod address;
mod connect;
mod line;
mod outcome;
mod pool;
mod poster;
mod progress;
mod request;

pub use address::is_public;
pub use outcome::{Answered, Failure, PostError, Posted, Step, TlsInfo};
pub use pool::PoolOptions;
pub use poster::Poster;
pub use request::{BodySource, Request};

#[cfg(test)]
mod tests;
