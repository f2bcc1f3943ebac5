//! Ring 2: message certificates: chain, validity, key usage, revocation.
//!
//! [`Trust`] holds the anchors of one message PKI and judges with OpenSSL's `X509_STORE`, which knows name constraints,
//! critical extensions and brainpool curves. The anchors of TLS are elsewhere, and neither stands in for the other
//! (WS-107). Whether a certificate is the right partner's is decided where the P-Mode is known.
//!
//! Extended key usage is not asked: networks issue message certificates with `clientAuth`, `emailProtection` or none.

mod anchors;
mod cache;
mod check;
mod error;
mod path;
mod published;
mod revocation;

#[cfg(test)]
mod tests;

pub use anchors::{MissingCrl, Options, Trust};
pub use check::{Purpose, Verdict, key_strength};
pub use error::{Link, Position, TrustError};
pub use published::published;
pub use revocation::{Crl, Revocation};
