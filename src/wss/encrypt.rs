//! Encrypting: one content key for all parts, wrapped for the recipient (WS-042).

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openssl::pkey::Id;

use super::certificate::Certificate;
use super::error::WssError;
use super::gcm::ContentKey;
use super::oaep;
use super::suite::{DataEncryption, KeyTransport, TokenReference};
use super::token::token;
use crate::wire::xml::names;
use crate::wire::xml::write::Value;

/// A part to be encrypted.
#[derive(Clone, Copy, Debug)]
pub struct PartToEncrypt<'a> {
    /// `cid:` URL, as it stands in `eb:PartInfo/@href`.
    pub uri: &'a str,
    /// The part's media type before encryption; `application/gzip` for a compressed one.
    pub mime_type: &'a str,
    /// `xenc:EncryptedData/@Id`.
    pub id: &'a str,
}

/// Ids of the elements that encrypting makes; unique in the envelope, and each an `NCName`.
#[derive(Clone, Copy, Debug)]
pub struct EncryptIds<'a> {
    /// `xenc:EncryptedKey/@Id`.
    pub key: &'a str,
    /// `wsse:BinarySecurityToken/@wsu:Id`; not used by the forms that have none.
    pub token: &'a str,
}

/// How to encrypt.
#[derive(Clone, Copy, Debug)]
pub struct EncryptOptions<'a> {
    /// Of the parts.
    pub algorithm: DataEncryption,
    /// Of the content key.
    pub transport: KeyTransport,
    /// How the recipient's certificate is named.
    pub token: TokenReference,
    /// Ids to use.
    pub ids: EncryptIds<'a>,
}

/// Draws a content key, wraps it for `recipient`, and gives the children of `wsse:Security` that say so (they declare
/// their own namespaces) with the key, for [`super::PartEncryptor`]. The bodies of the parts are encrypted as they go out.
///
/// # Errors
/// When the recipient's key is not RSA of 2048 bits or more.
pub fn encrypt_header(
    recipient: &Certificate,
    options: &EncryptOptions<'_>,
    parts: &[PartToEncrypt<'_>],
) -> Result<(String, ContentKey), WssError> {
    let key = recipient.public_key();
    if key.id() != Id::RSA || key.bits() < 2048 {
        return Err(WssError::Key {
            certificate: recipient.subject().to_owned(),
            why: "encryption needs RSA of 2048 bits or more".to_owned(),
        });
    }
    let content_key = ContentKey::generate(options.algorithm)?;
    let wrapped = oaep::wrap(key, options.transport, content_key.octets())
        .map_err(WssError::crypto("wrapping the content key"))?;
    let token = token(options.token, recipient, &[], options.ids.token);
    let mut xml = token.binary;
    // Writing to a String cannot fail.
    let _ = write!(
        xml,
        r#"<xenc:EncryptedKey xmlns:xenc="{}" xmlns:ds="{}" Id="{}">{}<ds:KeyInfo xmlns:wsse="{}">{}</ds:KeyInfo><xenc:CipherData><xenc:CipherValue>{}</xenc:CipherValue></xenc:CipherData><xenc:ReferenceList>"#,
        names::XENC,
        names::DS,
        Value(options.ids.key),
        method(options.transport),
        names::WSSE,
        token.reference,
        STANDARD.encode(wrapped),
    );
    for part in parts {
        let _ = write!(xml, r##"<xenc:DataReference URI="#{}"/>"##, Value(part.id));
    }
    xml.push_str("</xenc:ReferenceList></xenc:EncryptedKey>");
    for part in parts {
        encrypted_data(&mut xml, part, options);
    }
    Ok((xml, content_key))
}

/// `xenc:EncryptionMethod` of the key, children in the order of the schema (WS-048).
fn method(transport: KeyTransport) -> String {
    let (digest, mgf) = transport.hashes();
    let mgf = match transport {
        KeyTransport::RsaOaep { .. } => {
            format!(r#"<xenc11:MGF xmlns:xenc11="{}" Algorithm="{}"/>"#, names::XENC11, mgf.mgf_uri())
        }
        KeyTransport::RsaOaepMgf1p { .. } => String::new(),
    };
    format!(
        r#"<xenc:EncryptionMethod Algorithm="{}"><ds:DigestMethod Algorithm="{}"/>{mgf}</xenc:EncryptionMethod>"#,
        transport.uri(),
        digest.digest_uri()
    )
}

fn encrypted_data(xml: &mut String, part: &PartToEncrypt<'_>, options: &EncryptOptions<'_>) {
    let _ = write!(
        xml,
        r##"<xenc:EncryptedData xmlns:xenc="{}" xmlns:ds="{}" Id="{}" MimeType="{}" Type="{}"><xenc:EncryptionMethod Algorithm="{}"/><ds:KeyInfo><wsse:SecurityTokenReference xmlns:wsse="{}" xmlns:wsse11="{}" wsse11:TokenType="{}"><wsse:Reference URI="#{}"/></wsse:SecurityTokenReference></ds:KeyInfo><xenc:CipherData><xenc:CipherReference URI="{}"><xenc:Transforms><ds:Transform Algorithm="{}"/></xenc:Transforms></xenc:CipherReference></xenc:CipherData></xenc:EncryptedData>"##,
        names::XENC,
        names::DS,
        Value(part.id),
        Value(part.mime_type),
        names::SWA_CONTENT_ONLY,
        options.algorithm.uri(),
        names::WSSE,
        names::WSSE11,
        names::ENCRYPTED_KEY_TOKEN,
        Value(options.ids.key),
        Value(part.uri),
        names::SWA_CIPHERTEXT,
    );
}
