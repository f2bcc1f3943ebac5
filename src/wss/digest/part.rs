//! The digest of one part as it streams by.

use super::super::error::WssError;
use super::super::suite::DigestAlgorithm;
use super::hash::Hasher;
use super::rule::{DigestRule, rule_for_signing, rule_for_verifying};
use crate::wire::xml::c14n_stream::StreamCanonicalizer;

/// Digests a part in pieces. When verifying a part whose type can be read in two ways it digests both at once.
pub struct PartDigester {
    lane: Lane,
    other: Option<Lane>,
}

/// What a part digested to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartDigests {
    /// The digest by the first reading, or why there is none.
    pub first: Result<Vec<u8>, WssError>,
    /// How the part was read for it.
    pub rule: DigestRule,
    /// The other reading and its digest, where the two readings of the type differ (WS-032).
    pub other: Option<(DigestRule, Vec<u8>)>,
}

impl PartDigests {
    /// Compares with the signed digest. Gives the rule of the other reading when only that one fits: a fact for the
    /// message's timeline.
    ///
    /// # Errors
    /// When neither fits, or the part of an XML type has no canonical form; `uri` goes into the error.
    pub fn check(&self, uri: &str, expected: &[u8]) -> Result<Option<DigestRule>, WssError> {
        if self.first.as_ref().is_ok_and(|found| found == expected) {
            return Ok(None);
        }
        if let Some((rule, _)) = self.other.as_ref().filter(|(_, found)| found == expected) {
            return Ok(Some(*rule));
        }
        match &self.first {
            Ok(found) => {
                Err(WssError::Digest { uri: uri.to_owned(), expected: expected.to_vec(), found: found.clone() })
            }
            Err(WssError::PartNotXml { why, .. }) => {
                Err(WssError::PartNotXml { uri: uri.to_owned(), why: why.clone() })
            }
            Err(other) => Err(other.clone()),
        }
    }
}

impl PartDigester {
    /// For a part that we sign.
    #[must_use]
    pub fn signing(media_type: Option<&str>, algorithm: DigestAlgorithm) -> Self {
        Self { lane: Lane::new(rule_for_signing(media_type), algorithm), other: None }
    }

    /// For a part whose signature we verify; the type is the decrypted part's (WS-031).
    #[must_use]
    pub fn verifying(media_type: Option<&str>, algorithm: DigestAlgorithm) -> Self {
        let (first, second) = (rule_for_verifying(media_type), rule_for_signing(media_type));
        let other = (first != second).then(|| Lane::new(second, algorithm));
        Self { lane: Lane::new(first, algorithm), other }
    }

    /// By one rule.
    #[must_use]
    pub fn new(rule: DigestRule, algorithm: DigestAlgorithm) -> Self {
        Self { lane: Lane::new(rule, algorithm), other: None }
    }

    /// Takes the next octets.
    ///
    /// # Errors
    /// When the part must be canonicalised and cannot be: nothing that follows will mend that.
    pub fn update(&mut self, octets: &[u8]) -> Result<(), WssError> {
        let outcome = self.lane.update(octets);
        match &mut self.other {
            // The other reading may still hold: what this one says is told at the end.
            Some(other) => other.update(octets).or(outcome),
            None => outcome,
        }
    }

    /// The digest, for a part that we sign.
    ///
    /// # Errors
    /// When the part of an XML type has no canonical form.
    pub fn finish(self) -> Result<Vec<u8>, WssError> {
        self.lane.finish()
    }

    /// The digests by each reading, for a part that we verify.
    #[must_use]
    pub fn finish_both(self) -> PartDigests {
        let rule = self.lane.rule;
        let other = self.other.and_then(|lane| Some((lane.rule, lane.finish().ok()?)));
        PartDigests { first: self.lane.finish(), rule, other }
    }
}

/// One reading of the part.
struct Lane {
    rule: DigestRule,
    hasher: Hasher,
    /// Whether the last octet was a CR, whose line end is already written.
    after_return: bool,
    canonicalizer: Option<Box<StreamCanonicalizer>>,
    failed: Option<WssError>,
}

impl Lane {
    fn new(rule: DigestRule, algorithm: DigestAlgorithm) -> Self {
        let canonicalizer = (rule == DigestRule::Canonical).then(Box::default);
        Self { rule, hasher: Hasher::new(algorithm), after_return: false, canonicalizer, failed: None }
    }

    fn update(&mut self, octets: &[u8]) -> Result<(), WssError> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        match self.rule {
            DigestRule::Raw => self.hasher.update(octets),
            DigestRule::Crlf => self.line_ends(octets),
            DigestRule::Canonical => {
                let hasher = &mut self.hasher;
                if let Some(canonicalizer) = &mut self.canonicalizer
                    && let Err(error) = canonicalizer.push(octets, &mut |canonical| hasher.update(canonical))
                {
                    self.canonicalizer = None;
                    return Err(self.failed.insert(not_xml(&error)).clone());
                }
            }
        }
        Ok(())
    }

    fn line_ends(&mut self, octets: &[u8]) {
        let mut rest = octets;
        if std::mem::take(&mut self.after_return) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            self.after_return = octets.is_empty();
        }
        while let Some(at) = memchr::memchr2(b'\r', b'\n', rest) {
            self.hasher.update(&rest[..at]);
            self.hasher.update(b"\r\n");
            let returned = rest[at] == b'\r';
            rest = &rest[at + 1..];
            if returned {
                self.after_return = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
        }
        self.hasher.update(rest);
    }

    fn finish(self) -> Result<Vec<u8>, WssError> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        if let Some(canonicalizer) = self.canonicalizer {
            canonicalizer.finish().map_err(|error| not_xml(&error))?;
        }
        Ok(self.hasher.finish())
    }
}

fn not_xml(error: &crate::wire::xml::c14n_stream::StreamError) -> WssError {
    WssError::PartNotXml { uri: String::new(), why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    const TEXT: &[u8] = b"a\nb\r\nc\rd";
    const XML: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--c-->\n<?pi x?>\n<p:a  z=\"1\" b='2' xmlns:p=\"urn:p\" xmlns:q=\"urn:q\"><q:b/>\r\n<c/></p:a>\n<?end?>\n";

    fn digest(media_type: &str, octets: &[u8], piece: usize) -> String {
        let mut digester = PartDigester::signing(Some(media_type), DigestAlgorithm::Sha256);
        for octets in octets.chunks(piece) {
            digester.update(octets).unwrap();
            digester.update(&[]).unwrap();
        }
        STANDARD.encode(digester.finish().unwrap())
    }

    #[test]
    fn digests_are_those_of_wss4j_however_the_part_is_cut() {
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(digest("text/plain", TEXT, piece), "fpdM9p/02cAZG6ocnGvF1auiRMhQHKsGUWXk8nI2VjY=");
            assert_eq!(digest("application/octet-stream", TEXT, piece), "DNqt7VW1Jjh8tuqDd0lYvmxmsZB55VTGxhTqSCwCMXk=");
            assert_eq!(digest("application/xml", XML, piece), "JRvh5wIWZgslJUko0ZvHTs+KUsEtWW2xrvpdh4a1xN8=");
            assert_eq!(digest("application/gzip", XML, piece), "ftQMk3V2D7V4uOycnNHXoFwNLjiPMtkOdpHaI/McCvc=");
        }
    }

    #[test]
    fn an_empty_part_has_the_digest_of_nothing() {
        assert_eq!(digest("application/gzip", b"", 1), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn all_three_lengths() {
        for (algorithm, length) in
            [(DigestAlgorithm::Sha256, 32), (DigestAlgorithm::Sha384, 48), (DigestAlgorithm::Sha512, 64)]
        {
            assert_eq!(PartDigester::signing(None, algorithm).finish().unwrap().len(), length);
            assert_eq!(algorithm.length(), length);
        }
    }

    #[test]
    fn the_other_reading_is_tried() {
        // FR-037: WSS4J signed a DTD by its prefix; it is no XML document, but this one happens to be.
        let mut digester = PartDigester::verifying(Some("application/xml-dtd"), DigestAlgorithm::Sha256);
        digester.update(XML).unwrap();
        let digests = digester.finish_both();
        let canonical = STANDARD.decode("JRvh5wIWZgslJUko0ZvHTs+KUsEtWW2xrvpdh4a1xN8=").unwrap();
        let raw = STANDARD.decode("ftQMk3V2D7V4uOycnNHXoFwNLjiPMtkOdpHaI/McCvc=").unwrap();
        assert_eq!(digests.check("cid:a", &canonical), Ok(Some(DigestRule::Canonical)));
        assert_eq!(digests.check("cid:a", &raw), Ok(None));
        assert!(matches!(digests.check("cid:a", &[0; 32]), Err(WssError::Digest { uri, .. }) if uri == "cid:a"));
        // A real DTD fails only in the reading that does not count.
        let mut digester = PartDigester::verifying(Some("application/xml-dtd"), DigestAlgorithm::Sha256);
        digester.update(b"<!ELEMENT a (b)>").unwrap();
        digester.update(b"<!ELEMENT b EMPTY>").unwrap();
        let digests = digester.finish_both();
        assert!(digests.first.is_ok() && digests.other.is_none());
    }

    #[test]
    fn xml_that_cannot_be_canonicalised_is_refused() {
        let mut digester = PartDigester::verifying(Some("text/xml"), DigestAlgorithm::Sha256);
        let refused = digester.update(b"<!DOCTYPE a><a/>").unwrap_err();
        assert_eq!(refused.code(), "EBMS:0101");
        assert!(digester.update(b"<a/>").is_err());
        assert!(
            matches!(digester.finish_both().check("cid:x", &[]), Err(WssError::PartNotXml { uri, .. }) if uri == "cid:x")
        );
        let mut digester = PartDigester::signing(Some("text/xml"), DigestAlgorithm::Sha256);
        digester.update(b"<a>").unwrap();
        assert!(digester.finish().is_err());
    }
}
