//! Signing by libxmlsec1, to cross-check the first engine's verification.

use openssl::pkey::PKey;

use super::claims;
use super::context::Context;
use super::session::{Session, XmlTypes};
use super::tree::Doc;
use super::{Opinion, PartReader, library, trail};
use crate::wss::PrivateKey;

/// Why libxmlsec1 made no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("libxmlsec1 did not sign: {0}")]
pub struct SignFailed(
    /// The reason.
    pub String,
);

/// Fills in the `ds:Signature` that the envelope's Security header holds as a template: its references with their
/// algorithms, and empty `ds:DigestValue` and `ds:SignatureValue`. Returns the whole envelope.
///
/// # Errors
/// When the template is not one that [`super::second_opinion`] would take, or the key does not fit the method.
pub fn sign(template: &str, key: &PrivateKey, parts: &mut dyn PartReader, max: u64) -> Result<String, SignFailed> {
    library::start().map_err(|why| SignFailed(why.to_owned()))?;
    trail::begin();
    // WSS4J signs by the start of the type; so the two readings of WS-032 are both exercised by tests.
    let mut session = Session::new(parts, max, XmlTypes::Prefix);
    let signed = try_sign(template, key, &mut session);
    let trail = trail::take();
    signed.map_err(|why| SignFailed(trail.explain(&why)))
}

fn try_sign(template: &str, key: &PrivateKey, session: &mut Session<'_>) -> Result<String, String> {
    let doc = Doc::from_text(template).map_err(|e| format!("the template is no document ({e:?})"))?;
    let claims = claims::read(&doc).map_err(reason)?;
    claims::register_ids(&doc, &claims.references).map_err(reason)?;
    let digests = claims.references.iter().map(|r| r.digest_method.as_str());
    // libxmlsec1 asks an EC key for its order by OpenSSL 3's parameters, which a key made through the older interface
    // does not have; one that was read does.
    let key = key.key.private_key_to_pkcs8().and_then(|der| PKey::private_key_from_pkcs8(&der));
    let key = key.map_err(|e| format!("OpenSSL could not copy the key: {e}"))?;
    let signed = Context::new(session, &key, &claims.method, digests)
        .ok_or_else(|| "libxmlsec1 does not take the key or an algorithm".to_owned())?
        .sign(claims.signature);
    if !signed {
        return Err(session.failure.take().map_or_else(|| "no signature was made".to_owned(), reason));
    }
    doc.to_text().ok_or_else(|| "libxml2 could not write the document".to_owned())
}

fn reason(opinion: Opinion) -> String {
    match opinion {
        Opinion::Agrees => String::new(),
        Opinion::Disagrees { why } | Opinion::CouldNotJudge { why } => why,
    }
}
