//! Sees a commit of SQLite from outside: each one changes the header of the write-ahead log's index, the `-shm` file, after
//! its frames are on the disk.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Version, unused, then the counter of changes.
const COUNTER: u64 = 8;

/// An open `-shm` file.
#[derive(Debug)]
pub(super) struct Commits(File);

impl Commits {
    /// Opens the index of that database.
    pub(super) fn open(database: &Path) -> std::io::Result<Self> {
        let mut path = database.as_os_str().to_owned();
        path.push("-shm");
        File::open(path).map(Self)
    }

    /// A number that every commit changes.
    pub(super) fn count(&self) -> Option<u32> {
        let mut octets = [0; 4];
        self.0.read_exact_at(&mut octets, COUNTER).ok()?;
        Some(u32::from_ne_bytes(octets))
    }
}
