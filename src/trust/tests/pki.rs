//! A small CA.

use openssl::asn1::{Asn1Integer, Asn1Object, Asn1OctetString, Asn1Time};
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::x509::extension::{AuthorityKeyIdentifier, BasicConstraints, KeyUsage, SubjectKeyIdentifier};
use openssl::x509::{X509, X509Builder, X509CrlBuilder, X509Extension, X509Name, X509NameBuilder, X509RevokedBuilder};

use crate::trust::Crl;
use crate::wss::Certificate;

/// 2026-11-30T12:00:00Z.
pub(super) const NOW: i64 = 1_796_040_000;
pub(super) const DAY: i64 = 86_400;

/// What a certificate is to look like.
pub(super) struct Recipe {
    pub(super) name: String,
    pub(super) ca: bool,
    pub(super) from: i64,
    pub(super) until: i64,
    pub(super) key: PKey<Private>,
    pub(super) digest: MessageDigest,
    pub(super) usage: Option<KeyUsage>,
    pub(super) extensions: Vec<X509Extension>,
}

pub(super) fn p256() -> PKey<Private> {
    PKey::from_ec_key(EcKey::generate(&EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap()).unwrap()).unwrap()
}

pub(super) fn rsa(bits: u32) -> PKey<Private> {
    PKey::from_rsa(Rsa::generate(bits).unwrap()).unwrap()
}

/// The extension with these usages.
pub(super) fn usage(set: impl FnOnce(&mut KeyUsage) -> &mut KeyUsage) -> KeyUsage {
    let mut usage = KeyUsage::new();
    set(&mut usage);
    usage
}

impl Recipe {
    pub(super) fn ca(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ca: true,
            from: NOW - 100 * DAY,
            until: NOW + 100 * DAY,
            key: p256(),
            digest: MessageDigest::sha256(),
            usage: Some(usage(|u| u.critical().key_cert_sign().crl_sign())),
            extensions: Vec::new(),
        }
    }

    pub(super) fn leaf(name: &str) -> Self {
        Self { ca: false, usage: Some(usage(|u| u.critical().digital_signature())), ..Self::ca(name) }
    }
}

/// A key with its certificate.
pub(super) struct Authority {
    pub(super) x509: X509,
    pub(super) key: PKey<Private>,
}

fn name(common: &str) -> X509Name {
    let mut builder = X509NameBuilder::new().unwrap();
    builder.append_entry_by_text("O", "Test").unwrap();
    builder.append_entry_by_text("CN", common).unwrap();
    builder.build()
}

fn time(at: i64) -> Asn1Time {
    Asn1Time::from_unix(at).unwrap()
}

fn serial(number: i64) -> Asn1Integer {
    BigNum::from_dec_str(&number.to_string()).unwrap().to_asn1_integer().unwrap()
}

impl Authority {
    pub(super) fn root(recipe: Recipe) -> Self {
        build(recipe, None)
    }

    pub(super) fn issue_ca(&self, recipe: Recipe) -> Self {
        build(recipe, Some(self))
    }

    pub(super) fn issue(&self, recipe: Recipe) -> Self {
        build(recipe, Some(self))
    }

    pub(super) fn certificate(&self) -> Certificate {
        Certificate::from_der(&self.x509.to_der().unwrap()).unwrap()
    }

    /// A list of this issuer, in PEM; valid a day around now unless said otherwise.
    pub(super) fn crl(&self, revoked: &[&Certificate], next_update: i64) -> Vec<u8> {
        self.signed_list(revoked, next_update, None)
    }

    fn signed_list(&self, revoked: &[&Certificate], next_update: i64, scope: Option<X509Extension>) -> Vec<u8> {
        let mut builder = X509CrlBuilder::new().unwrap();
        builder.set_issuer_name(self.x509.subject_name()).unwrap();
        builder.set_last_update(&time(next_update - 2 * DAY)).unwrap();
        builder.set_next_update(&time(next_update)).unwrap();
        for certificate in revoked {
            let mut entry = X509RevokedBuilder::new().unwrap();
            entry.set_serial_number(certificate.x509().serial_number()).unwrap();
            entry.set_revocation_date(&time(NOW - DAY)).unwrap();
            builder.add_revoked(entry.build()).unwrap();
        }
        let ski = self.x509.subject_key_id().unwrap().as_slice();
        let aki = [&[0x30, u8::try_from(ski.len() + 2).unwrap(), 0x80, u8::try_from(ski.len()).unwrap()], ski].concat();
        builder.append_extension(extension("2.5.29.35", false, &aki)).unwrap();
        builder.append_extension(extension("2.5.29.20", false, &[2, 1, 1])).unwrap();
        if let Some(scope) = scope {
            builder.append_extension(scope).unwrap();
        }
        builder.sign(&self.key, MessageDigest::sha256()).unwrap();
        builder.build().unwrap().to_pem().unwrap()
    }

    /// A current list that revokes nobody, with one more extension.
    pub(super) fn list_with(&self, scope: X509Extension) -> Crl {
        Crl::parse_all(&self.signed_list(&[], NOW + DAY, Some(scope))).unwrap().remove(0)
    }

    pub(super) fn list(&self, revoked: &[&Certificate], next_update: i64) -> Crl {
        Crl::parse_all(&self.crl(revoked, next_update)).unwrap().remove(0)
    }
}

/// An extension by its OID and the DER of its value.
pub(super) fn extension(oid: &str, critical: bool, der: &[u8]) -> X509Extension {
    let value = Asn1OctetString::new_from_bytes(der).unwrap();
    X509Extension::new_from_der(&Asn1Object::from_str(oid).unwrap(), critical, &value).unwrap()
}

/// One DER element.
pub(super) fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&[tag, 0x84][..], &length, content].concat()
}

fn build(recipe: Recipe, issuer: Option<&Authority>) -> Authority {
    let subject = name(&recipe.name);
    let mut builder: X509Builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    let random = openssl::sha::sha256(&recipe.key.public_key_to_der().unwrap());
    builder.set_serial_number(&serial(i64::from(u32::from_be_bytes(random[..4].try_into().unwrap())) + 1)).unwrap();
    builder.set_subject_name(&subject).unwrap();
    builder.set_issuer_name(issuer.map_or(&subject, |i| i.x509.subject_name())).unwrap();
    builder.set_not_before(&time(recipe.from)).unwrap();
    builder.set_not_after(&time(recipe.until)).unwrap();
    builder.set_pubkey(&recipe.key).unwrap();
    if recipe.ca {
        builder.append_extension(BasicConstraints::new().critical().ca().build().unwrap()).unwrap();
    }
    if let Some(usage) = &recipe.usage {
        builder.append_extension(usage.build().unwrap()).unwrap();
    }
    let context = builder.x509v3_context(issuer.map(|i| &*i.x509), None);
    let ski = SubjectKeyIdentifier::new().build(&context).unwrap();
    let aki = issuer.map(|_| AuthorityKeyIdentifier::new().keyid(true).build(&context).unwrap());
    builder.append_extension(ski).unwrap();
    for extension in aki.into_iter().chain(recipe.extensions) {
        builder.append_extension(extension).unwrap();
    }
    builder.sign(issuer.map_or(&recipe.key, |i| &i.key), recipe.digest).unwrap();
    Authority { x509: builder.build(), key: recipe.key }
}
