//! A payload on its way out: compressed, digested and stored in one pass, before anything is sent.

use openssl::sha::Sha256;

use super::rows;
use crate::ebms::{Cid, Href, PartInfo, Property};
use crate::pmode::Leg;
use crate::store::Part;
use crate::store::payload::{Hold, PayloadError, PayloadStore, Writer};
use crate::wire::gzip::{Deflater, GzipError};
use crate::wire::hex;
use crate::wss::{PartDigester, WssError, readings_differ};

/// What a producer says of a payload.
#[derive(Clone, Debug, Default)]
pub struct PartMeta {
    /// Its media type.
    pub media_type: String,
    /// `CharacterSet`, of text.
    pub character_set: Option<String>,
    /// A file name to suggest to the receiver.
    pub file_name: Option<String>,
    /// Further part properties.
    pub properties: Vec<Property>,
    /// Content-ID to use; drawn when missing.
    pub content_id: Option<String>,
}

/// Why a payload could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum OutPartError {
    /// Our store.
    #[error(transparent)]
    Store(#[from] PayloadError),
    /// The payload does not allow what the P-Mode asks for.
    #[error("payload {position}: {why}")]
    Payload {
        /// From 1.
        position: usize,
        /// Why.
        why: String,
    },
    /// gzip.
    #[error("compression failed: {0}")]
    Gzip(#[from] GzipError),
}

impl From<WssError> for OutPartError {
    fn from(error: WssError) -> Self {
        Self::Payload { position: 0, why: error.to_string() }
    }
}

/// A payload that is stored.
#[derive(Debug)]
pub struct PreparedPart {
    /// Its row, but for the message that it will belong to.
    pub(super) row: Part,
    /// Its entry in PayloadInfo.
    pub(super) info: PartInfo,
    /// SHA-256 of its octets.
    pub(super) content_sha256: [u8; 32],
    /// Keeps its file there until the row is stored.
    pub(super) hold: Option<Hold>,
}

/// The pass.
pub struct OutPart {
    position: usize,
    cid: Cid,
    meta: PartMeta,
    wire_type: String,
    deflater: Option<Deflater>,
    out: Out,
    content: Sha256,
    size: u64,
}

struct Out {
    digester: Option<PartDigester>,
    writer: Writer,
    size: u64,
}

impl Out {
    fn take(&mut self, octets: &[u8]) -> Result<(), OutPartError> {
        if let Some(digester) = &mut self.digester {
            digester.update(octets)?;
        }
        self.size += octets.len() as u64;
        Ok(self.writer.push(octets)?)
    }
}

impl OutPart {
    /// Makes ready for payload number `position`, from 0.
    pub(super) fn new(
        position: usize,
        meta: PartMeta,
        leg: &Leg,
        store: &PayloadStore,
        fresh_id: String,
    ) -> Result<Self, OutPartError> {
        let wire_type = if leg.compress { "application/gzip".to_owned() } else { meta.media_type.clone() };
        if leg.security.sign.is_some() && readings_differ(Some(&wire_type)) {
            let why = format!(
                "media type `{wire_type}` is digested differently by different peers; compress it, or name another type"
            );
            return Err(OutPartError::Payload { position: position + 1, why });
        }
        let cid = Cid::of(&meta.content_id.clone().unwrap_or(fresh_id));
        let digester = leg.security.sign.as_ref().map(|s| PartDigester::signing(Some(&wire_type), s.hash));
        Ok(Self {
            position,
            cid,
            meta,
            wire_type,
            deflater: leg.compress.then(|| Deflater::new(6)),
            out: Out { digester, writer: store.writer(), size: 0 },
            content: Sha256::new(),
            size: 0,
        })
    }

    /// Takes octets of the payload. Blocking.
    pub fn push(&mut self, octets: &[u8]) -> Result<(), OutPartError> {
        self.content.update(octets);
        self.size += octets.len() as u64;
        let out = &mut self.out;
        match &mut self.deflater {
            Some(deflater) => deflater.push(octets, &mut |packed: &[u8]| out.take(packed)),
            None => out.take(octets),
        }
    }

    /// Ends the payload. Blocking: a large one is on the disk after this.
    pub fn finish(mut self) -> Result<PreparedPart, OutPartError> {
        let out = &mut self.out;
        if let Some(deflater) = self.deflater.take() {
            deflater.finish(&mut |packed: &[u8]| out.take(packed))?;
        }
        let position = self.position + 1;
        let digest = self.out.digester.take().map(PartDigester::finish).transpose();
        let digest = digest.map_err(|e| OutPartError::Payload { position, why: e.to_string() })?;
        let stored = self.out.writer.finish()?;
        let content_sha256 = self.content.finish();
        let compressed = self.wire_type != self.meta.media_type && self.wire_type == "application/gzip";
        let row = Part {
            message: String::new(),
            position: i32::try_from(self.position).unwrap_or(i32::MAX),
            content_id: self.cid.content_id().to_owned(),
            media_type: self.wire_type,
            payload_type: self.meta.media_type.clone(),
            file_name: self.meta.file_name.clone(),
            compressed,
            stored_size: rows::signed(self.out.size),
            size: rows::signed(self.size),
            sha256: stored.digest().to_string(),
            content_sha256: hex(&content_sha256),
            digest,
            octets: rows::octets(&stored),
        };
        let info = info(self.cid, &self.meta);
        Ok(PreparedPart { row, info, content_sha256, hold: stored.hold().cloned() })
    }
}

/// Says in PayloadInfo which parts are compressed: the MSH's own property, never the producer's (EB-171).
pub(super) fn mark_compressed(infos: &mut [PartInfo], parts: &[Part]) {
    for (info, part) in infos.iter_mut().zip(parts) {
        if part.compressed {
            let (name, value) = ("CompressionType".to_owned(), "application/gzip".to_owned());
            info.properties.push(Property { name, kind: None, value });
        }
    }
}

/// PartInfo with the properties that a producer answers for.
fn info(cid: Cid, meta: &PartMeta) -> PartInfo {
    let property = |name: &str, value: &str| Property { name: name.to_owned(), kind: None, value: value.to_owned() };
    let mut properties = vec![property("MimeType", &meta.media_type)];
    if let Some(set) = &meta.character_set {
        properties.push(property("CharacterSet", set));
    }
    let own = ["MimeType", "CharacterSet", "CompressionType"];
    properties.extend(meta.properties.iter().filter(|p| !own.contains(&p.name.as_str())).cloned());
    PartInfo { href: Href::Attachment(cid), schema: None, description: None, properties }
}
