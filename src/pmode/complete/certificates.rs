//! Certificates that P-Modes name: read through the caller, parsed once for a whole set.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openssl::pkey::Id;
use time::OffsetDateTime;

use super::Findings;
use crate::pmode::draft::{CertificateDraft, Set};
use crate::pmode::error::Problem;
use crate::pmode::model::PinnedCertificate;
use crate::wire::hex;
use crate::wss::Certificate;

/// Contents of the files that P-Modes name. The core reads none itself.
pub trait Files {
    /// The octets of a file, or why there are none.
    ///
    /// # Errors
    /// When the file cannot be read; the text goes into the error message.
    fn read(&self, path: &Path) -> Result<Vec<u8>, String>;
}

/// The certificates of one loading.
pub(in crate::pmode) struct Certificates<'f> {
    files: &'f dyn Files,
    parsed: HashMap<PathBuf, Result<Arc<Certificate>, String>>,
}

impl<'f> Certificates<'f> {
    pub(in crate::pmode) fn new(files: &'f dyn Files) -> Self {
        Self { files, parsed: HashMap::new() }
    }

    /// The first certificate of a file: in a chain file that is the end entity, and only it is pinned.
    pub(super) fn first(&mut self, file: &Path) -> Result<Arc<Certificate>, String> {
        if let Some(known) = self.parsed.get(file) {
            return known.clone();
        }
        let outcome = self.files.read(file).and_then(|octets| parse(&octets)).map(Arc::new);
        self.parsed.insert(file.to_owned(), outcome.clone());
        outcome
    }

    /// Takes over the certificates of a party, and looks at each.
    pub(super) fn pin(
        &mut self,
        drafts: &[Set<CertificateDraft>],
        now: OffsetDateTime,
        findings: &mut Findings,
    ) -> Vec<PinnedCertificate> {
        let mut pinned = Vec::new();
        for Set { value: draft, at } in drafts {
            let certificate = match self.first(&draft.file) {
                Ok(certificate) => certificate,
                Err(reason) => {
                    findings.error(at, Problem::File { file: draft.file.clone(), reason });
                    continue;
                }
            };
            if let Some(reason) = unfit(&certificate, draft) {
                findings.error(at, Problem::File { file: draft.file.clone(), reason });
            }
            if let Some(text) = out_of_date(&certificate, draft, now) {
                findings.warning(at, text);
            }
            let CertificateDraft { file, from, until, .. } = draft.clone();
            pinned.push(PinnedCertificate { certificate, file, place: at.clone(), from, until });
        }
        pinned
    }
}

/// PEM or DER.
fn parse(octets: &[u8]) -> Result<Certificate, String> {
    let readable = |e: openssl::error::ErrorStack| format!("it holds no certificate that OpenSSL reads ({e})");
    if octets.first() == Some(&0x30) {
        return Certificate::from_der(octets).map_err(readable);
    }
    let mut all = Certificate::all_from_pem(octets).map_err(readable)?;
    if all.is_empty() {
        return Err("it holds no certificate; expected PEM (BEGIN CERTIFICATE) or DER".to_owned());
    }
    Ok(all.swap_remove(0))
}

/// Why a certificate cannot be used at all (WS-091, fingerprint).
fn unfit(certificate: &Certificate, draft: &CertificateDraft) -> Option<String> {
    let fingerprint = hex(certificate.sha256());
    if draft.sha256.as_ref().is_some_and(|expected| *expected != fingerprint) {
        return Some(format!("its SHA-256 fingerprint is {fingerprint}, not the one that the P-Mode gives"));
    }
    let key = certificate.public_key();
    let least = match key.id() {
        Id::RSA | Id::RSA_PSS => 2048,
        Id::EC => 256,
        _ => 0,
    };
    (key.bits() < least).then(|| format!("its key has {} bits; at least {least} are needed", key.bits()))
}

/// A certificate out of date keeps one partner from being served, not the whole gateway from starting.
fn out_of_date(certificate: &Certificate, draft: &CertificateDraft, now: OffsetDateTime) -> Option<String> {
    let file = draft.file.display();
    let (first, last) = (certificate.not_before(), certificate.not_after());
    if last < now {
        return Some(format!("the certificate in {file} ({}) expired on {last}; replace it", certificate.subject()));
    }
    if now < first {
        return Some(format!("the certificate in {file} ({}) is valid from {first} on", certificate.subject()));
    }
    let empty = draft.from.zip(draft.until).is_some_and(|(from, until)| until < from)
        || draft.from.is_some_and(|from| last < from)
        || draft.until.is_some_and(|until| until < first);
    empty.then(|| format!("the certificate in {file} is never used: its interval and its validity do not meet"))
}
