//! AES-GCM over a part as it streams: 12 octets of IV, the ciphertext, 16 octets of tag (WS-043).

use openssl::cipher::{Cipher, CipherRef};
use openssl::cipher_ctx::CipherCtx;
use zeroize::Zeroizing;

use super::error::{DecryptionCause, WssError};
use super::suite::DataEncryption;

const IV: usize = 12;
const TAG: usize = 16;
/// Octets given to OpenSSL at once, whose lengths are C integers.
const PIECE: usize = 1 << 20;

/// A content key. It is wiped when dropped and never printed.
#[derive(Clone)]
pub struct ContentKey {
    algorithm: DataEncryption,
    octets: Zeroizing<Vec<u8>>,
    /// Not what the sender wrapped, but random octets in its place: decryption with it fails at the tag, no sooner.
    stand_in: bool,
}

impl std::fmt::Debug for ContentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ContentKey({:?})", self.algorithm)
    }
}

impl ContentKey {
    /// A fresh key from OpenSSL's generator.
    ///
    /// # Errors
    /// When the generator is out of order.
    pub fn generate(algorithm: DataEncryption) -> Result<Self, WssError> {
        let mut octets = Zeroizing::new(vec![0; algorithm.key_length()]);
        openssl::rand::rand_bytes(&mut octets).map_err(WssError::crypto("drawing a content key"))?;
        Ok(Self { algorithm, octets, stand_in: false })
    }

    /// A random key in the place of one that could not be unwrapped.
    pub(super) fn stand_in(algorithm: DataEncryption) -> Result<Self, WssError> {
        Ok(Self { stand_in: true, ..Self::generate(algorithm)? })
    }

    /// A stored key; `None` when its length is not the algorithm's.
    #[must_use]
    pub fn from_octets(algorithm: DataEncryption, octets: &[u8]) -> Option<Self> {
        let fits = octets.len() == algorithm.key_length();
        fits.then(|| Self { algorithm, octets: Zeroizing::new(octets.to_vec()), stand_in: false })
    }

    /// Its octets: for the evidence store alone.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// What it encrypts with.
    #[must_use]
    pub fn algorithm(&self) -> DataEncryption {
        self.algorithm
    }

    fn cipher(&self) -> &'static CipherRef {
        match self.algorithm {
            DataEncryption::Aes128Gcm => Cipher::aes_128_gcm(),
            DataEncryption::Aes192Gcm => Cipher::aes_192_gcm(),
            DataEncryption::Aes256Gcm => Cipher::aes_256_gcm(),
        }
    }
}

/// Encrypts one part as it streams.
pub struct PartEncryptor {
    context: CipherCtx,
    iv: [u8; IV],
    begun: bool,
}

impl PartEncryptor {
    /// With a fresh IV.
    ///
    /// # Errors
    /// When OpenSSL cannot.
    pub fn new(key: &ContentKey) -> Result<Self, WssError> {
        let mut iv = [0; IV];
        openssl::rand::rand_bytes(&mut iv).map_err(WssError::crypto("drawing an IV"))?;
        Self::with_iv(key, iv)
    }

    /// With a stored IV: it makes again the octets of a part that was sent or received. Never for a new part.
    ///
    /// # Errors
    /// When OpenSSL cannot.
    pub fn with_iv(key: &ContentKey, iv: [u8; IV]) -> Result<Self, WssError> {
        let mut context = CipherCtx::new().map_err(WssError::crypto("preparing encryption"))?;
        context
            .encrypt_init(Some(key.cipher()), Some(&key.octets), Some(&iv))
            .map_err(WssError::crypto("preparing encryption"))?;
        Ok(Self { context, iv, begun: false })
    }

    /// The part's IV.
    #[must_use]
    pub fn iv(&self) -> &[u8; IV] {
        &self.iv
    }

    /// Appends to `out` what `plain` encrypts to; before the first octets, the IV.
    ///
    /// # Errors
    /// When OpenSSL cannot.
    pub fn update(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), WssError> {
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(&self.iv);
        }
        for piece in plain.chunks(PIECE) {
            self.context.cipher_update_vec(piece, out).map_err(WssError::crypto("encrypting a part"))?;
        }
        Ok(())
    }

    /// Appends the tag.
    ///
    /// # Errors
    /// When OpenSSL cannot.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), WssError> {
        self.update(&[], out)?;
        let mut tag = [0; TAG];
        self.context
            .cipher_final_vec(out)
            .and_then(|_| self.context.tag(&mut tag))
            .map_err(WssError::crypto("encrypting a part"))?;
        out.extend_from_slice(&tag);
        Ok(())
    }
}

/// Decrypts one part as it streams. What comes out counts for nothing until [`Self::finish`] has said so.
pub struct PartDecryptor {
    context: CipherCtx,
    key: Option<ContentKey>,
    iv: Vec<u8>,
    /// The last octets seen, which may be the tag.
    held: Vec<u8>,
    stand_in: bool,
}

impl PartDecryptor {
    /// With the key of that part.
    ///
    /// # Errors
    /// When OpenSSL cannot.
    pub fn new(key: &ContentKey) -> Result<Self, WssError> {
        let context = CipherCtx::new().map_err(WssError::crypto("preparing decryption"))?;
        Ok(Self {
            context,
            key: Some(key.clone()),
            iv: Vec::with_capacity(IV),
            held: Vec::with_capacity(2 * TAG),
            stand_in: key.stand_in,
        })
    }

    /// The part's IV, once it has been seen.
    #[must_use]
    pub fn iv(&self) -> Option<[u8; IV]> {
        self.iv.as_slice().try_into().ok()
    }

    /// Appends to `out` what the next octets decrypt to, as far as it is known.
    ///
    /// # Errors
    /// When OpenSSL cannot: never for what the octets are.
    pub fn update(&mut self, octets: &[u8], out: &mut Vec<u8>) -> Result<(), WssError> {
        let (head, rest) = octets.split_at(octets.len().min(IV - self.iv.len()));
        self.iv.extend_from_slice(head);
        if self.iv.len() < IV {
            return Ok(());
        }
        if let Some(key) = self.key.take() {
            self.context
                .decrypt_init(Some(key.cipher()), Some(&key.octets), Some(&self.iv))
                .map_err(WssError::crypto("preparing decryption"))?;
        }
        if self.held.len() + rest.len() <= TAG {
            self.held.extend_from_slice(rest);
            return Ok(());
        }
        let release = self.held.len() + rest.len() - TAG;
        let from_held = release.min(self.held.len());
        self.decrypt_held(from_held, out)?;
        let (cipher, hold) = rest.split_at(release - from_held);
        for piece in cipher.chunks(PIECE) {
            self.context.cipher_update_vec(piece, out).map_err(WssError::crypto("decrypting a part"))?;
        }
        self.held.extend_from_slice(hold);
        Ok(())
    }

    fn decrypt_held(&mut self, count: usize, out: &mut Vec<u8>) -> Result<(), WssError> {
        if count > 0 {
            self.context.cipher_update_vec(&self.held[..count], out).map_err(WssError::crypto("decrypting a part"))?;
            self.held.drain(..count);
        }
        Ok(())
    }

    /// Says whether all that came out is what the sender encrypted.
    ///
    /// # Errors
    /// When the part was too short, altered, or encrypted with another key: one error for all (FR-038, WS-049).
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), WssError> {
        if self.key.is_some() || self.held.len() < TAG {
            return Err(WssError::Decryption(DecryptionCause::Short));
        }
        let checked = self.context.set_tag(&self.held).and_then(|()| self.context.cipher_final_vec(out));
        match checked {
            Ok(_) if !self.stand_in => Ok(()),
            _ if self.stand_in => Err(WssError::Decryption(DecryptionCause::Unwrap)),
            _ => Err(WssError::Decryption(DecryptionCause::Tag)),
        }
    }
}
