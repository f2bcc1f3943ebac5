//! Keys, certificates and tokens: readable, fitting, valid, and for us alone.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use openssl::pkey::{Id, PKey, Private};
use time::OffsetDateTime;

use super::{Context, Finding, Severity};
use crate::config::{FilePath, Secret};
use crate::wss::Certificate;

/// Shortest admin token, in characters.
const TOKEN_LENGTH: usize = 20;
/// A certificate is worth a word this long before it ends.
const NOTICE: time::Duration = time::Duration::days(60);

/// The keys of our parties.
pub(super) fn parties(context: &Context<'_>) -> Vec<Finding> {
    let mut look = Look::new(context);
    if context.loaded.config.party.is_empty() {
        let message = "there is no [[party]]: nothing can be signed or decrypted";
        look.add(Finding::at(Severity::Warning, context.loaded, "party", message).next("postrider init writes one"));
    }
    for (n, party) in context.loaded.config.party.iter().enumerate() {
        for (list, pairs) in [("signing", &party.signing), ("decryption", &party.decryption)] {
            for (m, pair) in pairs.iter().enumerate() {
                let key = format!("party[{n}].{list}[{m}]");
                look.pair(&key, &format!("{list} of party `{}`", party.name), &pair.key, &pair.certificate);
                if let Some(chain) = &pair.chain {
                    look.certificates(&format!("{key}.chain"), "chain", chain);
                }
            }
        }
    }
    look.found
}

/// The keys of listeners.
pub(super) fn listeners(context: &Context<'_>) -> Vec<Finding> {
    let mut look = Look::new(context);
    for (n, msh) in context.loaded.config.msh.iter().enumerate() {
        let Some(tls) = &msh.tls else { continue };
        look.pair(&format!("msh[{n}].tls"), &format!("TLS of {}", msh.listen), &tls.key, &tls.certificate);
        for (m, ca) in tls.client_ca.iter().enumerate() {
            look.certificates(&format!("msh[{n}].tls.client_ca[{m}]"), "authority of TLS clients", ca);
        }
    }
    look.found
}

/// Trust anchors and revocation lists.
pub(super) fn trust(context: &Context<'_>) -> Vec<Finding> {
    let mut look = Look::new(context);
    for anchor in &context.loaded.config.trust.anchors {
        look.certificates("trust.anchors", "trust anchor", anchor);
    }
    for crl in &context.loaded.config.trust.crls {
        look.octets("trust.crls", "revocation list", std::fs::read(crl), crl);
    }
    look.found
}

/// Admin tokens.
pub(super) fn tokens(context: &Context<'_>) -> Vec<Finding> {
    let mut look = Look::new(context);
    for (n, token) in context.loaded.config.admin.token.iter().enumerate() {
        let key = format!("admin.token[{n}].secret");
        look.private_file(&key, &token.secret);
        match token.secret.read_text() {
            Err(error) => look.report(Severity::Error, &key, error.to_string()),
            Ok(text) if text.expose().len() < TOKEN_LENGTH => {
                let message = format!("the token of `{}` is short enough to be guessed", token.name);
                let finding = Finding::at(Severity::Warning, context.loaded, &key, message);
                look.add(finding.next("openssl rand -hex 32"));
            }
            Ok(_) => {}
        }
    }
    look.found
}

/// Collects findings.
struct Look<'a> {
    context: &'a Context<'a>,
    found: Vec<Finding>,
}

impl<'a> Look<'a> {
    fn new(context: &'a Context<'a>) -> Self {
        Self { context, found: Vec::new() }
    }

    fn add(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    fn report(&mut self, severity: Severity, key: &str, message: impl Into<String>) {
        self.add(Finding::at(severity, self.context.loaded, key, message));
    }

    fn octets(&mut self, key: &str, what: &str, read: std::io::Result<Vec<u8>>, path: &Path) -> Option<Vec<u8>> {
        read.map_err(|e| self.report(Severity::Error, key, format!("{what} {} cannot be read: {e}", path.display())))
            .ok()
    }

    /// Secrets in files that others can read.
    fn private_file(&mut self, key: &str, secret: &Secret) {
        let Secret::File(path) = secret else { return };
        let Ok(about) = std::fs::metadata(path) else { return };
        if about.permissions().mode() & 0o077 != 0 {
            let message = format!("{} can be read by other users", path.display());
            let finding = Finding::at(Severity::Warning, self.context.loaded, key, message);
            self.add(finding.next(format!("chmod 600 {}", path.display())));
        }
    }

    /// A private key and its certificate.
    fn pair(&mut self, key: &str, what: &str, secret: &Secret, certificate: &FilePath) {
        let place = format!("{key}.key");
        self.private_file(&place, secret);
        let private = self.private_key(&place, what, secret);
        let certificates = self.certificates(&format!("{key}.certificate"), what, certificate);
        let (Some(private), Some(first)) = (private, certificates.first()) else { return };
        if !first.public_key().public_eq(&private) {
            let message = format!("{what}: the key does not belong to the certificate of {}", first.subject());
            self.report(Severity::Error, &format!("{key}.certificate"), message);
        }
    }

    fn private_key(&mut self, key: &str, what: &str, secret: &Secret) -> Option<PKey<Private>> {
        let pem = match secret.read() {
            Ok(pem) => pem,
            Err(error) => {
                self.report(Severity::Error, key, error.to_string());
                return None;
            }
        };
        // Without a callback OpenSSL would ask for a pass phrase on the terminal.
        let private = PKey::private_key_from_pem_callback(&pem, |_| Ok(0)).ok();
        if private.is_none() {
            let message = format!("{what}: {secret} holds no private key in PEM without pass phrase");
            let finding = Finding::at(Severity::Error, self.context.loaded, key, message);
            self.add(finding.next("openssl pkey -in KEY -out KEY.pem"));
        }
        private
    }

    fn certificates(&mut self, key: &str, what: &str, path: &FilePath) -> Vec<Certificate> {
        let Some(pem) = self.octets(key, what, std::fs::read(path), path) else { return Vec::new() };
        let all = Certificate::all_from_pem(&pem).unwrap_or_default();
        if all.is_empty() {
            self.report(Severity::Error, key, format!("{what}: {} holds no certificate in PEM", path.display()));
        }
        for certificate in &all {
            self.validity(key, what, certificate);
        }
        all
    }

    fn validity(&mut self, key: &str, what: &str, certificate: &Certificate) {
        let now: OffsetDateTime = self.context.now;
        let subject = certificate.subject();
        let (begin, end) = (certificate.not_before(), certificate.not_after());
        let replace = "agree on its successor with the partners that know it, and add it beside this one";
        if end < now {
            let message = format!("{what}: the certificate of {subject} ended {} days ago", (now - end).whole_days());
            self.add(Finding::at(Severity::Error, self.context.loaded, key, message).next(replace));
        } else if end < now + NOTICE {
            let message = format!("{what}: the certificate of {subject} ends in {} days", (end - now).whole_days());
            self.add(Finding::at(Severity::Warning, self.context.loaded, key, message).next(replace));
        } else if begin > now {
            let message = format!("{what}: the certificate of {subject} is not valid before {begin}");
            self.report(Severity::Warning, key, message);
        }
        let public = certificate.public_key();
        if public.id() == Id::RSA && public.bits() < 2048 {
            let message = format!("{what}: the key of {subject} has {} bits, and 2048 are the least", public.bits());
            self.report(Severity::Error, key, message);
        }
    }
}
