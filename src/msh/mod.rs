//! Ring 1: the MSH decides, and performs nothing.

pub mod judge;
mod open;
pub mod outcome;
mod part;
mod parties;
mod reject;
pub mod reliability;
pub mod signer;

pub use open::{Opened, Unreadable, open};
pub use outcome::Outcome;
pub use part::{CheckedPart, PartCheck, PartPlan, payload_hash};
pub use parties::{OwnParties, OwnParty};
pub use reject::Reject;
