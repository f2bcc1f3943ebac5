//! Looks at files of keys and certificates, and collects what is wrong with them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use openssl::pkey::{PKey, Private};
use time::OffsetDateTime;

use super::{Context, Finding, Severity};
use crate::config::{FilePath, Secret};
use crate::trust::{Purpose, TrustError, key_strength, published};
use crate::wss::Certificate;

/// A certificate is worth a word this long before it ends.
const NOTICE: time::Duration = time::Duration::days(30);

/// What to do about a certificate that ends.
pub(super) const REPLACE: &str =
    "agree on its successor with the partners that know it, and add it beside this one before it ends";

/// Whether a certificate is valid now, and for how long.
pub(super) fn validity(certificate: &Certificate, now: OffsetDateTime) -> Option<(Severity, String)> {
    let subject = certificate.subject();
    let (begin, end) = (certificate.not_before(), certificate.not_after());
    if end < now {
        let days = (now - end).whole_days();
        Some((Severity::Error, format!("the certificate of {subject} expired {days} days ago, on {}", end.date())))
    } else if begin > now {
        let days = (begin - now).whole_days();
        let what = format!("the certificate of {subject} is not valid before {}, in {days} days", begin.date());
        Some((Severity::Error, what))
    } else if end < now + NOTICE {
        let days = (end - now).whole_days();
        Some((Severity::Warning, format!("the certificate of {subject} ends in {days} days, on {}", end.date())))
    } else {
        None
    }
}

/// Why a certificate does not suit its purpose, beside its dates and its strength: in the words of what judges messages.
pub(super) fn unsuitable(context: &Context<'_>, certificate: &Certificate, purpose: Purpose) -> Option<String> {
    let certificate = Arc::new(Certificate::from_der(certificate.der()).ok()?);
    let (begin, end) = (certificate.not_before(), certificate.not_after());
    // Its dates are told elsewhere: outside of them it is judged as it was in their midst.
    let at = if certificate.valid_at(context.now) { context.now } else { begin + (end - begin) / 2 };
    let error = context.trust.judge_pinned(&certificate, purpose, at).err()?;
    (!matches!(error, TrustError::WeakKey { .. })).then(|| error.to_string())
}

/// Collects findings.
pub(super) struct Look<'a> {
    context: &'a Context<'a>,
    pub(super) found: Vec<Finding>,
}

impl<'a> Look<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self { context, found: Vec::new() }
    }

    pub(super) fn add(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    pub(super) fn finding(&self, severity: Severity, key: &str, message: impl Into<String>) -> Finding {
        Finding::at(severity, self.context.loaded, key, message)
    }

    /// Something that the gateway does not start with.
    pub(super) fn stops(&mut self, key: &str, message: impl Into<String>, next: impl Into<String>) {
        let finding = self.finding(Severity::Error, key, message).stops().next(next);
        self.add(finding);
    }

    /// Secrets in files that others can read.
    pub(super) fn private_file(&mut self, key: &str, secret: &Secret) {
        let Secret::File(path) = secret else { return };
        let Ok(about) = std::fs::metadata(path) else { return };
        if about.is_file() && about.permissions().mode() & 0o077 != 0 {
            let finding =
                self.finding(Severity::Warning, key, format!("{} can be read by other users", path.display()));
            self.add(finding.next(format!("chmod 600 {}", path.display())));
        }
    }

    /// A private key and its certificates. Gives them when they are a pair.
    pub(super) fn pair(
        &mut self,
        key: &str,
        what: &str,
        secret: &Secret,
        certificate: &FilePath,
    ) -> Option<Vec<Certificate>> {
        let place = format!("{key}.key");
        self.private_file(&place, secret);
        let private = self.private_key(&place, what, secret);
        let certificates = self.certificates(&format!("{key}.certificate"), what, certificate);
        let (private, first) = (private?, certificates.first()?);
        if !first.public_key().public_eq(&private) {
            let subject = first.subject();
            let message = format!("{what}: the key does not belong to the certificate of {subject}");
            let next =
                format!("name the key that was made for {}, or the certificate of this key", certificate.display());
            self.stops(&format!("{key}.certificate"), message, next);
            return None;
        }
        Some(certificates)
    }

    fn private_key(&mut self, key: &str, what: &str, secret: &Secret) -> Option<PKey<Private>> {
        let pem = match secret.read() {
            Ok(pem) => pem,
            Err(error) => {
                self.stops(key, format!("{what}: {error}"), "name a file that the user running postrider can read");
                return None;
            }
        };
        // Without a callback OpenSSL would ask for a pass phrase on the terminal.
        let Ok(private) = PKey::private_key_from_pem_callback(&pem, |_| Ok(0)) else {
            let message = format!("{what}: {secret} holds no private key in PEM without pass phrase");
            self.stops(key, message, "openssl pkey -in KEY -out KEY.pem");
            return None;
        };
        if let Some(why) = published(&private) {
            self.stops(
                key,
                format!("{what}: {secret} cannot be used: {why}"),
                "make a key of your own: postrider init DIR",
            );
            return None;
        }
        Some(private)
    }

    /// The certificates of a PEM file; those that cannot be used are told.
    pub(super) fn certificates(&mut self, key: &str, what: &str, path: &Path) -> Vec<Certificate> {
        let pem = match std::fs::read(path) {
            Ok(pem) => pem,
            Err(error) => {
                let message = format!("{what}: {} cannot be read: {error}", path.display());
                self.stops(key, message, "name a PEM file that the user running postrider can read");
                return Vec::new();
            }
        };
        let all = Certificate::all_from_pem(&pem).unwrap_or_default();
        if all.is_empty() {
            let message = format!("{what}: {} holds no certificate in PEM", path.display());
            self.stops(key, message, "openssl x509 -inform DER -in FILE -out FILE.pem");
        }
        if let Some(why) = all.iter().find_map(|certificate| published(certificate.public_key())) {
            let message = format!("{what}: {} cannot be used: {why}", path.display());
            self.stops(key, message, "name a certificate of your own, or of an authority that you trust");
            return Vec::new();
        }
        all
    }

    /// Whether certificates are valid and strong. `softened` where another one is there to take their place.
    pub(super) fn health(&mut self, key: &str, what: &str, all: &[Certificate], softened: bool) {
        for certificate in all {
            if let Some((severity, told)) = validity(certificate, self.context.now) {
                let severity = if softened { severity.min(Severity::Warning) } else { severity };
                let finding = self.finding(severity, key, format!("{what}: {told}"));
                self.add(finding.next(REPLACE));
            }
            if let Err(kind) = key_strength(certificate.public_key()) {
                let message = format!("{what}: the key of {} is too weak ({kind})", certificate.subject());
                let finding = self.finding(Severity::Error, key, message);
                self.add(finding.next("make a new one: RSA from 2048 bits, elliptic curves from 256"));
            }
        }
    }
}
