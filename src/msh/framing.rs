//! The HTTP entity of an outgoing message: bare SOAP, or `multipart/related` around it (EB-002…EB-008).

use bytes::Bytes;

use crate::pmode::{Framing, SoapVersion};
use crate::wire::mime::{MimeError, MultipartWriter, content_disposition};
use crate::wire::soap::Version;

/// A part to be framed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramedPart {
    /// Content-ID without brackets.
    pub content_id: String,
    /// `Content-Type` on the wire.
    pub content_type: String,
    /// File name to suggest (EB-017).
    pub file_name: Option<String>,
    /// Octets on the wire.
    pub length: u64,
}

/// Everything of the entity but the parts' octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Framed {
    /// The outer `Content-Type`.
    pub content_type: String,
    /// What comes first: the SOAP part with its head, or bare SOAP.
    pub first: Bytes,
    /// The head of each part.
    pub heads: Vec<Bytes>,
    /// What comes last.
    pub close: Bytes,
    /// Octets in all.
    pub length: u64,
}

/// Frames a message. `boundary` and `root_id` are drawn by the caller.
pub fn frame(
    soap: &str,
    version: SoapVersion,
    framing: Framing,
    parts: &[FramedPart],
    boundary: &str,
    root_id: &str,
) -> Result<Framed, MimeError> {
    let media_type = match version {
        SoapVersion::Soap11 => Version::Soap11.media_type(),
        SoapVersion::Soap12 => Version::Soap12.media_type(),
    };
    let soap_type = format!("{media_type}; charset=UTF-8");
    if parts.is_empty() && framing == Framing::Bare {
        let length = soap.len() as u64;
        let first = Bytes::copy_from_slice(soap.as_bytes());
        return Ok(Framed { content_type: soap_type, first, heads: Vec::new(), close: Bytes::new(), length });
    }
    let mut writer = MultipartWriter::new(boundary)?;
    let content_type = writer.content_type(media_type, root_id)?;
    let root = format!("<{root_id}>");
    let root_head =
        [("Content-Type", soap_type.as_str()), ("Content-Transfer-Encoding", "binary"), ("Content-ID", root.as_str())];
    let mut first = writer.part_head(&root_head)?.to_vec();
    first.extend_from_slice(soap.as_bytes());
    let mut heads = Vec::with_capacity(parts.len());
    for part in parts {
        let id = format!("<{}>", part.content_id);
        let mut head = vec![
            ("Content-Type", part.content_type.as_str()),
            ("Content-Transfer-Encoding", "binary"),
            ("Content-ID", id.as_str()),
        ];
        let disposition = part.file_name.as_deref().map(content_disposition);
        if let Some(disposition) = &disposition {
            head.push(("Content-Disposition", disposition));
        }
        heads.push(writer.part_head(&head)?);
    }
    let close = writer.close();
    let inside: u64 = heads.iter().zip(parts).map(|(head, part)| head.len() as u64 + part.length).sum();
    let length = first.len() as u64 + inside + close.len() as u64;
    Ok(Framed { content_type, first: first.into(), heads, close, length })
}
