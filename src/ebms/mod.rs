//! Ring 0: the ebMS3 header: model, reading, writing, error codes.
//!
//! [`read_messaging`] turns an `eb:Messaging` element into [`Unit`]s or a [`HeaderError`] that names every breach;
//! [`mod@write`] turns values into `eb:Messaging` fragments that are their own exclusive canonical form.

pub mod code;
pub mod fragment;
mod message_id;
mod model;
mod part;
mod read;
pub mod timestamp;
mod token;
pub mod uri;
pub mod write;

pub use code::{Code, Severity};
pub use message_id::{BadMessageId, MessageId};
pub use model::*;
pub use part::{Description, Href, PartInfo, Property, Schema};
pub use read::{Finding, HeaderError, Messaging, PlacedUnit, Problem, ReadOptions, find_messaging, read_messaging};
pub use uri::Cid;
