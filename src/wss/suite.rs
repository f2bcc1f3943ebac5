//! Algorithm suites as data: identifiers on the wire, and what each one means. New networks add rows here and an arm
//! in `engine`, and touch no caller.

/// Signature algorithms (`ds:SignatureMethod`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256: the AS4 default.
    RsaSha256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    RsaSha384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    RsaSha512,
    /// ECDSA with SHA-256.
    EcdsaSha256,
    /// ECDSA with SHA-384.
    EcdsaSha384,
    /// ECDSA with SHA-512.
    EcdsaSha512,
}

/// Digest algorithms (`ds:DigestMethod`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DigestAlgorithm {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// Content encryption of parts (`xenc:EncryptedData/xenc:EncryptionMethod`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataEncryption {
    /// AES-128-GCM: the AS4 default.
    Aes128Gcm,
    /// AES-192-GCM.
    Aes192Gcm,
    /// AES-256-GCM.
    Aes256Gcm,
}

/// Digest and mask generation of RSA-OAEP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OaepHash {
    /// SHA-1: only where a P-Mode names it.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// Key transport (`xenc:EncryptedKey/xenc:EncryptionMethod`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyTransport {
    /// `xmlenc11#rsa-oaep` with explicit digest and MGF.
    RsaOaep {
        /// `ds:DigestMethod`.
        digest: OaepHash,
        /// `xenc11:MGF`.
        mgf: OaepHash,
    },
    /// `xmlenc#rsa-oaep-mgf1p`: MGF1 is always SHA-1 (FR-042).
    RsaOaepMgf1p {
        /// `ds:DigestMethod`.
        digest: OaepHash,
    },
}

/// How a token (certificate) is named in `wsse:SecurityTokenReference` when sending (WS-010…WS-014).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenReference {
    /// A `wsse:BinarySecurityToken` with one certificate, referred to directly.
    BinarySecurityToken,
    /// A `wsse:BinarySecurityToken` with the whole path.
    PkiPath,
    /// `X509SubjectKeyIdentifier`.
    SubjectKeyIdentifier,
    /// `ds:X509IssuerSerial`.
    IssuerSerial,
    /// `ThumbprintSHA1`.
    Thumbprint,
    /// A `wsse:KeyIdentifier` that holds the certificate (`X509v3`).
    KeyIdentifier,
}

macro_rules! uris {
    ($type:ty { $($variant:ident => $uri:literal),+ $(,)? }) => {
        impl $type {
            /// Its identifier on the wire.
            #[must_use]
            pub fn uri(self) -> &'static str {
                match self { $(Self::$variant => $uri),+ }
            }

            /// The algorithm with that identifier, if we speak it.
            #[must_use]
            pub fn from_uri(uri: &str) -> Option<Self> {
                match uri { $($uri => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

uris!(SignatureAlgorithm {
    RsaSha256 => "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    RsaSha384 => "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384",
    RsaSha512 => "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
    EcdsaSha256 => "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256",
    EcdsaSha384 => "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384",
    EcdsaSha512 => "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512",
});
uris!(DigestAlgorithm {
    Sha256 => "http://www.w3.org/2001/04/xmlenc#sha256",
    Sha384 => "http://www.w3.org/2001/04/xmldsig-more#sha384",
    Sha512 => "http://www.w3.org/2001/04/xmlenc#sha512",
});
uris!(DataEncryption {
    Aes128Gcm => "http://www.w3.org/2009/xmlenc11#aes128-gcm",
    Aes192Gcm => "http://www.w3.org/2009/xmlenc11#aes192-gcm",
    Aes256Gcm => "http://www.w3.org/2009/xmlenc11#aes256-gcm",
});

impl DataEncryption {
    /// Length of the content key in octets.
    #[must_use]
    pub fn key_length(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes192Gcm => 24,
            Self::Aes256Gcm => 32,
        }
    }
}

impl OaepHash {
    /// Its `ds:DigestMethod` identifier.
    #[must_use]
    pub fn digest_uri(self) -> &'static str {
        match self {
            Self::Sha1 => "http://www.w3.org/2000/09/xmldsig#sha1",
            Self::Sha256 => "http://www.w3.org/2001/04/xmlenc#sha256",
            Self::Sha384 => "http://www.w3.org/2001/04/xmldsig-more#sha384",
            Self::Sha512 => "http://www.w3.org/2001/04/xmlenc#sha512",
        }
    }

    /// Its `xenc11:MGF` identifier.
    #[must_use]
    pub fn mgf_uri(self) -> &'static str {
        match self {
            Self::Sha1 => "http://www.w3.org/2009/xmlenc11#mgf1sha1",
            Self::Sha256 => "http://www.w3.org/2009/xmlenc11#mgf1sha256",
            Self::Sha384 => "http://www.w3.org/2009/xmlenc11#mgf1sha384",
            Self::Sha512 => "http://www.w3.org/2009/xmlenc11#mgf1sha512",
        }
    }

    const ALL: [Self; 4] = [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512];

    /// The hash with that `ds:DigestMethod` identifier.
    #[must_use]
    pub fn from_digest_uri(uri: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.digest_uri() == uri)
    }

    /// The hash with that `xenc11:MGF` identifier.
    #[must_use]
    pub fn from_mgf_uri(uri: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.mgf_uri() == uri)
    }
}

impl KeyTransport {
    /// Identifier of [`Self::RsaOaep`].
    pub const RSA_OAEP: &'static str = "http://www.w3.org/2009/xmlenc11#rsa-oaep";
    /// Identifier of [`Self::RsaOaepMgf1p`].
    pub const RSA_OAEP_MGF1P: &'static str = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";
    /// The AS4 default: RSA-OAEP with SHA-256 in both places.
    pub const DEFAULT: Self = Self::RsaOaep { digest: OaepHash::Sha256, mgf: OaepHash::Sha256 };

    /// Its identifier on the wire.
    #[must_use]
    pub fn uri(self) -> &'static str {
        match self {
            Self::RsaOaep { .. } => Self::RSA_OAEP,
            Self::RsaOaepMgf1p { .. } => Self::RSA_OAEP_MGF1P,
        }
    }

    /// The digest and the mask generation hash.
    #[must_use]
    pub fn hashes(self) -> (OaepHash, OaepHash) {
        match self {
            Self::RsaOaep { digest, mgf } => (digest, mgf),
            Self::RsaOaepMgf1p { digest } => (digest, OaepHash::Sha1),
        }
    }

    /// Whether SHA-1 has a part in it.
    #[must_use]
    pub fn uses_sha1(self) -> bool {
        let (digest, mgf) = self.hashes();
        digest == OaepHash::Sha1 || mgf == OaepHash::Sha1
    }
}

impl SignatureAlgorithm {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::RsaSha256, Self::RsaSha384, Self::RsaSha512, Self::EcdsaSha256, Self::EcdsaSha384, Self::EcdsaSha512];

    /// Whether it signs with an RSA key; otherwise with one on an elliptic curve.
    #[must_use]
    pub fn is_rsa(self) -> bool {
        matches!(self, Self::RsaSha256 | Self::RsaSha384 | Self::RsaSha512)
    }

    /// The hash it signs.
    #[must_use]
    pub fn digest(self) -> DigestAlgorithm {
        match self {
            Self::RsaSha256 | Self::EcdsaSha256 => DigestAlgorithm::Sha256,
            Self::RsaSha384 | Self::EcdsaSha384 => DigestAlgorithm::Sha384,
            Self::RsaSha512 | Self::EcdsaSha512 => DigestAlgorithm::Sha512,
        }
    }
}

impl DigestAlgorithm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];
}

impl DataEncryption {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Aes128Gcm, Self::Aes192Gcm, Self::Aes256Gcm];
}
