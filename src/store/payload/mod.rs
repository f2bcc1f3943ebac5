//! Payload octets, kept as they were signed, under the name of their digest (FR-130).
//!
//! Small ones come back to the caller and live in the database row, so that one fsync covers them; larger ones are
//! files, durable before the row that names them is committed. Names are made of digests alone: nothing a partner
//! writes ever becomes part of a path (AT-23).
//!
//! Everything here blocks. Page-cache writes are cheap and a thread hop for each chunk is not, so a [`Writer`] is fed
//! in large pieces where blocking is allowed; [`Reader::into_stream`] reads ahead on a blocking thread.

mod digest;
mod error;
mod hold;
mod reader;
mod store;
mod writer;

pub use digest::Digest;
pub use error::PayloadError;
pub use hold::Hold;
pub use reader::{PayloadStream, Reader};
pub use store::{PayloadOptions, PayloadStore};
pub use writer::{Stored, Writer};

#[cfg(test)]
mod tests;
