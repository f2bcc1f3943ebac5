//! An outgoing message: packaged once, sealed anew for each attempt (EB-133, EB-161).
//!
//! What is frozen is the envelope with the `ds:Signature` beside it; what each attempt makes anew is the encryption:
//! a fresh content key for the certificate that the partner has now.

use crate::ebms::{MessageId, UserMessage, write};
use crate::pmode::{self, Leg, SoapVersion};
use crate::wire::soap::{self, Version};
use crate::wss::{
    self, Certificate, ContentKey, EncryptIds, EncryptOptions, PartToEncrypt, PartToSign, Reference, SignIds,
    SignOptions, Signed, Signer, WssError,
};

/// Ids of one outgoing envelope, drawn by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// `eb:MessageId` of a signal; a user message brings its own.
    pub message_id: MessageId,
    /// Letters and digits that no other envelope has: the XML Ids are made of it.
    pub token: String,
}

impl Ids {
    /// `wsu:Id` of `eb:Messaging`.
    #[must_use]
    pub fn messaging(&self) -> String {
        format!("msg-{}", self.token)
    }

    /// `wsu:Id` of the SOAP Body.
    #[must_use]
    pub fn body(&self) -> String {
        format!("body-{}", self.token)
    }
}

/// How to sign.
pub(super) struct Signing<'a> {
    pub(super) key: &'a dyn Signer,
    pub(super) options: &'a pmode::Signing,
}

pub(super) fn sign(
    envelope: &str,
    parts: &[PartToSign<'_>],
    signing: &Signing<'_>,
    ids: &Ids,
) -> Result<Signed, WssError> {
    let (signature, token) = (format!("SIG-{}", ids.token), format!("X509-{}", ids.token));
    let options = SignOptions {
        algorithm: signing.options.algorithm,
        hash: signing.options.hash,
        token: signing.options.token,
        also: &[],
        ids: SignIds { signature: &signature, token: &token },
    };
    wss::sign(envelope, parts, signing.key, &options)
}

/// A payload part as packaging sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutPart {
    /// `cid:` URL, as in PayloadInfo.
    pub uri: String,
    /// Media type of the signed form: `application/gzip` of a compressed part.
    pub media_type: String,
    /// Digest of the signed form by the leg's hash function and the rule for its type; empty in an unsigned leg.
    pub digest: Vec<u8>,
}

/// What is frozen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The envelope without `wsse:Security`.
    pub envelope: String,
    /// Binary token and `ds:Signature`; empty in an unsigned leg.
    pub blocks: String,
    /// What was signed: a receipt is compared with it.
    pub references: Vec<Reference>,
}

/// Packages a message.
pub fn package(
    message: &UserMessage,
    leg: &Leg,
    parts: &[OutPart],
    key: Option<&dyn Signer>,
    ids: &Ids,
) -> Result<Package, WssError> {
    let version = match leg.protocol.soap {
        SoapVersion::Soap11 => Version::Soap11,
        SoapVersion::Soap12 => Version::Soap12,
    };
    let messaging = write::user_message(message, &ids.messaging(), leg.protocol.soap);
    let Some(options) = &leg.security.sign else {
        let envelope = soap::envelope(version, &messaging, None, "");
        return Ok(Package { envelope, blocks: String::new(), references: Vec::new() });
    };
    let key = key.ok_or(WssError::NotSigned)?;
    let envelope = soap::envelope(version, &messaging, Some(&ids.body()), "");
    let to_sign: Vec<_> = parts.iter().map(|p| PartToSign { uri: &p.uri, digest: &p.digest }).collect();
    let signed = sign(&envelope, &to_sign, &Signing { key, options }, ids)?;
    Ok(Package { envelope, blocks: signed.blocks, references: signed.references })
}

/// What one attempt puts on the wire.
#[derive(Debug)]
pub struct Sealed {
    /// The SOAP part.
    pub soap: String,
    /// The content key of this attempt, in an encrypted leg with parts.
    pub key: Option<ContentKey>,
}

/// Seals a package for one attempt.
pub fn seal(
    package: &Package,
    leg: &Leg,
    parts: &[OutPart],
    recipient: Option<&Certificate>,
    token: &str,
) -> Result<Sealed, WssError> {
    let (mut blocks, mut key) = (String::new(), None);
    if let Some(encryption) = &leg.security.encrypt
        && !parts.is_empty()
    {
        let recipient = recipient.ok_or_else(|| WssError::Key {
            certificate: "the partner".to_owned(),
            why: "its P-Mode has no valid encryption certificate".to_owned(),
        })?;
        let ids: Vec<String> = (1..=parts.len()).map(|n| format!("ED-{n}-{token}")).collect();
        let sealed: Vec<_> = parts
            .iter()
            .zip(&ids)
            .map(|(part, id)| PartToEncrypt { uri: &part.uri, mime_type: &part.media_type, id })
            .collect();
        let (key_id, token_id) = (format!("EK-{token}"), format!("ENC-{token}"));
        let options = EncryptOptions {
            algorithm: encryption.algorithm,
            transport: encryption.transport,
            token: encryption.token,
            ids: EncryptIds { key: &key_id, token: &token_id },
        };
        let (header, content_key) = wss::encrypt_header(recipient, &options, &sealed)?;
        blocks = header;
        key = Some(content_key);
    }
    blocks.push_str(&package.blocks);
    let soap = if blocks.is_empty() { package.envelope.clone() } else { wss::compose(&package.envelope, &blocks)? };
    Ok(Sealed { soap, key })
}
