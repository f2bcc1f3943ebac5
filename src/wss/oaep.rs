//! RSA-OAEP key transport (WS-048).

use openssl::error::ErrorStack;
use openssl::md::{Md, MdRef};
use openssl::pkey::{Id, PKey, Private, Public};
use openssl::pkey_ctx::PkeyCtx;
use openssl::rsa::Padding;
use zeroize::Zeroizing;

use super::suite::{KeyTransport, OaepHash};

fn md(hash: OaepHash) -> &'static MdRef {
    match hash {
        OaepHash::Sha1 => Md::sha1(),
        OaepHash::Sha256 => Md::sha256(),
        OaepHash::Sha384 => Md::sha384(),
        OaepHash::Sha512 => Md::sha512(),
    }
}

fn parameters<T>(context: &mut PkeyCtx<T>, transport: KeyTransport, label: &[u8]) -> Result<(), ErrorStack> {
    let (digest, mgf) = transport.hashes();
    context.set_rsa_padding(Padding::PKCS1_OAEP)?;
    context.set_rsa_oaep_md(md(digest))?;
    context.set_rsa_mgf1_md(md(mgf))?;
    if label.is_empty() { Ok(()) } else { context.set_rsa_oaep_label(label) }
}

/// Wraps a content key for the holder of `recipient`.
pub(super) fn wrap(recipient: &PKey<Public>, transport: KeyTransport, key: &[u8]) -> Result<Vec<u8>, ErrorStack> {
    let mut context = PkeyCtx::new(recipient)?;
    context.encrypt_init()?;
    parameters(&mut context, transport, &[])?;
    let mut wrapped = Vec::new();
    context.encrypt_to_vec(key, &mut wrapped)?;
    Ok(wrapped)
}

/// Unwraps a content key; every failure is the same `None`, and leaves nothing on OpenSSL's error queue.
pub(super) fn unwrap(
    own: &PKey<Private>,
    transport: KeyTransport,
    label: &[u8],
    wrapped: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    if own.id() != Id::RSA {
        return None;
    }
    let unwrap = || -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
        let mut context = PkeyCtx::new(own)?;
        context.decrypt_init()?;
        parameters(&mut context, transport, label)?;
        let mut key = Zeroizing::new(vec![0; own.size()]);
        let length = context.decrypt(wrapped, Some(&mut key))?;
        key.truncate(length);
        Ok(key)
    };
    unwrap().ok()
}
