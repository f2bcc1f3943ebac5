//! One payload part on its way in: decrypted, digested, inflated only to check it, hashed: in one pass, in constant memory.
//!
//! Verdicts come in an order that tells a stranger nothing (EB-090): the tag of the cipher, then the signed digest, and
//! only then what the content turned out to be. Trouble with inflating is remembered, not reported, until the part is
//! known to be the signer's.

use openssl::sha::Sha256;

use super::judge::PartLimits;
use super::reject::Reject;
use crate::ebms::{Cid, PartInfo};
use crate::wire::gzip::{GzipError, InflateLimits, Inflater};
use crate::wire::hex;
use crate::wss::{
    ContentKey, DigestRule, EncryptedPart, ExpectedDigest, PartDecryptor, PartDigester, Verified, WssError,
    rule_for_signing, rule_for_verifying,
};

/// What is known of a part before its octets come.
#[derive(Clone, Debug)]
pub struct PartPlan {
    /// Its name in PayloadInfo.
    pub cid: Cid,
    /// Position in PayloadInfo.
    pub position: usize,
    /// Media type of the signed form of an encrypted part; that of any other stands in its MIME head (WS-031).
    pub sealed_type: Option<String>,
    /// Media type of the signed form by the part's own properties, which are signed where MIME heads are not.
    pub said_type: Option<String>,
    /// Content key of an encrypted part.
    pub key: Option<ContentKey>,
    /// What the signature says of it, in a signed leg.
    pub signed: Option<ExpectedDigest>,
    /// Whether the part properties say that it is compressed (EB-171).
    pub compressed: bool,
    /// Limit of the inflated octets.
    pub max_size: u64,
    /// Limit of inflated to compressed octets.
    pub max_ratio: u32,
    /// How much of the content's beginning is kept for the profile's checks.
    pub keep: usize,
}

impl PartPlan {
    /// What PayloadInfo, the signature and the encryption header say of the part that `cid` names; `keep` octets of its
    /// content's beginning are kept.
    #[must_use]
    pub fn new(
        (position, part, cid): (usize, &PartInfo, &Cid),
        verified: Option<&Verified>,
        encrypted: &[EncryptedPart],
        limits: PartLimits,
        keep: usize,
    ) -> Self {
        let sealed = encrypted.iter().find(|e| e.content_id == cid.content_id());
        Self {
            cid: cid.clone(),
            position,
            sealed_type: sealed.map(|s| s.mime_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned())),
            said_type: part.form_type().map(str::to_owned),
            key: sealed.map(|s| s.key.clone()),
            signed: verified.and_then(|v| v.part(&cid.to_string())).cloned(),
            compressed: part.compression().is_some(),
            max_size: limits.size,
            max_ratio: limits.ratio,
            keep,
        }
    }
}

/// A part that was checked.
#[derive(Debug)]
pub struct CheckedPart {
    /// Its name in PayloadInfo.
    pub cid: Cid,
    /// Position in PayloadInfo.
    pub position: usize,
    /// Media type of the signed form.
    pub media_type: Option<String>,
    /// Octets of the signed form.
    pub stored_size: u64,
    /// Octets after inflating.
    pub size: u64,
    /// SHA-256 of the octets after inflating.
    pub content_sha256: [u8; 32],
    /// Whether it is stored compressed.
    pub compressed: bool,
    /// The content's beginning, as far as it was asked for.
    pub beginning: Vec<u8>,
    /// The IV of an encrypted part, for the evidence.
    pub iv: Option<[u8; 12]>,
    /// What the timeline should say of how it was read.
    pub note: Option<String>,
}

/// The pass itself.
pub struct PartCheck {
    plan: PartPlan,
    media_type: Option<String>,
    decryptor: Option<PartDecryptor>,
    digester: Option<PartDigester>,
    inflater: Option<Inflater>,
    trouble: Option<GzipError>,
    content: Content,
    stored_size: u64,
    plain: Vec<u8>,
}

/// The type in the MIME head chooses which octets are digested, and nobody signed it: whoever changes `application/edifact` to
/// `text/plain` may change line ends, too. The part's own properties must choose the same, unless the head's type leaves no
/// choice: every octet counts.
fn one_reading(plan: &PartPlan, media_type: Option<&str>) -> Result<(), Reject> {
    let Some(said) = plan.said_type.as_deref() else { return Ok(()) };
    let said_rules = [rule_for_verifying(Some(said)), rule_for_signing(Some(said))];
    let rules = [rule_for_verifying(media_type), rule_for_signing(media_type)];
    if rules.iter().all(|rule| *rule == DigestRule::Raw || said_rules.contains(rule)) {
        return Ok(());
    }
    let (cid, found) = (plan.cid.content_id(), media_type.unwrap_or_default());
    Err(Reject::Packaging(format!(
        "part <{cid}> has the Content-Type `{found}`, and by its signed properties it is `{said}`: they are not digested alike"
    )))
}

/// What the content turns out to be.
struct Content {
    hash: Sha256,
    size: u64,
    beginning: Vec<u8>,
    keep: usize,
}

impl Content {
    fn absorb(&mut self, octets: &[u8]) {
        self.hash.update(octets);
        self.size += octets.len() as u64;
        let room = self.keep.saturating_sub(self.beginning.len()).min(octets.len());
        self.beginning.extend_from_slice(&octets[..room]);
    }
}

impl PartCheck {
    /// Makes ready for a part's octets. `head_type` is the `Content-Type` of its MIME head.
    pub fn new(plan: PartPlan, head_type: Option<&str>) -> Result<Self, Reject> {
        let media_type = plan.sealed_type.clone().or_else(|| head_type.map(str::to_owned));
        if plan.signed.is_some() {
            one_reading(&plan, media_type.as_deref())?;
        }
        let digester = plan.signed.as_ref().map(|s| PartDigester::verifying(media_type.as_deref(), s.algorithm));
        let limits = InflateLimits { output: plan.max_size, ratio: plan.max_ratio.into(), ..InflateLimits::default() };
        Ok(Self {
            decryptor: plan.key.as_ref().map(PartDecryptor::new).transpose()?,
            digester,
            inflater: plan.compressed.then(|| Inflater::new(limits)),
            trouble: None,
            content: Content { hash: Sha256::new(), size: 0, beginning: Vec::new(), keep: plan.keep },
            stored_size: 0,
            plain: Vec::new(),
            media_type,
            plan,
        })
    }

    /// Takes octets as they come off the wire; `sink` is given the signed form.
    pub fn push<E: From<Reject>>(
        &mut self,
        wire: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(decryptor) = &mut self.decryptor else { return self.take(wire, sink) };
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        decryptor.update(wire, &mut plain).map_err(Reject::from)?;
        let taken = self.take(&plain, sink);
        self.plain = plain;
        taken
    }

    /// Ends the part: the tag, the digest, the content, in this order.
    pub fn finish<E: From<Reject>>(mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<CheckedPart, E> {
        let mut iv = None;
        if let Some(decryptor) = self.decryptor.take() {
            iv = decryptor.iv();
            let mut rest = Vec::new();
            decryptor.finish(&mut rest).map_err(Reject::from)?;
            self.take(&rest, sink)?;
        }
        Ok(self.judge(iv)?)
    }

    fn judge(mut self, iv: Option<[u8; 12]>) -> Result<CheckedPart, Reject> {
        let note = match (self.digester.take(), &self.plan.signed) {
            (Some(digester), Some(signed)) => digester.finish_both().check(&signed.uri, &signed.digest)?,
            _ => None,
        };
        let whole = self.inflater.take().filter(|_| self.trouble.is_none()).map(|inflater| inflater.finish());
        if let Some(error) = self.trouble.or(whole.and_then(Result::err)) {
            let part = self.plan.cid.content_id().to_owned();
            return Err(Reject::Decompression { part, why: error.to_string() });
        }
        let note = note.map(|rule| {
            let name = self.media_type.as_deref().unwrap_or_default();
            format!("part {}: digest agrees when `{name}` is read as {rule:?}", self.plan.cid)
        });
        Ok(CheckedPart {
            cid: self.plan.cid,
            position: self.plan.position,
            media_type: self.media_type,
            stored_size: self.stored_size,
            size: self.content.size,
            content_sha256: self.content.hash.finish(),
            compressed: self.plan.compressed,
            beginning: self.content.beginning,
            iv,
            note,
        })
    }

    fn take<E: From<Reject>>(
        &mut self,
        signed_form: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(digester) = &mut self.digester {
            digester.update(signed_form).map_err(Reject::from)?;
        }
        self.stored_size += signed_form.len() as u64;
        match &mut self.inflater {
            None => {
                self.content.absorb(signed_form);
                if self.content.size > self.plan.max_size {
                    let what = format!("part {} has more than {} octets", self.plan.cid, self.plan.max_size);
                    return Err(Reject::TooLarge(what).into());
                }
            }
            Some(inflater) if self.trouble.is_none() => {
                let content = &mut self.content;
                self.trouble = inflater
                    .push(signed_form, &mut |octets: &[u8]| {
                        content.absorb(octets);
                        Ok::<_, GzipError>(())
                    })
                    .err();
            }
            Some(_) => {}
        }
        sink(signed_form)
    }
}

impl From<WssError> for Reject {
    fn from(error: WssError) -> Self {
        Self::Security(error)
    }
}

/// The payload hash: SHA-256 over the parts in PartInfo order, for each its length (8 octets, big-endian) and the SHA-256
/// of its octets, both after inflating.
#[must_use]
pub fn payload_hash<'p>(parts: impl IntoIterator<Item = (u64, &'p [u8; 32])>) -> String {
    let mut hash = Sha256::new();
    for (size, content) in parts {
        hash.update(&size.to_be_bytes());
        hash.update(content);
    }
    format!("sha256:{}", hex(&hash.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(said: Option<&str>, head: &str) -> Result<(), Reject> {
        let plan = PartPlan {
            cid: Cid::of("p1@node.example"),
            position: 0,
            sealed_type: None,
            said_type: said.map(str::to_owned),
            key: None,
            signed: None,
            compressed: false,
            max_size: 0,
            max_ratio: 0,
            keep: 0,
        };
        one_reading(&plan, Some(head))
    }

    #[test]
    fn a_head_may_not_loosen_what_was_signed() {
        for (said, head) in [
            ("application/edifact", "text/plain"),
            ("application/octet-stream", "application/xml"),
            ("application/octet-stream", "application/xml-dtd"),
            ("application/gzip", "text/plain"),
            ("text/plain", "text/xml"),
            ("application/xml", "text/plain"),
        ] {
            let refused = judged(Some(said), head).unwrap_err();
            assert_eq!(refused.code().as_str(), "EBMS:0007", "{said} {head}");
            assert!(refused.to_string().contains(head) && refused.to_string().contains(said), "{refused}");
        }
    }

    #[test]
    fn a_head_that_leaves_no_choice_or_the_same_one_is_good() {
        for (said, head) in [
            (Some("application/xml"), "text/xml; charset=utf-8"),
            (Some("application/xml"), "application/octet-stream"),
            (Some("text/csv"), "text/plain"),
            (Some("application/gzip"), "application/gzip"),
            (Some("application/xml-dtd"), "application/xml-dtd"),
            (None, "text/plain"),
        ] {
            assert!(judged(said, head).is_ok(), "{said:?} {head}");
        }
    }
}
