//! SOAP 1.1 and 1.2: envelopes read and written, header blocks and whom they address, faults (EB-001, EB-085).

mod envelope;
mod error;
mod fault;
mod version;
mod write;

#[cfg(test)]
mod tests;

pub use envelope::Envelope;
pub use error::SoapError;
pub use fault::{Fault, FaultCode, fault};
pub use version::Version;
pub use write::{envelope, not_understood, upgrade};
