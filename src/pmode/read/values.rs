//! Values of P-Mode parameters: words, durations, sizes, counts, addresses, algorithms.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::pmode::error::nearest;
use crate::wss::suite::{DataEncryption, DigestAlgorithm, KeyTransport, OaepHash, SignatureAlgorithm, TokenReference};

/// What a value should have been.
pub(super) struct Expected {
    pub(super) text: String,
    pub(super) nearest: Option<String>,
}

impl From<&str> for Expected {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), nearest: None }
    }
}

type Read<T> = Result<T, Expected>;

/// One of several words.
pub(super) fn word<T: Copy>(found: &str, table: &[(&str, T)]) -> Read<T> {
    if let Some((_, value)) = table.iter().find(|(word, _)| *word == found) {
        return Ok(*value);
    }
    let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
    Err(Expected { text: format!("one of {}", words.join(", ")), nearest: nearest(found, words) })
}

/// A word, or one of the URIs by which the specifications name the same thing.
pub(super) fn word_or_uri<T: Copy>(found: &str, prefix: &str, table: &[(&str, T)]) -> Read<T> {
    word(found.strip_prefix(prefix).unwrap_or(found), table)
}

pub(super) fn boolean(found: &str) -> Read<bool> {
    word(found, &[("true", true), ("false", false), ("1", true), ("0", false)])
}

/// Any text that is not empty.
pub(super) fn some_text(found: &str) -> Read<String> {
    if found.is_empty() { Err("some text".into()) } else { Ok(found.to_owned()) }
}

/// Where to send to: `http` or `https`, with a host, without fragment or credentials.
pub(super) fn address(found: &str) -> Read<String> {
    let ok = url::Url::parse(found).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    });
    if ok { Ok(found.to_owned()) } else { Err("an http or https URL such as https://red.example.org/as4".into()) }
}

/// A length of time with its unit.
pub(super) fn duration(found: &str) -> Read<Duration> {
    humantime::parse_duration(found).map_err(|_| "a time with its unit, such as 30s, 1min, 24h or 30d".into())
}

/// A share such as `10%`.
pub(super) fn share(found: &str) -> Read<f64> {
    let percent = found.strip_suffix('%').and_then(|n| n.trim().parse::<f64>().ok());
    percent.filter(|p| (0.0..=100.0).contains(p)).map(|p| p / 100.0).ok_or_else(|| "a share from 0% to 100%".into())
}

/// A factor that waits grow by.
pub(super) fn factor(found: &str) -> Read<f64> {
    let factor = found.parse::<f64>().ok().filter(|f| (1.0..=100.0).contains(f));
    factor.ok_or_else(|| "a number from 1 to 100".into())
}

pub(super) fn count(found: &str) -> Read<u32> {
    found.parse().map_err(|_| "a whole number".into())
}

/// A size with its unit. AS4 counts KB, everybody else octets: a bare number would be read wrongly by one of them.
pub(super) fn size(found: &str) -> Read<u64> {
    let expected = || Expected::from("a size with its unit, such as 10 MiB or 500 kB");
    let split = found.find(|c: char| !c.is_ascii_digit()).ok_or_else(expected)?;
    let (number, unit) = found.split_at(split);
    let factor: u64 = match unit.trim() {
        "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(expected()),
    };
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).ok_or_else(expected)
}

/// How many: `1`, `0..1`, `1..*`.
pub(super) fn range(found: &str) -> Read<(u32, Option<u32>)> {
    let expected = || Expected::from("a count or a range, such as 1, 0..1 or 1..*");
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| expected());
    let (low, high) = match found.split_once("..") {
        None => (number(found)?, Some(number(found)?)),
        Some((low, high)) if high.trim() == "*" => (number(low)?, None),
        Some((low, high)) => (number(low)?, Some(number(high)?)),
    };
    if high.is_some_and(|high| high < low) { Err(expected()) } else { Ok((low, high)) }
}

pub(super) fn instant(found: &str) -> Read<OffsetDateTime> {
    OffsetDateTime::parse(found, &Rfc3339).map_err(|_| "an instant such as 2027-01-31T00:00:00Z".into())
}

/// A SHA-256 fingerprint, with or without colons.
pub(super) fn fingerprint(found: &str) -> Read<String> {
    let plain: String = found.chars().filter(|c| *c != ':').collect::<String>().to_lowercase();
    let ok = plain.len() == 64 && plain.bytes().all(|b| b.is_ascii_hexdigit());
    if ok { Ok(plain) } else { Err("a SHA-256 fingerprint of 64 hexadecimal digits".into()) }
}

/// Where the fragment that names an algorithm may hang.
const HOMES: [&str; 3] = [
    "http://www.w3.org/2001/04/xmldsig-more#",
    "http://www.w3.org/2001/04/xmlenc#",
    "http://www.w3.org/2009/xmlenc11#",
];

/// An algorithm by its URI or by the URI's fragment.
fn algorithm<T>(found: &str, known: &[&str], from_uri: impl Fn(&str) -> Option<T>) -> Read<T> {
    let by_word = || HOMES.iter().find_map(|home| from_uri(&format!("{home}{found}")));
    from_uri(found).or_else(by_word).ok_or_else(|| Expected {
        text: format!("one of {}, or its URI", known.join(", ")),
        nearest: nearest(found, known.iter().copied()),
    })
}

pub(super) fn signature(found: &str) -> Read<SignatureAlgorithm> {
    let known = ["rsa-sha256", "rsa-sha384", "rsa-sha512", "ecdsa-sha256", "ecdsa-sha384", "ecdsa-sha512"];
    algorithm(found, &known, SignatureAlgorithm::from_uri)
}

pub(super) fn digest(found: &str) -> Read<DigestAlgorithm> {
    algorithm(found, &["sha256", "sha384", "sha512"], DigestAlgorithm::from_uri)
}

pub(super) fn encryption(found: &str) -> Read<DataEncryption> {
    algorithm(found, &["aes128-gcm", "aes192-gcm", "aes256-gcm"], DataEncryption::from_uri)
}

const HASHES: [(&str, OaepHash); 4] = [
    ("sha1", OaepHash::Sha1),
    ("sha256", OaepHash::Sha256),
    ("sha384", OaepHash::Sha384),
    ("sha512", OaepHash::Sha512),
];

/// `rsa-oaep` alone, or with digest and mask: `rsa-oaep/sha256/sha256`, `rsa-oaep-mgf1p/sha256`.
pub(super) fn key_transport(found: &str) -> Read<KeyTransport> {
    let mut pieces = found.split('/');
    let name = pieces.next().unwrap_or_default();
    let hash = |word_: Option<&str>, default| word_.map_or(Ok(default), |w| word(w, &HASHES));
    let transport = match name {
        "rsa-oaep" => {
            let digest = hash(pieces.next(), OaepHash::Sha256)?;
            KeyTransport::RsaOaep { digest, mgf: hash(pieces.next(), digest)? }
        }
        "rsa-oaep-mgf1p" => KeyTransport::RsaOaepMgf1p { digest: hash(pieces.next(), OaepHash::Sha1)? },
        _ => {
            let expected = "rsa-oaep (digest and mask sha256), rsa-oaep/sha256/sha1 or rsa-oaep-mgf1p/sha1";
            return Err(Expected { text: expected.into(), nearest: nearest(name, ["rsa-oaep", "rsa-oaep-mgf1p"]) });
        }
    };
    if pieces.next().is_some() { Err("at most a digest and a mask after the name".into()) } else { Ok(transport) }
}

/// Names of the ways to refer to a token.
pub(in crate::pmode) const TOKENS: [(&str, TokenReference); 6] = [
    ("BinarySecurityToken", TokenReference::BinarySecurityToken),
    ("PKIPath", TokenReference::PkiPath),
    ("SubjectKeyIdentifier", TokenReference::SubjectKeyIdentifier),
    ("IssuerSerial", TokenReference::IssuerSerial),
    ("Thumbprint", TokenReference::Thumbprint),
    ("KeyIdentifier", TokenReference::KeyIdentifier),
];

pub(super) fn token(found: &str) -> Read<TokenReference> {
    word(found, &TOKENS)
}
