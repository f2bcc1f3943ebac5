//! Building and verifying a path with OpenSSL.

use std::sync::Arc;

use openssl::error::ErrorStack;
use openssl::stack::{Stack, StackRef};
use openssl::x509::store::{X509Store, X509StoreBuilder};
use openssl::x509::verify::{X509VerifyFlags, X509VerifyParam};
use openssl::x509::{X509, X509StoreContext, X509VerifyResult};
use time::OffsetDateTime;

use super::revocation::Crl;
use super::{Link, Purpose, TrustError, check};
use crate::wss::Certificate;
use crate::wss::engine::add_crl;

/// Steps from the certificate to its anchor.
const MAX_DEPTH: i32 = 8;
/// Keys and signature digests of at least 112 bits: no SHA-1, no MD5, no RSA below 2048 bits.
const SECURITY_LEVEL: i32 = 2;

/// A store for judgements at `now`. OpenSSL keeps the time in the store, so each judgement makes its own; the
/// certificates in it are shared.
pub(super) fn store<'c>(
    anchors: impl IntoIterator<Item = &'c Arc<Certificate>>,
    crls: &[Crl],
    now: OffsetDateTime,
) -> Result<X509Store, ErrorStack> {
    let mut builder = X509StoreBuilder::new()?;
    for anchor in anchors {
        builder.add_cert(anchor.x509().clone())?;
    }
    for crl in crls {
        add_crl(&mut builder, crl.list())?;
    }
    let mut parameters = X509VerifyParam::new()?;
    // An anchor need not be a root.
    let mut flags = X509VerifyFlags::PARTIAL_CHAIN | X509VerifyFlags::TRUSTED_FIRST;
    if !crls.is_empty() {
        // Asks for the first certificate only; `revocation` goes through the links one by one.
        flags |= X509VerifyFlags::CRL_CHECK;
    }
    parameters.set_flags(flags)?;
    parameters.set_depth(MAX_DEPTH);
    parameters.set_auth_level(SECURITY_LEVEL);
    parameters.set_time(now.unix_timestamp());
    builder.set_param(&parameters)?;
    Ok(builder.build())
}

/// How OpenSSL's verification failed.
pub(super) struct Failure {
    /// Its code.
    pub(super) result: X509VerifyResult,
    /// The certificate at which it failed, and its distance from the first.
    at: Option<(X509, u32)>,
}

/// Verifies; gives the path from the certificate to the anchor.
pub(super) fn verify(store: &X509Store, leaf: &X509, others: &StackRef<X509>) -> Result<Vec<X509>, Failure> {
    let outcome = X509StoreContext::new().and_then(|mut context| {
        context.init(store, leaf, others, |context| {
            if context.verify_cert()? {
                let path = context.chain().map(|c| c.iter().map(ToOwned::to_owned).collect());
                return Ok(Ok(path.unwrap_or_default()));
            }
            let at = context.current_cert().map(|c| (c.to_owned(), context.error_depth()));
            Ok(Err(Failure { result: context.error(), at }))
        })
    });
    // What OpenSSL queued on the way belongs to nobody any more.
    drop(ErrorStack::get());
    outcome.unwrap_or(Err(Failure { result: X509VerifyResult::APPLICATION_VERIFICATION, at: None }))
}

/// Finds the path of `leaf`, and checks what OpenSSL does not.
pub(super) fn find<'c>(
    store: &X509Store,
    leaf: &Certificate,
    others: impl Iterator<Item = &'c Arc<Certificate>>,
    purpose: Purpose,
    now: OffsetDateTime,
) -> Result<Vec<Certificate>, TrustError> {
    let mut untrusted = Stack::new()?;
    for other in others {
        untrusted.push(other.x509().clone())?;
    }
    let path = verify(store, leaf.x509(), &untrusted).map_err(|f| explain(&f, leaf, purpose, now))?;
    let path = path.iter().map(|c| Certificate::from_der(&c.to_der()?)).collect::<Result<Vec<_>, ErrorStack>>()?;
    for (depth, certificate) in (0..).zip(&path) {
        check::key_strength(certificate.public_key())
            .map_err(|key| TrustError::WeakKey { link: Link::new(certificate, depth, purpose), key })?;
    }
    Ok(path)
}

/// OpenSSL's code as one of our errors, which name the certificate.
fn explain(failure: &Failure, leaf: &Certificate, purpose: Purpose, now: OffsetDateTime) -> TrustError {
    let parsed =
        failure.at.as_ref().and_then(|(c, depth)| Some((Certificate::from_der(&c.to_der().ok()?).ok()?, *depth)));
    let (certificate, depth) = parsed.as_ref().map_or((leaf, 0), |(c, depth)| (c, *depth));
    let link = Link::new(certificate, depth, purpose);
    let reason = failure.result.error_string().to_owned();
    match failure.result.as_raw() {
        openssl_sys::X509_V_ERR_CERT_HAS_EXPIRED => check::expired(certificate, now, link),
        openssl_sys::X509_V_ERR_CERT_NOT_YET_VALID => check::not_yet_valid(certificate, now, link),
        openssl_sys::X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT
        | openssl_sys::X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
        | openssl_sys::X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT
        | openssl_sys::X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN
        | openssl_sys::X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE => {
            TrustError::NoAnchor { link, issuer: certificate.issuer().to_owned() }
        }
        openssl_sys::X509_V_ERR_EE_KEY_TOO_SMALL | openssl_sys::X509_V_ERR_CA_KEY_TOO_SMALL => {
            let key = check::key_strength(certificate.public_key()).err().unwrap_or(reason);
            TrustError::WeakKey { link, key }
        }
        openssl_sys::X509_V_ERR_CA_MD_TOO_WEAK => {
            let algorithm = certificate.x509().signature_algorithm().object().to_string();
            TrustError::WeakSignature { link, algorithm }
        }
        _ => TrustError::Path { link, reason },
    }
}
