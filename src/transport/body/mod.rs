//! The octets of a request or an answer, bounded while they arrive.

mod inflate;
mod reader;

pub use reader::{BodyError, BodyLimits, BodyReader, Pace};
