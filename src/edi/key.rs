//! Business keys: what makes two payloads the same business document, as text (OUT-05, OUT-40 to OUT-52).
//!
//! **Canonical form.** A key is a list of components joined by `:`. Within a component `A-Z a-z 0-9 . _ -` stand for
//! themselves, every other octet of its UTF-8 is `%XX`. So no component can hold a separator, and two lists give the
//! same text only if they are equal. A component that is absent is empty.
//!
//! **Case and Unicode.** Case counts: `a-1` and `A-1` are two invoices. Code points count: nothing is normalised, for
//! one system writes one number always the same. White space at the ends does not count, and runs of it inside are one
//! blank (`xs:token`). The encoding of the document does not count: `ü` in ISO 8859-1, UTF-8 and UTF-16 is one `ü`.
//!
//! **Length.** A key fits into a database index: what is longer than [`BusinessKey::LONGEST`] ends in `~` and the
//! SHA-256 of the whole, which no short key does.

use std::fmt::Write;

use crate::wire::hex;

/// The key under which a business document or an acknowledgement has its one effect: `once(source, key, effect)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BusinessKey {
    /// Namespace of the key: the format, and who gave the number (IN-20).
    pub source: String,
    /// The key in it.
    pub key: String,
}

impl BusinessKey {
    /// Characters of a source or a key.
    pub const LONGEST: usize = 400;

    /// A key of these components.
    pub fn new(source: &[&str], key: &[&str]) -> Self {
        Self { source: joined(source), key: joined(key) }
    }
}

impl std::fmt::Display for BusinessKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.source, self.key)
    }
}

/// The key of an SBDH (OUT-49): C2's Seat ID and `InstanceIdentifier`.
pub fn instance_key(seat: &str, instance: &str) -> BusinessKey {
    BusinessKey::new(&["sbdh", seat], &[instance])
}

fn joined(components: &[&str]) -> String {
    let mut text = String::new();
    for (n, component) in components.iter().enumerate() {
        if n > 0 {
            text.push(':');
        }
        escape(component, '%', |b| matches!(b, b'.' | b'_' | b'-'), &mut text);
    }
    shortened(text, BusinessKey::LONGEST, "~", 32)
}

/// Letters and digits of ASCII and what `keeps` names stand for themselves, other octets are `mark` and two digits.
pub(super) fn escape(value: &str, mark: char, keeps: impl Fn(u8) -> bool, text: &mut String) {
    for octet in value.bytes() {
        if octet.is_ascii_alphanumeric() || keeps(octet) {
            text.push(char::from(octet));
        } else {
            text.push(mark);
            // Writing into a String cannot fail.
            let _ = write!(text, "{octet:02X}");
        }
    }
}

/// Cuts an ASCII text that is too long, and ends it with `mark` and `octets` of the SHA-256 of the whole.
pub(super) fn shortened(text: String, longest: usize, mark: &str, octets: usize) -> String {
    if text.len() <= longest {
        return text;
    }
    let hash = hex(&openssl::sha::sha256(text.as_bytes())[..octets]);
    let kept = text.get(..longest.saturating_sub(mark.len() + hash.len())).unwrap_or_default();
    format!("{kept}{mark}{hash}")
}

/// A value as keys see it: white space at the ends gone, runs of it inside one blank.
pub(super) fn token(text: &str) -> String {
    text.split([' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `20261102…` as `2026-11-02`, where it begins with such a date (format 102, 203, 204).
pub(super) fn date(digits: &str) -> Option<String> {
    let date = digits.get(..8).filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
    calendar(format!("{}-{}-{}", &date[..4], &date[4..6], &date[6..]))
}

/// `2026-11-02`, with or without a time zone, where it is one (`xs:date`).
pub(super) fn iso_date(text: &str) -> Option<String> {
    let (date, zone) = text.split_at_checked(10)?;
    let zoned = zone.is_empty() || zone == "Z" || (zone.len() == 6 && zone.starts_with(['+', '-']));
    zoned.then(|| calendar(date.to_owned())).flatten()
}

fn calendar(date: String) -> Option<String> {
    let number = |range: std::ops::Range<usize>| {
        let digits = date.get(range).filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
        digits.parse::<u8>().ok()
    };
    let year = date.get(..4)?.bytes().all(|b| b.is_ascii_digit());
    let dashed = date.as_bytes().get(4) == Some(&b'-') && date.as_bytes().get(7) == Some(&b'-');
    let good = year && dashed && (1..=12).contains(&number(5..7)?) && (1..=31).contains(&number(8..10)?);
    good.then_some(date)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn components_stay_apart_whatever_they_hold() {
        let key = |parts: &[&str]| BusinessKey::new(&["ubl"], parts).key;
        assert_eq!(key(&["380", "2026/0001 ü", "2026"]), "380:2026%2F0001%20%C3%BC:2026");
        assert_eq!(key(&["a:b", "c"]), "a%3Ab:c");
        assert_ne!(key(&["a", "b:c"]), key(&["a:b", "c"]));
        assert_ne!(key(&["a%3Ab"]), key(&["a:b"]));
        assert_ne!(key(&["", "a"]), key(&["a", ""]));
        assert_ne!(key(&["INV-1"]), key(&["inv-1"]));
        assert_ne!(key(&["u\u{308}"]), key(&["ü"]));
    }

    #[test]
    fn a_long_key_ends_in_its_hash() {
        let key = |n: usize| BusinessKey::new(&["ubl"], &[&"x".repeat(n)]).key;
        assert_eq!(key(400), "x".repeat(400));
        assert_eq!(key(401).len(), 400);
        assert!(key(401).contains("xxx~"));
        assert_ne!(key(401), key(402));
    }

    #[test]
    fn dates_are_dates_or_nothing() {
        assert_eq!(date("20261102").as_deref(), Some("2026-11-02"));
        assert_eq!(date("202611021015").as_deref(), Some("2026-11-02"));
        assert_eq!(iso_date("2026-11-02+01:00").as_deref(), Some("2026-11-02"));
        assert_eq!(iso_date("2026-11-02Z").as_deref(), Some("2026-11-02"));
        for bad in ["2026-13-02", "2026-11-00", "2026-11-0ü", "2026-11-02T10:15", "", "+026-11-02", "2026-11-+2"] {
            assert_eq!(iso_date(bad), None, "{bad}");
        }
        assert_eq!(date("2026110"), None);
        assert_eq!(date("20261302"), None);
    }

    fn parts() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[a:%~ü-]{0,4}", 1..4)
    }

    proptest! {
        #[test]
        fn two_lists_give_one_key_only_if_equal(a in parts(), b in parts()) {
            let key = |parts: &[String]| joined(&parts.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert_eq!(key(&a) == key(&b), a == b);
        }
    }
}
