//! Digests of attachments as they stream by: raw, with CRLF line ends, or in canonical form, by media type.

mod hash;
mod part;
mod rule;

pub use hash::Hasher;
pub use part::{PartDigester, PartDigests};
pub use rule::{DigestRule, readings_differ, rule_for_signing, rule_for_verifying};
