//! Paths of the configuration.

use std::ffi::OsString;
use std::fmt;
use std::ops::Deref;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A path that was written relative to the file that names it, and is now relative to the working directory or absolute.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FilePath(PathBuf);

impl FilePath {
    /// Name by which the decoder knows that a value is a path, and resolves it.
    pub(super) const NAME: &'static str = "postrider::FilePath";
}

impl From<PathBuf> for FilePath {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl Deref for FilePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for FilePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Debug for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(Self::NAME, PathVisitor)
    }
}

struct PathVisitor;

impl Visitor<'_> for PathVisitor {
    type Value = FilePath;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path")
    }

    fn visit_byte_buf<E: Error>(self, path: Vec<u8>) -> Result<FilePath, E> {
        Ok(FilePath(PathBuf::from(OsString::from_vec(path))))
    }
}
