//! Keys and certificates given with the command: PEM files and PKCS #12 stores.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use zeroize::Zeroizing;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::gateway::explain::Extra;
use crate::wss::{Certificate, PrivateKey};

/// A file of keys is small.
const LARGEST: u64 = 1 << 20;

const KINDS: &str = "name a PEM file of a key with its certificate, or of certificates; or a PKCS #12 store";

/// Reads them all.
pub(super) fn load(files: &[PathBuf], password: Option<&Path>) -> Result<Extra, Failure> {
    let mut extra = Extra::default();
    if files.is_empty() && password.is_none() {
        return Ok(extra);
    }
    let password = self::password(password)?;
    for file in files {
        let octets = small(file)?;
        if memchr::memmem::find(&octets, b"-----BEGIN ").is_some() {
            pem(file, &octets, &password, &mut extra)?;
        } else {
            store(file, &octets, &password, &mut extra)?;
        }
    }
    Ok(extra)
}

fn password(file: Option<&Path>) -> Result<Zeroizing<String>, Failure> {
    let Some(file) = file else {
        return Ok(Zeroizing::new(std::env::var("POSTRIDER_KEY_PASSWORD").unwrap_or_default()));
    };
    let octets = small(file)?;
    let text = std::str::from_utf8(&octets);
    let text = text.map_err(|_| {
        let failure = Failure::new(exit::USAGE, format!("{} is no text in UTF-8", file.display()));
        failure.next("it holds the password of the keys, in one line")
    })?;
    Ok(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}

fn small(file: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let about = std::fs::metadata(file).map_err(|e| Failure::file("read", file, &e))?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(strange(file, "it is no file of at most 1 MiB").next(KINDS));
    }
    std::fs::read(file).map(Zeroizing::new).map_err(|e| Failure::file("read", file, &e))
}

fn strange(file: &Path, why: &str) -> Failure {
    Failure::new(exit::USAGE, format!("{} holds no key or certificate that can be used: {why}", file.display()))
}

fn pem(file: &Path, octets: &[u8], password: &str, extra: &mut Extra) -> Result<(), Failure> {
    let all = Certificate::all_from_pem(octets).map_err(|_| {
        strange(file, "a certificate in it is cut off or damaged").next("get the file again from where it was made")
    })?;
    if memchr::memmem::find(octets, b"PRIVATE KEY-----").is_none() {
        return certificates(file, all, extra);
    }
    // Without a callback OpenSSL would ask for the password on the terminal.
    let key = PKey::private_key_from_pem_passphrase(octets, password.as_bytes()).map_err(|_| {
        strange(file, "the private key cannot be read")
            .next("a password goes into POSTRIDER_KEY_PASSWORD or --password-file")
    })?;
    own(file, key, all, extra)
}

fn store(file: &Path, octets: &[u8], password: &str, extra: &mut Extra) -> Result<(), Failure> {
    let read = Pkcs12::from_der(octets).map_err(|_| strange(file, "it is neither PEM nor PKCS #12").next(KINDS))?;
    let read = read.parse2(password).map_err(|_| {
        let failure = strange(file, "the password is wrong, or the store is damaged");
        failure.next("the password goes into POSTRIDER_KEY_PASSWORD or --password-file")
    })?;
    let first = read.cert.into_iter();
    let others = read.ca.into_iter().flatten();
    let ders: Vec<_> = first.chain(others).filter_map(|certificate| certificate.to_der().ok()).collect();
    let all: Result<Vec<_>, _> = ders.iter().map(|der| Certificate::from_der(der)).collect();
    let all = all.map_err(|e| strange(file, &e.to_string()))?;
    match read.pkey {
        Some(key) => own(file, key, all, extra),
        None => certificates(file, all, extra),
    }
}

/// The certificate that belongs to the key, and the others as its chain.
fn own(file: &Path, key: PKey<Private>, mut all: Vec<Certificate>, extra: &mut Extra) -> Result<(), Failure> {
    let Some(at) = all.iter().position(|certificate| certificate.public_key().public_eq(&key)) else {
        let failure = strange(file, "no certificate in it belongs to the private key");
        return Err(failure.next("cat KEY.pem CERTIFICATE.pem > both.pem, and --key both.pem"));
    };
    let certificate = Arc::new(all.remove(at));
    let chain = all.into_iter().map(Arc::new).collect();
    extra.keys.push(Arc::new(PrivateKey { key, certificate, chain }));
    Ok(())
}

fn certificates(file: &Path, all: Vec<Certificate>, extra: &mut Extra) -> Result<(), Failure> {
    if all.is_empty() {
        return Err(strange(file, "there is no certificate in it").next(KINDS));
    }
    for certificate in all {
        let list =
            if certificate.issuer() == certificate.subject() { &mut extra.anchors } else { &mut extra.certificates };
        list.push(Arc::new(certificate));
    }
    Ok(())
}
