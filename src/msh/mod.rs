//! Ring 1: the MSH decides, and performs nothing.

pub mod outcome;
mod parties;
mod reject;
pub mod reliability;

pub use outcome::Outcome;
pub use parties::{OwnParties, OwnParty};
pub use reject::Reject;
