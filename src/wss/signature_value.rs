//! `ds:SignatureValue`: OpenSSL's signatures in the form of XML Signature.

use openssl::bn::BigNum;
use openssl::ecdsa::EcdsaSig;
use openssl::error::ErrorStack;
use openssl::pkey::{HasPublic, Id, PKey, PKeyRef, Private, Public};
use openssl::sign::{Signer, Verifier};

use super::suite::SignatureAlgorithm;

/// Least sizes of signing keys in bits (WS-091).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeySizes {
    pub(super) rsa: u32,
    pub(super) ec: u32,
}

/// Why a key cannot be used with an algorithm, if it cannot.
pub(super) fn unfit<T: HasPublic>(key: &PKeyRef<T>, algorithm: SignatureAlgorithm, least: KeySizes) -> Option<String> {
    let (kind, size) = if algorithm.is_rsa() { (Id::RSA, least.rsa) } else { (Id::EC, least.ec) };
    if key.id() != kind {
        return Some(format!("it is of another kind than {} needs", algorithm.uri()));
    }
    (key.bits() < size).then(|| format!("it has {} bits, less than {size}", key.bits()))
}

/// Octets of `r` and of `s` each: the size of the curve's order.
fn half<T: HasPublic>(key: &PKeyRef<T>) -> Result<usize, ErrorStack> {
    let bits = key.ec_key()?.group().order_bits();
    Ok(usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX))
}

/// Signs `data`; ECDSA gives `r‖s` at fixed length (WS-028).
pub(super) fn sign(key: &PKey<Private>, algorithm: SignatureAlgorithm, data: &[u8]) -> Result<Vec<u8>, ErrorStack> {
    let mut signer = Signer::new(algorithm.digest().openssl(), key)?;
    let value = signer.sign_oneshot_to_vec(data)?;
    if algorithm.is_rsa() {
        return Ok(value);
    }
    let pair = EcdsaSig::from_der(&value)?;
    let half = i32::try_from(half(key)?).unwrap_or(i32::MAX);
    let mut octets = pair.r().to_vec_padded(half)?;
    octets.extend(pair.s().to_vec_padded(half)?);
    Ok(octets)
}

/// Whether `value` signs `data`. What OpenSSL cannot read as a signature is none.
pub(super) fn verify(key: &PKey<Public>, algorithm: SignatureAlgorithm, data: &[u8], value: &[u8]) -> bool {
    let check = || -> Result<bool, ErrorStack> {
        let mut verifier = Verifier::new(algorithm.digest().openssl(), key)?;
        if algorithm.is_rsa() {
            return verifier.verify_oneshot(value, data);
        }
        let half = half(key)?;
        if value.len() != 2 * half {
            return Ok(false);
        }
        let (r, s) = value.split_at(half);
        let pair = EcdsaSig::from_private_components(BigNum::from_slice(r)?, BigNum::from_slice(s)?)?;
        verifier.verify_oneshot(&pair.to_der()?, data)
    };
    check().unwrap_or(false)
}
