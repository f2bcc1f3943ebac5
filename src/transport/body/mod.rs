//! The octets of a request or an answer, bounded while they arrive.

mod coding;
mod inflate;
mod reader;

pub(in crate::transport) use coding::{Coding, coding};
pub use reader::{BodyError, BodyLimits, BodyReader, Pace};
