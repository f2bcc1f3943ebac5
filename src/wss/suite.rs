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
