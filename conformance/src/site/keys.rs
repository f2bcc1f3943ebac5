//! A throw-away RSA key with a self-signed certificate, for signing and for encryption.

use openssl::asn1::Asn1Time;
use openssl::bn::{BigNum, MsbOption};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::rsa::Rsa;
use openssl::x509::extension::{BasicConstraints, KeyUsage, SubjectKeyIdentifier};
use openssl::x509::{X509, X509NameBuilder};

/// A key and its certificate, PEM.
#[derive(Clone, Debug)]
pub struct Pair {
    /// PKCS #8.
    pub key: Vec<u8>,
    /// X.509.
    pub certificate: Vec<u8>,
}

impl Pair {
    /// Makes one.
    pub fn make(name: &str, bits: u32) -> Result<Self, ErrorStack> {
        let key = PKey::from_rsa(Rsa::generate(bits)?)?;
        let mut subject = X509NameBuilder::new()?;
        subject.append_entry_by_text("CN", name)?;
        let subject = subject.build();
        let mut serial = BigNum::new()?;
        serial.rand(127, MsbOption::MAYBE_ZERO, false)?;
        let mut certificate = X509::builder()?;
        certificate.set_version(2)?;
        certificate.set_serial_number(&*serial.to_asn1_integer()?)?;
        certificate.set_subject_name(&subject)?;
        certificate.set_issuer_name(&subject)?;
        certificate.set_not_before(&*Asn1Time::days_from_now(0)?)?;
        certificate.set_not_after(&*Asn1Time::days_from_now(30)?)?;
        certificate.set_pubkey(&key)?;
        certificate.append_extension(BasicConstraints::new().critical().build()?)?;
        let mut usage = KeyUsage::new();
        usage.critical().digital_signature().non_repudiation().key_encipherment().data_encipherment();
        certificate.append_extension(usage.build()?)?;
        let identifier = SubjectKeyIdentifier::new().build(&certificate.x509v3_context(None, None))?;
        certificate.append_extension(identifier)?;
        certificate.sign(&key, MessageDigest::sha256())?;
        Ok(Self { key: key.private_key_to_pem_pkcs8()?, certificate: certificate.build().to_pem()? })
    }
}
