//! The entity of one attempt: framing and SOAP from memory, parts from the payload store, encrypted as they go out.

use std::io;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use crate::msh::Framed;
use crate::store::Part;
use crate::store::payload::{Digest, PayloadStore};
use crate::transport::post::BodySource;
use crate::wss::{ContentKey, PartEncryptor};

/// Opens as often as the transport needs it: a connection that was dead before it began costs nothing.
pub(super) struct AttemptBody {
    pub(super) framed: Framed,
    pub(super) parts: Vec<Part>,
    pub(super) key: Option<ContentKey>,
    pub(super) store: PayloadStore,
}

impl BodySource for AttemptBody {
    fn len(&self) -> Option<u64> {
        Some(self.framed.length)
    }

    fn open(&self) -> BoxStream<'static, io::Result<Bytes>> {
        let mut whole: BoxStream<'static, io::Result<Bytes>> = once(self.framed.first.clone());
        for (head, part) in self.framed.heads.iter().zip(&self.parts) {
            let octets = signed_form(&self.store, part);
            let octets = match &self.key {
                Some(key) => encrypted(octets, key),
                None => octets,
            };
            whole = whole.chain(once(head.clone())).chain(octets).boxed();
        }
        if self.framed.close.is_empty() { whole } else { whole.chain(once(self.framed.close.clone())).boxed() }
    }
}

fn once(octets: Bytes) -> BoxStream<'static, io::Result<Bytes>> {
    stream::once(async move { Ok(octets) }).boxed()
}

/// A part's octets in their signed form.
fn signed_form(store: &PayloadStore, part: &Part) -> BoxStream<'static, io::Result<Bytes>> {
    if let Some(octets) = &part.octets {
        let octets = Bytes::from(octets.clone());
        return if octets.is_empty() { stream::empty().boxed() } else { once(octets) };
    }
    let opened = part
        .sha256
        .parse::<Digest>()
        .map_err(|_| io::Error::other(format!("part {} has no readable digest", part.content_id)))
        .and_then(|digest| store.read(digest).map_err(io::Error::other));
    match opened {
        Ok(reader) => reader.into_stream().map(|chunk| chunk.map_err(io::Error::other)).boxed(),
        Err(error) => stream::once(async move { Err(error) }).boxed(),
    }
}

/// The same octets encrypted: IV, ciphertext, tag.
fn encrypted(octets: BoxStream<'static, io::Result<Bytes>>, key: &ContentKey) -> BoxStream<'static, io::Result<Bytes>> {
    let cipher = PartEncryptor::new(key);
    let state = (octets, cipher.map(Some).map_err(io::Error::other));
    stream::unfold(state, |(mut octets, cipher)| async move {
        let mut cipher = match cipher {
            Ok(Some(cipher)) => cipher,
            Ok(None) => return None,
            Err(error) => return Some((Err(error), (octets, Ok(None)))),
        };
        let mut out = Vec::new();
        match octets.next().await {
            Some(Ok(chunk)) => match cipher.update(&chunk, &mut out) {
                Ok(()) => Some((Ok(out.into()), (octets, Ok(Some(cipher))))),
                Err(error) => Some((Err(io::Error::other(error)), (octets, Ok(None)))),
            },
            Some(Err(error)) => Some((Err(error), (octets, Ok(None)))),
            None => match cipher.finish(&mut out) {
                Ok(()) => Some((Ok(out.into()), (octets, Ok(None)))),
                Err(error) => Some((Err(io::Error::other(error)), (octets, Ok(None)))),
            },
        }
    })
    .boxed()
}
