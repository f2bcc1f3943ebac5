//! Throw-away key pairs with self-signed certificates: good for tests, and as a pattern for real ones.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openssl::asn1::Asn1Time;
use openssl::bn::{BigNum, MsbOption};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::rsa::Rsa;
use openssl::x509::extension::{BasicConstraints, KeyUsage, SubjectKeyIdentifier};
use openssl::x509::{X509, X509NameBuilder};

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Purpose {
    Signing,
    Decryption,
}

/// A key and its certificate, PEM.
pub(in crate::cli) struct Pair {
    pub(in crate::cli) key: Vec<u8>,
    pub(in crate::cli) certificate: Vec<u8>,
}

/// eDelivery asks for RSA of 3072 bits at least in new keys.
const BITS: u32 = 3072;
const DAYS: u32 = 730;

impl Pair {
    /// Makes a pair. The certificate has what partners look for: key usage, and a subject key identifier to name it by.
    pub(in crate::cli) fn make(name: &str, purpose: Purpose) -> Result<Self, ErrorStack> {
        let key = PKey::from_rsa(Rsa::generate(BITS)?)?;
        let mut subject = X509NameBuilder::new()?;
        subject.append_entry_by_text("CN", name)?;
        let subject = subject.build();
        let mut serial = BigNum::new()?;
        serial.rand(127, MsbOption::MAYBE_ZERO, false)?;

        let mut certificate = X509::builder()?;
        certificate.set_version(2)?;
        let serial = serial.to_asn1_integer()?;
        certificate.set_serial_number(&serial)?;
        certificate.set_subject_name(&subject)?;
        certificate.set_issuer_name(&subject)?;
        let (begin, end) = (Asn1Time::days_from_now(0)?, Asn1Time::days_from_now(DAYS)?);
        certificate.set_not_before(&begin)?;
        certificate.set_not_after(&end)?;
        certificate.set_pubkey(&key)?;
        certificate.append_extension(BasicConstraints::new().critical().build()?)?;
        let mut usage = KeyUsage::new();
        usage.critical();
        match purpose {
            Purpose::Signing => usage.digital_signature().non_repudiation(),
            Purpose::Decryption => usage.key_encipherment().data_encipherment(),
        };
        certificate.append_extension(usage.build()?)?;
        let identifier = SubjectKeyIdentifier::new().build(&certificate.x509v3_context(None, None))?;
        certificate.append_extension(identifier)?;
        certificate.sign(&key, MessageDigest::sha256())?;
        Ok(Self { key: key.private_key_to_pem_pkcs8()?, certificate: certificate.build().to_pem()? })
    }
}

/// A token of 256 random bits, in letters that need no quotes.
pub(in crate::cli) fn token() -> Result<String, ErrorStack> {
    let mut octets = [0; 32];
    openssl::rand::rand_bytes(&mut octets)?;
    Ok(URL_SAFE_NO_PAD.encode(octets))
}
