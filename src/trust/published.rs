//! Keys that guard nothing: those of the captured exchanges are in this repository with their private halves, so whoever
//! reads it can sign and decrypt as their owners. They are known by their public key, whatever the file is called.

use openssl::pkey::{HasPublic, PKeyRef};

use crate::wire::hex;

/// SHA-256 of each `SubjectPublicKeyInfo`, and whose it is. The authority is here too: it issued the others.
const PUBLISHED: [(&str, &str); 4] = [
    ("41da1df0650bdb74c65240535d2d7c8dc2c315c8f4243d8b952c391b87878668", "AS4 test CA"),
    ("04de8d2088cc006eff60b5d5965ddb9187bec186180599d3fed2124b2c7c380c", "partya"),
    ("ea42d8bf437ef3f9ea03835512db2977324543f9f13f3efba3bec1fe22ddc4af", "partyb"),
    ("dbeb8f07ee8913b2c2024bfa3786935864ec09aeeb645dc0f6cd79f759346d13", "stranger"),
];

/// Says why a key must not be used, when its private half is public knowledge.
pub fn published(key: &PKeyRef<impl HasPublic>) -> Option<String> {
    let fingerprint = hex(&openssl::sha::sha256(&key.public_key_to_der().ok()?));
    let (_, owner) = PUBLISHED.iter().find(|(known, _)| *known == fingerprint)?;
    Some(format!(
        "its key is the throw-away key `{owner}` of Postrider's captured exchanges, whose private half everybody has"
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use openssl::pkcs12::Pkcs12;
    use openssl::pkey::PKey;
    use openssl::x509::X509;

    use super::*;

    /// Every private key and every certificate that lies in the repository, in whatever file.
    #[test]
    fn every_key_kept_beside_the_captures_is_known() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured/keys");
        let mut looked = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let octets = std::fs::read(&path).unwrap();
            let mut keys = Vec::new();
            if let Ok(store) = Pkcs12::from_der(&octets) {
                let store = store.parse2("changeit").unwrap();
                keys.extend(store.pkey.map(|key| key.public_key_to_der().unwrap()));
            } else {
                let all = X509::stack_from_pem(&octets).unwrap();
                keys.extend(all.iter().map(|one| one.public_key().unwrap().public_key_to_der().unwrap()));
            }
            for key in keys {
                let key = PKey::public_key_from_der(&key).unwrap();
                assert!(published(&key).is_some(), "{} holds a key that is not listed", path.display());
                looked += 1;
            }
        }
        assert!(looked >= 9, "{looked}");
    }

    #[test]
    fn a_key_of_ones_own_is_not_known() {
        let key = PKey::from_rsa(openssl::rsa::Rsa::generate(2048).unwrap()).unwrap();
        assert_eq!(published(&key), None);
    }
}
