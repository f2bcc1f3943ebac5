//! How the second engine gets at payload parts.

/// What is known of a part once it is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenPart {
    /// Its media type with parameters, as the digest rule needs it: the MIME part's `Content-Type`, or for a part that
    /// was encrypted `EncryptedData/@MimeType` (WS-031). Empty when the part has none.
    pub media_type: String,
    /// Its length in octets, where known: a part too large to be canonicalised is then not read at all.
    pub length: Option<u64>,
}

/// A part could not be read; the opinion on the message is then left open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PartUnreadable(
    /// What failed, with the name of the file or object.
    pub String,
);

/// Gives the signed form of parts (decoded, decrypted, still compressed: WS-026), one after the other, chunk by chunk.
pub trait PartReader {
    /// Goes to the start of the part that the `cid:` URI names, written as in `ds:Reference/@URI`. `None`: there is no
    /// such part. A part may be opened again.
    ///
    /// # Errors
    /// When the part exists and cannot be read.
    fn open(&mut self, cid: &str) -> Result<Option<OpenPart>, PartUnreadable>;

    /// The next octets of the open part, as many as the reader likes; none at its end.
    ///
    /// # Errors
    /// When reading fails.
    fn chunk(&mut self) -> Result<&[u8], PartUnreadable>;
}
