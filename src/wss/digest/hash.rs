//! SHA-2 in three lengths behind one type.

use openssl::hash::MessageDigest;
use openssl::sha::{Sha256, Sha384, Sha512};

use super::super::suite::DigestAlgorithm;

/// A running digest.
#[derive(Clone)]
pub struct Hasher(State);

#[derive(Clone)]
enum State {
    Sha256(Box<Sha256>),
    Sha384(Box<Sha384>),
    Sha512(Box<Sha512>),
}

impl Hasher {
    /// A digest of nothing yet.
    #[must_use]
    pub fn new(algorithm: DigestAlgorithm) -> Self {
        Self(match algorithm {
            DigestAlgorithm::Sha256 => State::Sha256(Box::default()),
            DigestAlgorithm::Sha384 => State::Sha384(Box::default()),
            DigestAlgorithm::Sha512 => State::Sha512(Box::default()),
        })
    }

    /// Takes the next octets.
    pub fn update(&mut self, octets: &[u8]) {
        match &mut self.0 {
            State::Sha256(state) => state.update(octets),
            State::Sha384(state) => state.update(octets),
            State::Sha512(state) => state.update(octets),
        }
    }

    /// The digest.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        match self.0 {
            State::Sha256(state) => state.finish().to_vec(),
            State::Sha384(state) => state.finish().to_vec(),
            State::Sha512(state) => state.finish().to_vec(),
        }
    }
}

impl DigestAlgorithm {
    /// Length of a digest in octets.
    #[must_use]
    pub fn length(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    pub(in crate::wss) fn openssl(self) -> MessageDigest {
        match self {
            Self::Sha256 => MessageDigest::sha256(),
            Self::Sha384 => MessageDigest::sha384(),
            Self::Sha512 => MessageDigest::sha512(),
        }
    }
}
