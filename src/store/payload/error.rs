//! What can go wrong with payload files.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::Digest;

/// A payload could not be kept or found.
#[derive(Debug, Error)]
pub enum PayloadError {
    /// The file system is full, or as full as `reserve` allows.
    #[error("no space left for payloads in {}: free some or prune old messages", dir.display())]
    NoSpace {
        /// The payload folder.
        dir: PathBuf,
    },
    /// The file system was mounted, or remounted, read-only.
    #[error("{} cannot be written (read-only or not permitted): check the mount and its owner", path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process has the folder.
    #[error("the payload folder {} is in use by another process; stop it, or give this one a [data] dir of its own", dir.display())]
    InUse {
        /// The payload folder.
        dir: PathBuf,
    },
    /// No payload of that digest is here.
    #[error("payload {digest} is not in the store: restore it from the backup")]
    Missing {
        /// Its digest.
        digest: Digest,
    },
    /// What is stored is not what its name says.
    #[error("payload {digest} is damaged on disk: restore it from the backup and check the disk")]
    Damaged {
        /// Its digest.
        digest: Digest,
    },
    /// Anything else the system says.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl PayloadError {
    /// Sorts an error of the system.
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { dir: path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly { path, source },
            _ => Self::Io { what, path, source },
        }
    }

    /// Whether this is ours to repair and the partner should come again: HTTP 503 and nothing else (FR-129).
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::NoSpace { .. } | Self::ReadOnly { .. } | Self::InUse { .. } | Self::Io { .. } => true,
            Self::Missing { .. } | Self::Damaged { .. } => false,
        }
    }
}
