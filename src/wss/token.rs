//! Token references as we emit them: exact URIs, for WSS4J checks them (WS-010…WS-014, WS-120).

use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::certificate::Certificate;
use super::der;
use super::suite::TokenReference;
use crate::wire::xml::names;
use crate::wire::xml::write::{Text, Value};

/// A certificate named in a message.
pub(super) struct Token {
    /// `wsse:BinarySecurityToken`, where the form has one; declares its own namespaces.
    pub(super) binary: String,
    /// `wsse:SecurityTokenReference`; needs `wsse` and `ds` declared around it.
    pub(super) reference: String,
}

/// Names `certificate` in the wanted form; `chain` above it goes into a path, nearest first; `id` is the binary token's.
pub(super) fn token(form: TokenReference, certificate: &Certificate, chain: &[Arc<Certificate>], id: &str) -> Token {
    let inside = match form {
        TokenReference::BinarySecurityToken => return binary(names::X509_V3, certificate.der(), id),
        TokenReference::PkiPath => {
            let path = chain.iter().rev().map(|above| above.der()).chain(std::iter::once(certificate.der()));
            return binary(names::X509_PKI_PATH, &der::build_sequence(path), id);
        }
        TokenReference::SubjectKeyIdentifier => key_identifier(names::X509_SKI, &certificate.key_identifier()),
        TokenReference::Thumbprint => key_identifier(names::THUMBPRINT_SHA1, certificate.thumbprint()),
        TokenReference::KeyIdentifier => key_identifier(names::X509_V3, certificate.der()),
        TokenReference::IssuerSerial => format!(
            "<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>{}</ds:X509IssuerName>\
             <ds:X509SerialNumber>{}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>",
            Text(certificate.issuer()),
            certificate.serial()
        ),
    };
    Token {
        binary: String::new(),
        reference: format!("<wsse:SecurityTokenReference>{inside}</wsse:SecurityTokenReference>"),
    }
}

fn key_identifier(value_type: &str, content: &[u8]) -> String {
    format!(
        r#"<wsse:KeyIdentifier EncodingType="{}" ValueType="{value_type}">{}</wsse:KeyIdentifier>"#,
        names::WSS_BASE64,
        STANDARD.encode(content)
    )
}

fn binary(value_type: &str, content: &[u8], id: &str) -> Token {
    let id = Value(id);
    let binary = format!(
        r#"<wsse:BinarySecurityToken xmlns:wsse="{}" xmlns:wsu="{}" EncodingType="{}" ValueType="{value_type}" wsu:Id="{id}">{}</wsse:BinarySecurityToken>"#,
        names::WSSE,
        names::WSU,
        names::WSS_BASE64,
        STANDARD.encode(content)
    );
    let mut reference = String::from("<wsse:SecurityTokenReference");
    if value_type == names::X509_PKI_PATH {
        // WS-010: for a path the reference says so too. Writing to a String cannot fail.
        let _ = write!(reference, r#" xmlns:wsse11="{}" wsse11:TokenType="{value_type}""#, names::WSSE11);
    }
    let _ = write!(
        reference,
        r##"><wsse:Reference URI="#{id}" ValueType="{value_type}"></wsse:Reference></wsse:SecurityTokenReference>"##
    );
    Token { binary, reference }
}
