//! One payload part on its way in: decrypted, digested, inflated only to check it, hashed: in one pass, in constant memory.
//!
//! Verdicts come in an order that tells a stranger nothing (EB-090): the tag of the cipher, then the signed digest, and
//! only then what the content turned out to be. Trouble with inflating is remembered, not reported, until the part is
//! known to be the signer's.

use openssl::sha::Sha256;

use super::reject::Reject;
use crate::ebms::Cid;
use crate::wire::gzip::Inflater;
use crate::wss::{ContentKey, ExpectedDigest, PartDecryptor, PartDigester, WssError};

/// What is known of a part before its octets come.
#[derive(Clone, Debug)]
pub struct PartPlan {
    /// Its name in PayloadInfo.
    pub cid: Cid,
    /// Position in PayloadInfo.
    pub position: usize,
    /// Media type of the signed form of an encrypted part; that of any other stands in its MIME head (WS-031).
    pub sealed_type: Option<String>,
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

/// A part that was checked.
#[derive(Debug)]
pub struct CheckedPart {
    /// Content-ID.
    pub content_id: String,
    /// Position in PayloadInfo.
    pub position: usize,
    /// Media type of the signed form.
    pub media_type: String,
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
    /// What the timeline should say of how it was read.
    pub note: Option<String>,
}

/// The pass itself.
pub struct PartCheck {
    plan: PartPlan,
    decryptor: Option<PartDecryptor>,
    digester: Option<PartDigester>,
    inflater: Option<Inflater>,
    trouble: Option<String>,
    content: Sha256,
    stored_size: u64,
    size: u64,
    beginning: Vec<u8>,
    plain: Vec<u8>,
}

impl PartCheck {
    /// Makes ready for a part's octets.
    pub fn new(plan: PartPlan) -> Result<Self, Reject> {
        let digester = match &plan.signed {
            Some(reference) => Some(PartDigester::for_reference(reference, &plan.media_type)?),
            None => None,
        };
        Ok(Self {
            decryptor: plan.key.as_ref().map(PartDecryptor::new),
            digester,
            inflater: plan.compressed.then(|| Inflater::new(plan.max_size, plan.max_ratio)),
            trouble: None,
            content: Sha256::new(),
            stored_size: 0,
            size: 0,
            beginning: Vec::new(),
            plain: Vec::new(),
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
    pub fn finish(mut self) -> Result<CheckedPart, Reject> {
        if let Some(decryptor) = self.decryptor.take() {
            decryptor.finish()?;
        }
        let note = match (self.digester.take(), &self.plan.signed) {
            (Some(digester), Some(reference)) => self.compare(&digester.finish()?, &reference.digest)?,
            _ => None,
        };
        if let Some(inflater) = self.inflater.take()
            && self.trouble.is_none()
            && let Err(error) = inflater.finish()
        {
            self.trouble = Some(error.to_string());
        }
        if let Some(why) = self.trouble {
            return Err(Reject::Decompression { part: self.plan.content_id, why });
        }
        Ok(CheckedPart {
            content_id: self.plan.content_id,
            position: self.plan.position,
            media_type: self.plan.media_type,
            stored_size: self.stored_size,
            size: self.size,
            content_sha256: self.content.finish(),
            compressed: self.plan.compressed,
            beginning: self.beginning,
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
                absorb(&mut self.content, &mut self.size, &mut self.beginning, self.plan.keep, signed_form);
                if self.size > self.plan.max_size {
                    let what = format!("part {} has more than {} octets", self.plan.content_id, self.plan.max_size);
                    return Err(Reject::TooLarge(what).into());
                }
            }
            Some(inflater) if self.trouble.is_none() => {
                let (content, size, beginning, keep) =
                    (&mut self.content, &mut self.size, &mut self.beginning, self.plan.keep);
                let inflated = inflater.push(signed_form, &mut |octets: &[u8]| {
                    absorb(content, size, beginning, keep, octets);
                });
                self.trouble = inflated.err().map(|e| e.to_string());
            }
            Some(_) => {}
        }
        sink(signed_form)
    }

    fn compare(&self, found: &PartDigests, expected: &[u8]) -> Result<Option<String>, Reject> {
        found.judge(expected).map_err(|found| Reject::Digest {
            part: self.plan.content_id.clone(),
            expected: super::base64(expected),
            found: super::base64(&found),
        })
    }
}

fn absorb(content: &mut Sha256, size: &mut u64, beginning: &mut Vec<u8>, keep: usize, octets: &[u8]) {
    content.update(octets);
    *size += octets.len() as u64;
    let room = keep.saturating_sub(beginning.len()).min(octets.len());
    beginning.extend_from_slice(&octets[..room]);
}

impl From<WssError> for Reject {
    fn from(error: WssError) -> Self {
        Self::Security { code: error.code(), detail: error.to_string() }
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
    let mut text = String::from("sha256:");
    for octet in hash.finish() {
        use std::fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(text, "{octet:02x}");
    }
    text
}
