//! Ring 0: wire formats, pure. XML, MIME, SOAP.

pub mod mime;
pub mod soap;
pub mod xml;
