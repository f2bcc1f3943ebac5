//! `multipart/related`: push reader and writer, content types, Content-IDs (RFC 2045, 2046, 2387, 2392).
//!
//! Everything is push style: octets go in as they arrive, events come out, nothing is read or waited for. Attachments
//! are opaque: a multipart or a message inside one is never looked into (AT-21).

mod content_id;
mod content_type;
mod delimiter;
mod error;
mod file_name;
mod head;
mod reader;
mod related;
mod transfer;
mod writer;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod traffic;

pub use content_id::{ContentId, names_part};
pub use content_type::ContentType;
pub use error::MimeError;
pub use file_name::{content_disposition, file_name};
pub use head::{PartHead, TransferEncoding};
pub use reader::{MimeEvent, MimeLimits, MultipartReader};
pub use related::Related;
pub use writer::MultipartWriter;
