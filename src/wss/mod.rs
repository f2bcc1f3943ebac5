//! Ring 0: WS-Security for AS4: sign, verify, encrypt, decrypt.

mod certificate;
pub mod engine;
mod reference;
pub mod suite;

pub use certificate::{Certificate, PrivateKey};
pub use reference::{Reference, Transform};
