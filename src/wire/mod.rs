//! Ring 0: wire formats, pure. XML, MIME, gzip, SOAP.

pub mod gzip;
pub mod mime;
pub mod soap;
mod visible;
pub mod xml;

pub use visible::visible;
