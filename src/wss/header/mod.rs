//! `wsse:Security`: what stands in it, read strictly and in any order (FR-050).
//!
//! Everything that is not understood is refused, every count is bounded, and nothing is looked up outside the
//! document. Reading costs no cryptography.

mod encryption;
mod keys;
mod model;
mod read;
mod schema;
mod signature;
mod timestamp;

pub use model::*;
pub use read::read;
pub use timestamp::Timestamp;
