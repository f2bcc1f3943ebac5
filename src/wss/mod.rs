//! Ring 0: WS-Security for AS4: sign, verify, encrypt, decrypt.
//!
//! The engine is ours, over the tree of [`crate::wire::xml`] and OpenSSL's cryptography. It knows which nodes it has
//! verified and hands exactly those on. The order in which a message is judged: [`header::read`], [`verify()`],
//! [`require_coverage`], [`unwrap_keys`], then each part through [`PartDecryptor`] and [`PartDigester`].

mod cache;
mod certificate;
mod complete;
mod compose;
mod coverage;
mod decrypt;
mod der;
mod digest;
mod encrypt;
pub mod engine;
mod error;
mod gcm;
pub mod header;
mod name;
mod oaep;
mod query;
mod reference;
mod sign;
mod signature_value;
pub mod suite;
mod token;
mod verify;

#[cfg(test)]
mod tests;

pub use cache::CertificateCache;
pub use certificate::{Certificate, PrivateKey};
pub use complete::CompleteHead;
pub use compose::compose;
pub use coverage::{BodyRule, require_coverage};
pub use decrypt::{DecryptPolicy, DecryptionKeys, Decryptor, EncryptedPart, require_encryption, unwrap_keys};
pub use digest::{
    DigestRule, Hasher, PartDigester, PartDigests, readings_differ, rule_for_signing, rule_for_verifying,
};
pub use encrypt::{EncryptIds, EncryptOptions, PartToEncrypt, encrypt_header};
pub use error::{DecryptionCause, Failure, WssError};
pub use gcm::{ContentKey, PartDecryptor, PartEncryptor};
pub use header::SecurityHeader;
pub use name::same_name;
pub use query::{CertificateQuery, CertificateSource};
pub use reference::{Reference, Transform, content_id};
pub use sign::{PartToSign, SignIds, SignOptions, Signed, Signer, sign};
pub use verify::{ExpectedDigest, Verified, VerifyPolicy, verify};
