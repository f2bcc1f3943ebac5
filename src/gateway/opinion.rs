//! The second opinion on a signature that our engine accepted: libxmlsec1 reads the same parts from the payload store.

use bytes::Bytes;

use super::spool::SpooledPart;
use crate::msh::Reject;
use crate::store::payload::{PayloadStore, Reader, Stored};
use crate::wss::Verified;
use crate::wss::engine::{self, OpenPart, Opinion, PartReader, PartUnreadable};

/// What the timeline says of it.
pub(super) fn second(
    envelope: &str,
    verified: &Verified,
    parts: &[SpooledPart],
    store: &PayloadStore,
    max_canonical: u64,
) -> Result<Option<String>, Reject> {
    let mut reader = StoredParts { parts, store, open: None };
    match engine::second_opinion(envelope, &verified.signer, &mut reader, &verified.references, max_canonical) {
        Opinion::Agrees => Ok(None),
        Opinion::CouldNotJudge { why } => Ok(Some(format!("libxmlsec1 could not judge: {why}"))),
        Opinion::Disagrees { why } => Err(Reject::SecondOpinion(why)),
    }
}

struct StoredParts<'a> {
    parts: &'a [SpooledPart],
    store: &'a PayloadStore,
    open: Option<Open<'a>>,
}

enum Open<'a> {
    Inline { octets: &'a [u8], given: bool },
    File { reader: Reader, chunk: Bytes },
}

impl PartReader for StoredParts<'_> {
    fn open(&mut self, cid: &str) -> Result<Option<OpenPart>, PartUnreadable> {
        let id = crate::wss::content_id(cid);
        let Some(part) = self.parts.iter().find(|p| id.as_deref().is_some_and(|id| p.checked.cid.names(id))) else {
            return Ok(None);
        };
        self.open = Some(match &part.stored {
            Stored::Inline { octets, .. } => Open::Inline { octets, given: false },
            Stored::File { digest, .. } => {
                let reader = self.store.read(*digest).map_err(|e| PartUnreadable(e.to_string()))?;
                Open::File { reader, chunk: Bytes::new() }
            }
        });
        let media_type = part.checked.media_type.clone().unwrap_or_default();
        Ok(Some(OpenPart { media_type, length: Some(part.checked.stored_size) }))
    }

    fn chunk(&mut self) -> Result<&[u8], PartUnreadable> {
        match &mut self.open {
            None => Ok(&[]),
            Some(Open::Inline { octets, given }) => {
                let rest: &[u8] = if std::mem::replace(given, true) { &[] } else { octets };
                Ok(rest)
            }
            Some(Open::File { reader, chunk }) => {
                *chunk = match reader.next() {
                    Some(next) => next.map_err(|e| PartUnreadable(e.to_string()))?,
                    None => Bytes::new(),
                };
                Ok(chunk)
            }
        }
    }
}
