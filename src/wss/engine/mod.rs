//! libxmlsec1 as second opinion on every signature, and the only home of `unsafe`.
//!
//! After our own engine accepted a message, [`second_opinion`] has libxmlsec1 and libxml2 verify the same signature
//! from the envelope's text on: they parse, find the signature, resolve the references, canonicalise and digest by
//! themselves. The message counts as authentic only if both engines agree on the signature and on the list of
//! references. Nothing is taken over from the first engine but the signer's certificate, which the trust check
//! accepted; the key in the message is never read.
//!
//! What libxmlsec1 is kept from: it reads no file and opens no connection (its callbacks are removed and only an empty
//! source for `cid:` is put in), it sees no DTD, and it may use only exclusive C14N, the content transform of SOAP with attachments,
//! SHA-256/384/512, RSA and ECDSA. Parts are streamed to it by [`PartReader`], never kept.
//!
//! Without the cargo feature `xmlsec` every opinion is [`Opinion::CouldNotJudge`].
#![expect(unsafe_code, reason = "this module is the foreign function boundary; each block states its invariant")]

mod crl;
mod opinion;
mod part;

#[cfg(feature = "xmlsec")]
mod claims;
#[cfg(feature = "xmlsec")]
mod content;
#[cfg(feature = "xmlsec")]
mod context;
#[cfg(feature = "xmlsec")]
mod ffi;
#[cfg(feature = "xmlsec")]
mod judge;
#[cfg(feature = "xmlsec")]
mod library;
#[cfg(feature = "xmlsec")]
mod session;
#[cfg(feature = "xmlsec")]
mod sign;
#[cfg(feature = "xmlsec")]
mod trail;
#[cfg(feature = "xmlsec")]
mod tree;

#[cfg(not(feature = "xmlsec"))]
mod absent;

#[cfg(all(test, feature = "xmlsec"))]
mod tests;

#[cfg(not(feature = "xmlsec"))]
pub use absent::second_opinion;
pub use crl::add_crl;
#[cfg(feature = "xmlsec")]
pub use judge::second_opinion;
pub use opinion::{Opinion, SECOND_OPINION_MAX};
pub use part::{OpenPart, PartReader, PartUnreadable};
#[cfg(feature = "xmlsec")]
pub use sign::{SignFailed, sign};
