//! TLS 1.2 and 1.3 by rustls, for the listeners and for the posts.
//!
//! One provider (aws-lc-rs), named in every configuration: nothing depends on a process-wide default.

mod client;
mod identity;
mod pin;
mod server;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use thiserror::Error;

pub use client::{ClientTls, ClientTlsOptions, Trust};
pub use identity::Identity;
pub use server::{ClientCertificates, ServerTls, ServerTlsOptions};

/// A TLS configuration cannot be made.
#[derive(Debug, Error)]
pub enum TlsError {
    /// The PEM text holds no certificate.
    #[error("{what}: no certificate in the PEM text; give the certificate first, then its intermediates")]
    NoCertificate {
        /// Which file or setting.
        what: String,
    },
    /// The PEM text is broken.
    #[error("{what}: the PEM text cannot be read: {reason}")]
    Pem {
        /// Which file or setting.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The private key is missing, locked or of an unknown kind.
    #[error("{what}: no usable private key: {reason}")]
    Key {
        /// Which file or setting.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Rustls refuses the combination.
    #[error("{what}: {reason}")]
    Refused {
        /// Which file or setting.
        what: String,
        /// What rustls says.
        reason: String,
    },
    /// The system has no root certificates.
    #[error("the system offers no root certificates ({reason}); install ca-certificates or name the partner's anchors")]
    NoRoots {
        /// What was found.
        reason: String,
    },
}

impl TlsError {
    /// A file that cannot be read.
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), reason: error.to_string() }
    }
}

fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    Arc::clone(PROVIDER.get_or_init(|| Arc::new(aws_lc_rs::default_provider())))
}

#[cfg(test)]
pub(in crate::transport) mod tests;
