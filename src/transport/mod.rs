//! Ring 2: hyper and rustls: listening, posting, limits.
//!
//! - [`listen`] takes requests in and hands each to an [`listen::Endpoint`] as an [`listen::Exchange`];
//! - [`post`] sends requests out over pooled connections and tells how far each one got;
//! - [`body`] is how the octets of a request or an answer are read, bounded while they arrive;
//! - [`tls`] makes the rustls configurations of both directions;
//! - [`limits`] holds the numbers.

pub mod body;
pub mod limits;
pub mod listen;
pub mod post;
mod socket;
pub mod tls;
