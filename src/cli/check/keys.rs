//! Keys, certificates and tokens of the configuration: readable, fitting, valid, strong, and for us alone.

use openssl::x509::X509KeyUsage;

use super::look::{Look, unsuitable};
use super::{Context, Finding, Severity};
use crate::cli::serve::server_tls;
use crate::config::KeyConfig;
use crate::trust::{Crl, Purpose};
use crate::wss::Certificate;

/// Shortest admin token, in characters.
const TOKEN_LENGTH: usize = 20;

/// The keys of our parties.
pub(super) fn parties(context: &Context<'_>) -> Vec<Finding> {
    let mut look = Look::new(context);
    if context.loaded.config.party.is_empty() {
        let message = "there is no [[party]]: nothing can be signed or decrypted";
        let finding = look.finding(Severity::Warning, "party", message);
        look.add(finding.next("add [[party]] with the party id that partners know; postrider init DIR shows one"));
    }
    for (n, party) in context.loaded.config.party.iter().enumerate() {
        let lists = [("signing", &party.signing, Purpose::Sign), ("decryption", &party.decryption, Purpose::Encrypt)];
        for (list, pairs, purpose) in lists {
            party_keys(&mut look, context, &format!("party[{n}].{list}"), &party.name, (list, pairs, purpose));
        }
    }
    look.found
}

fn party_keys(
    look: &mut Look<'_>,
    context: &Context<'_>,
    list: &str,
    party: &str,
    (name, pairs, purpose): (&str, &[KeyConfig], Purpose),
) {
    let what = format!("{name} key of party `{party}`");
    let mut good: Vec<(String, Vec<Certificate>)> = Vec::new();
    for (m, pair) in pairs.iter().enumerate() {
        let key = format!("{list}[{m}]");
        if let Some(certificates) = look.pair(&key, &what, &pair.key, &pair.certificate) {
            good.push((format!("{key}.certificate"), certificates));
        }
        if let Some(chain) = &pair.chain {
            let key = format!("{key}.chain");
            let all = look.certificates(&key, "certificate chain", chain);
            look.health(&key, "certificate chain", &all, false);
        }
    }
    let valid = |all: &[Certificate]| all.first().is_some_and(|own| own.valid_at(context.now));
    let spare = good.iter().filter(|(_, all)| valid(all)).count();
    for (key, all) in &good {
        // The last one that is valid has nothing to take its place.
        let others = spare - usize::from(valid(all));
        look.health(key, &what, all, others > 0);
        let Some(own) = all.first() else { continue };
        if let Some(told) = unsuitable(context, own, purpose) {
            let finding = look.finding(Severity::Error, key, format!("{what}: {told}"));
            look.add(finding.next("have it issued anew with that key usage"));
        }
    }
}

/// The keys of listeners.
pub(super) fn listeners(context: &Context<'_>) -> Vec<Finding> {
    let mut look = Look::new(context);
    for (n, msh) in context.loaded.config.msh.iter().enumerate() {
        let Some(tls) = &msh.tls else { continue };
        let (key, what) = (format!("msh[{n}].tls"), format!("TLS of {}", msh.listen));
        let before = look.found.iter().filter(|finding| finding.stops).count();
        if let Some(all) = look.pair(&key, &what, &tls.key, &tls.certificate) {
            look.health(&format!("{key}.certificate"), &what, &all, false);
        }
        for (m, ca) in tls.client_ca.iter().enumerate() {
            let (key, what) = (format!("{key}.client_ca[{m}]"), "authority of TLS clients");
            let all = look.certificates(&key, what, ca);
            look.health(&key, what, &all, false);
        }
        let told = look.found.iter().filter(|finding| finding.stops).count() > before;
        // What is left is what only the TLS library knows, such as a kind of key that it does not speak.
        if let (false, Err(failure)) = (told, server_tls(tls)) {
            look.stops(&key, failure.cause, "give it a certificate with an RSA, ECDSA or Ed25519 key, and its chain");
        }
    }
    look.found
}

/// Trust anchors and revocation lists.
pub(super) fn trust(context: &Context<'_>) -> Vec<Finding> {
    let mut look = Look::new(context);
    let trust = &context.loaded.config.trust;
    for anchor in &trust.anchors {
        let (key, what) = ("trust.anchors", format!("trust anchor {}", anchor.display()));
        let all = look.certificates(key, "trust anchor", anchor);
        look.health(key, &what, &all, false);
        for one in &all {
            let usage = one.x509().key_usage();
            if usage.is_some_and(|usage| !usage.contains(X509KeyUsage::KEY_CERT_SIGN)) {
                let message = format!("{what}: {} may not issue certificates (key usage keyCertSign)", one.subject());
                let finding = look.finding(Severity::Warning, key, message);
                look.add(finding.next("name the authority's certificate; a partner's own goes into its P-Mode"));
            }
        }
    }
    for path in &trust.crls {
        match Crl::read_all(path) {
            Err(error) => {
                look.stops("trust.crls", error.to_string(), "fetch it from its issuer again, in PEM or DER");
            }
            Ok(lists) => {
                for due in lists.iter().filter_map(Crl::next_update).filter(|due| *due < context.now) {
                    let severity = if trust.hard_fail { Severity::Error } else { Severity::Warning };
                    let message =
                        format!("revocation list {} should have been replaced by {}", path.display(), due.date());
                    let finding = look.finding(severity, "trust.crls", message);
                    look.add(finding.next("fetch the current one from its issuer"));
                }
            }
        }
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
            Err(error) => {
                let message = format!("the token of `{}`: {error}", token.name);
                look.stops(&key, message, "write one there, and name it: openssl rand -hex 32 > FILE");
            }
            Ok(text) if text.expose().len() < TOKEN_LENGTH => {
                let message = format!("the token of `{}` is short enough to be guessed", token.name);
                let finding = look.finding(Severity::Warning, &key, message);
                look.add(finding.next("openssl rand -hex 32"));
            }
            Ok(_) => {}
        }
    }
    look.found
}
