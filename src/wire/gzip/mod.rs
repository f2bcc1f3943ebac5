//! gzip of payload parts (AS4 §3.1, RFC 1952), push style: what comes from a stranger is checked to the last octet and
//! stopped while it inflates (AT-20), and what we write depends on nothing but the payload.

mod deflate;
mod header;
mod inflate;

#[cfg(test)]
mod tests;

pub use deflate::Deflater;
pub use inflate::{InflateLimits, Inflater};

/// Why a compressed part cannot be used: EBMS:0303 `DecompressionFailure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GzipError {
    /// The first octets are not those of gzip (FR-095).
    #[error("the content does not begin like gzip data")]
    NotGzip,
    /// A header field that RFC 1952 does not allow.
    #[error("gzip header: {0}")]
    Header(&'static str),
    /// Something other than a member follows a member.
    #[error("{0} octets into the content the gzip data ends, and something else follows")]
    TrailingGarbage(u64),
    /// Not a DEFLATE stream.
    #[error("the compressed data is damaged near octet {0}")]
    Damaged(u64),
    /// FR-097.
    #[error("the inflated content does not match its CRC-32")]
    Crc,
    /// FR-097.
    #[error("the inflated content does not match its length field (ISIZE)")]
    Length,
    /// FR-097.
    #[error("the gzip data is cut off after {0} octets")]
    Truncated(u64),
    /// AT-20.
    #[error(
        "the content inflates to more than the {limit} octets that are accepted, or more than {ratio} times its size"
    )]
    Bomb {
        /// Octets accepted.
        limit: u64,
        /// Ratio accepted.
        ratio: u64,
    },
    /// Many members without content keep us busy for nothing.
    #[error("the content has {0} gzip members, most of them next to empty")]
    TooManyMembers(u64),
    /// An earlier call has failed.
    #[error("the gzip stream was used again after an error")]
    Spoilt,
}
