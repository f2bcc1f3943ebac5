//! A certificate authority for one test run: parties, strangers, all made here.

use std::path::Path;
use std::sync::OnceLock;

use openssl::asn1::Asn1Time;
use openssl::bn::{BigNum, MsbOption};
use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::x509::extension::{
    AuthorityKeyIdentifier, BasicConstraints, KeyUsage, SubjectAlternativeName, SubjectKeyIdentifier,
};
use openssl::x509::{X509, X509NameBuilder};

/// A private key with its certificate, as PEM.
#[derive(Clone)]
pub(crate) struct Identity {
    /// Key.
    pub key: Vec<u8>,
    /// Certificate.
    pub certificate: Vec<u8>,
}

impl Identity {
    /// Reads the two from files, as other implementations keep them.
    pub(crate) fn read(dir: &Path, name: &str) -> Self {
        let read = |end: &str| {
            let path = dir.join(format!("{name}.{end}"));
            std::fs::read(&path).unwrap_or_else(|e| {
                panic!("{}: {e}; make the peers' keys with conformance/peers/setup.sh keys", path.display())
            })
        };
        Self { key: read("key.pem"), certificate: read("cert.pem") }
    }
}

/// The parties of all scenarios, and who is not one of them.
pub(crate) struct Pki {
    /// The authority's certificate.
    pub ca: Vec<u8>,
    /// Party `blue`.
    pub blue: Identity,
    /// Party `red`.
    pub red: Identity,
    /// Party `green`, of the same authority.
    pub green: Identity,
    /// Named `blue`, and issued by nobody.
    pub stranger: Identity,
}

/// Made once: RSA keys take a while.
pub(crate) fn pki() -> &'static Pki {
    static PKI: OnceLock<Pki> = OnceLock::new();
    PKI.get_or_init(|| {
        let (ca_key, ca) = issue("Postrider test CA", None);
        let leaf = |name: &str| pem(&issue(name, Some((&ca_key, &ca))));
        let stranger = {
            let (other_key, other) = issue("Another CA", None);
            pem(&issue("blue", Some((&other_key, &other))))
        };
        Pki {
            ca: ca.to_pem().expect("a certificate is PEM"),
            blue: leaf("blue"),
            red: leaf("red"),
            green: leaf("green"),
            stranger,
        }
    })
}

fn pem((key, certificate): &(PKey<Private>, X509)) -> Identity {
    Identity {
        key: key.private_key_to_pem_pkcs8().expect("a key is PEM"),
        certificate: certificate.to_pem().expect("a certificate is PEM"),
    }
}

fn issue(name: &str, by: Option<(&PKey<Private>, &X509)>) -> (PKey<Private>, X509) {
    made(name, by).expect("OpenSSL makes a certificate")
}

fn made(name: &str, by: Option<(&PKey<Private>, &X509)>) -> Result<(PKey<Private>, X509), openssl::error::ErrorStack> {
    let key = PKey::from_rsa(Rsa::generate(2048)?)?;
    let mut subject = X509NameBuilder::new()?;
    subject.append_entry_by_text("O", "Postrider test")?;
    subject.append_entry_by_text("CN", name)?;
    let subject = subject.build();
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    let mut serial = BigNum::new()?;
    serial.rand(127, MsbOption::MAYBE_ZERO, false)?;
    let serial = serial.to_asn1_integer()?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(&subject)?;
    builder.set_issuer_name(by.map_or(&*subject, |(_, ca)| ca.subject_name()))?;
    let (from, until) = (Asn1Time::from_unix(1_704_067_200)?, Asn1Time::days_from_now(365)?);
    builder.set_not_before(&from)?;
    builder.set_not_after(&until)?;
    builder.set_pubkey(&key)?;
    let (constraints, usage) = match by {
        None => (
            BasicConstraints::new().critical().ca().build()?,
            KeyUsage::new().critical().key_cert_sign().crl_sign().build()?,
        ),
        Some(_) => (
            BasicConstraints::new().critical().build()?,
            KeyUsage::new().critical().digital_signature().key_encipherment().build()?,
        ),
    };
    builder.append_extension(constraints)?;
    builder.append_extension(usage)?;
    let identifier = SubjectKeyIdentifier::new().build(&builder.x509v3_context(by.map(|(_, ca)| &**ca), None))?;
    builder.append_extension(identifier)?;
    if let Some((_, ca)) = by {
        let authority = AuthorityKeyIdentifier::new().keyid(true).build(&builder.x509v3_context(Some(ca), None))?;
        builder.append_extension(authority)?;
    }
    if by.is_some() {
        let mut names = SubjectAlternativeName::new();
        names.dns("localhost").ip("127.0.0.1").ip("::1");
        builder.append_extension(names.build(&builder.x509v3_context(by.map(|(_, ca)| &**ca), None))?)?;
    }
    builder.sign(by.map_or(&key, |(key, _)| key), MessageDigest::sha256())?;
    Ok((key, builder.build()))
}
