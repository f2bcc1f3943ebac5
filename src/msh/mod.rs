//! Ring 1: the MSH decides, and performs nothing.

pub mod conclude;
mod framing;
mod inclusion;
pub mod judge;
mod open;
pub mod outcome;
pub mod package;
mod part;
mod parties;
mod reject;
pub mod reliability;
pub mod reply;
pub mod signer;

pub use framing::{Framed, FramedPart, frame};
pub use open::{Opened, Unreadable, open};
pub use outcome::Outcome;
pub use part::{CheckedPart, PartCheck, PartPlan, payload_hash};
pub use parties::{OwnParties, OwnParty};
pub use reject::Reject;

/// Base64 for messages to people.
fn base64(octets: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(octets)
}
