//! An X.509 certificate, parsed once, with what the field asks of it; and the private key that goes with one.

use std::fmt;

use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private, Public};
use openssl::x509::X509;
use time::OffsetDateTime;

/// A message certificate. Parsing costs more than all XML work of a message, so it is shared by `Arc` and cached.
pub struct Certificate {
    x509: X509,
    der: Vec<u8>,
    sha256: [u8; 32],
    sha1: [u8; 20],
    key: PKey<Public>,
    subject: String,
    issuer: String,
    common_name: Option<String>,
    serial: String,
    ski: Option<Vec<u8>>,
    not_before: OffsetDateTime,
    not_after: OffsetDateTime,
}

impl Certificate {
    /// Parses one DER certificate.
    ///
    /// # Errors
    /// When it is no certificate, or its key is of no kind that OpenSSL knows.
    pub fn from_der(der: &[u8]) -> Result<Self, ErrorStack> {
        Self::new(X509::from_der(der)?)
    }

    /// Parses all certificates of a PEM text, in order.
    ///
    /// # Errors
    /// When one of them does not parse.
    pub fn all_from_pem(pem: &[u8]) -> Result<Vec<Self>, ErrorStack> {
        X509::stack_from_pem(pem)?.into_iter().map(Self::new).collect()
    }

    fn new(x509: X509) -> Result<Self, ErrorStack> {
        let der = x509.to_der()?;
        let sha256 = openssl::sha::sha256(&der);
        let sha1 = openssl::sha::sha1(&der);
        let key = x509.public_key()?;
        let common_name = x509
            .subject_name()
            .entries_by_nid(Nid::COMMONNAME)
            .last()
            .and_then(|e| e.data().to_string().ok())
            .map(|s| (*s).to_owned());
        let serial = x509.serial_number().to_bn()?.to_dec_str()?.to_string();
        let ski = x509.subject_key_id().map(|id| id.as_slice().to_vec());
        let epoch = openssl::asn1::Asn1Time::from_unix(0)?;
        let instant = |t: &openssl::asn1::Asn1TimeRef| -> Result<OffsetDateTime, ErrorStack> {
            let diff = epoch.diff(t)?;
            Ok(OffsetDateTime::UNIX_EPOCH
                .saturating_add(time::Duration::days(diff.days.into()))
                .saturating_add(time::Duration::seconds(diff.secs.into())))
        };
        let (not_before, not_after) = (instant(x509.not_before())?, instant(x509.not_after())?);
        let (subject, issuer) = (distinguished_name(x509.subject_name()), distinguished_name(x509.issuer_name()));
        Ok(Self { x509, der, sha256, sha1, key, subject, issuer, common_name, serial, ski, not_before, not_after })
    }

    /// OpenSSL's own view.
    #[must_use]
    pub fn x509(&self) -> &X509 {
        &self.x509
    }

    /// Its DER octets.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// SHA-256 of the DER octets: its identity here.
    #[must_use]
    pub fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// SHA-1 of the DER octets: the WS-Security thumbprint.
    #[must_use]
    pub fn thumbprint(&self) -> &[u8; 20] {
        &self.sha1
    }

    /// Its public key.
    #[must_use]
    pub fn public_key(&self) -> &PKey<Public> {
        &self.key
    }

    /// Its subject in RFC 4514 order.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Its issuer in RFC 4514 order.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The last common name of the subject.
    #[must_use]
    pub fn common_name(&self) -> Option<&str> {
        self.common_name.as_deref()
    }

    /// Its serial number in decimal.
    #[must_use]
    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// The `SubjectKeyIdentifier` extension, or, without it, SHA-1 of the public key's bits as WSS4J does (WS-011).
    #[must_use]
    pub fn key_identifier(&self) -> Vec<u8> {
        if let Some(ski) = &self.ski {
            return ski.clone();
        }
        let spki = self.key.public_key_to_der().unwrap_or_default();
        openssl::sha::sha1(public_key_bits(&spki).unwrap_or_default()).to_vec()
    }

    /// First moment of validity.
    #[must_use]
    pub fn not_before(&self) -> OffsetDateTime {
        self.not_before
    }

    /// Last moment of validity.
    #[must_use]
    pub fn not_after(&self) -> OffsetDateTime {
        self.not_after
    }

    /// Whether `now` lies within its validity.
    #[must_use]
    pub fn valid_at(&self, now: OffsetDateTime) -> bool {
        self.not_before <= now && now <= self.not_after
    }
}

/// The bits of the public key in a `SubjectPublicKeyInfo`: SEQUENCE { SEQUENCE algorithm, BIT STRING key }.
fn public_key_bits(spki: &[u8]) -> Option<&[u8]> {
    let (_, inside, _) = super::der::element(spki)?;
    let (_, _, after_algorithm) = super::der::element(inside)?;
    let (_, bits, _) = super::der::element(after_algorithm)?;
    bits.get(1..)
}

/// RFC 4514 spelling: last RDN first, attribute short names.
fn distinguished_name(name: &openssl::x509::X509NameRef) -> String {
    let mut rdns: Vec<String> = name
        .entries()
        .map(|entry| {
            let key = entry.object().nid().short_name().map_or_else(|_| entry.object().to_string(), str::to_owned);
            let value = entry.data().to_string().map(|s| (*s).to_owned()).unwrap_or_default();
            format!("{key}={}", value.replace('\\', "\\\\").replace(',', "\\,").replace('+', "\\+"))
        })
        .collect();
    rdns.reverse();
    rdns.join(",")
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({} serial {})", self.subject, self.serial)
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.sha256 == other.sha256
    }
}

impl Eq for Certificate {}

/// One of our own keys with its certificate and, where it has one, the chain above it (nearest first).
pub struct PrivateKey {
    /// The key.
    pub key: PKey<Private>,
    /// Its certificate.
    pub certificate: std::sync::Arc<Certificate>,
    /// Certificates above it, nearest first, for `PKIPath` tokens.
    pub chain: Vec<std::sync::Arc<Certificate>>,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({:?})", self.certificate)
    }
}
