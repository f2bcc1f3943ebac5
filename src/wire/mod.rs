//! Ring 0: wire formats, pure. XML, MIME, gzip, SOAP.

pub mod gzip;
mod hex;
pub mod mime;
pub mod soap;
mod visible;
pub mod xml;

pub use hex::hex;
pub use visible::visible;
