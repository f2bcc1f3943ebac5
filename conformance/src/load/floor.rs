//! The cryptographic floor: the CPU time of the operations that a received message cannot do without, measured in the
//! same run, on the same cores, by the same library.

use std::hint::black_box;
use std::time::Instant;

use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, Private};
use openssl::rsa::{Padding, Rsa};
use openssl::sign::{Signer, Verifier};
use openssl::symm::{Cipher, decrypt_aead, encrypt_aead};

/// CPU microseconds of each operation.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Floor {
    /// Bits of the RSA keys.
    pub rsa_bits: u32,
    /// One RSA signature.
    pub sign_us: f64,
    /// One RSA verification.
    pub verify_us: f64,
    /// One RSA-OAEP unwrap.
    pub unwrap_us: f64,
    /// SHA-256 of one KiB.
    pub sha256_us_per_kib: f64,
    /// AES-128-GCM of one KiB.
    pub aes_us_per_kib: f64,
}

impl Floor {
    /// Measures each operation for a tenth of a second.
    pub fn measure(rsa_bits: u32) -> anyhow::Result<Self> {
        let key = PKey::from_rsa(Rsa::generate(rsa_bits)?)?;
        let data = vec![7u8; 1 << 20];
        let signature = sign(&key)?;
        let rsa = key.rsa()?;
        let mut wrapped = vec![0u8; rsa.size() as usize];
        rsa.public_encrypt(&[1u8; 16], &mut wrapped, Padding::PKCS1_OAEP)?;
        let mut plain = vec![0u8; rsa.size() as usize];
        let mut tag = [0u8; 16];
        let cipher = Cipher::aes_128_gcm();
        let sealed = encrypt_aead(cipher, &[1; 16], Some(&[2; 12]), &[], &data, &mut tag)?;
        Ok(Self {
            rsa_bits,
            sign_us: microseconds(|| sign(&key).map(drop))?,
            verify_us: microseconds(|| {
                let mut verifier = Verifier::new(MessageDigest::sha256(), &key)?;
                verifier.update(b"floor")?;
                anyhow::ensure!(verifier.verify(&signature)?, "the floor's own signature does not verify");
                Ok(())
            })?,
            unwrap_us: microseconds(|| {
                black_box(rsa.private_decrypt(&wrapped, &mut plain, Padding::PKCS1_OAEP)?);
                Ok(())
            })?,
            sha256_us_per_kib: microseconds(|| {
                black_box(openssl::sha::sha256(&data));
                Ok(())
            })? / 1024.0,
            aes_us_per_kib: microseconds(|| {
                black_box(decrypt_aead(cipher, &[1; 16], Some(&[2; 12]), &[], &sealed, &tag)?);
                Ok(())
            })? / 1024.0,
        })
    }

    /// The floor of receiving one message: verify, hash, (unwrap, decrypt,) and sign the receipt.
    #[must_use]
    pub fn receive_us(&self, bytes: usize, signed: bool, encrypted: bool) -> f64 {
        let kib = bytes as f64 / 1024.0;
        let mut all = 0.0;
        if signed {
            all += self.verify_us + self.sign_us + kib * self.sha256_us_per_kib;
        }
        if encrypted {
            all += self.unwrap_us + kib * self.aes_us_per_kib;
        }
        all
    }
}

fn sign(key: &PKey<Private>) -> anyhow::Result<Vec<u8>> {
    let mut signer = Signer::new(MessageDigest::sha256(), key)?;
    signer.update(b"floor")?;
    Ok(signer.sign_to_vec()?)
}

/// Mean of what a tenth of a second takes, in microseconds.
fn microseconds(mut once: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    once()?;
    let begin = Instant::now();
    let mut count = 0u32;
    while begin.elapsed().as_millis() < 100 {
        once()?;
        count += 1;
    }
    Ok(begin.elapsed().as_secs_f64() * 1e6 / f64::from(count))
}
