//! The folder of payloads.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fs4::fs_std::FileExt;

use super::hold::Holds;
use super::{Digest, Hold, PayloadError, Reader, Writer};

const INCOMING: &str = "incoming";

/// How a store keeps payloads.
#[derive(Clone, Copy, Debug)]
pub struct PayloadOptions {
    /// Payloads of up to so many octets are left to the caller's row.
    pub inline: usize,
    /// Free octets that payloads leave on the file system, for the database beside them.
    pub reserve: u64,
}

impl Default for PayloadOptions {
    fn default() -> Self {
        Self { inline: 64 << 10, reserve: 64 << 20 }
    }
}

/// Payloads in one folder; clones share it.
#[derive(Clone, Debug)]
pub struct PayloadStore {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) dir: PathBuf,
    pub(super) options: PayloadOptions,
    /// Locked while a file gets or loses its final name.
    naming: Mutex<Holds>,
    /// Held as long as this process has the folder.
    _lock: File,
}

impl PayloadStore {
    /// Opens or makes the folder, and removes what writers of a former process left unfinished. One process has a folder:
    /// another would take its unfinished files away, and could remove one that this one has just come to need.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, PayloadError> {
        Self::open_with(dir, PayloadOptions::default())
    }

    /// [`Self::open`] with other numbers.
    pub fn open_with(dir: impl Into<PathBuf>, options: PayloadOptions) -> Result<Self, PayloadError> {
        let dir = dir.into();
        let incoming = dir.join(INCOMING);
        fs::create_dir_all(&incoming).map_err(PayloadError::io("make the folder", &incoming))?;
        let lock = lock(&dir)?;
        let entries = fs::read_dir(&incoming).map_err(PayloadError::io("read the folder", &incoming))?;
        for entry in entries {
            let path = entry.map_err(PayloadError::io("read the folder", &incoming))?.path();
            fs::remove_file(&path).map_err(PayloadError::io("remove the unfinished file", &path))?;
        }
        sync_dir(&dir)?;
        Ok(Self { shared: Arc::new(Shared { dir, options, naming: Mutex::default(), _lock: lock }) })
    }

    /// Begins a payload whose digest is found while writing.
    pub fn writer(&self) -> Writer {
        Writer::new(Arc::clone(&self.shared), true)
    }

    /// Begins a payload whose digest the caller computes anyway (a signature's, say): see [`Writer::finish_as`].
    pub fn writer_unhashed(&self) -> Writer {
        Writer::new(Arc::clone(&self.shared), false)
    }

    /// Opens a payload for reading.
    pub fn read(&self, digest: Digest) -> Result<Reader, PayloadError> {
        Reader::open(&self.shared.path(digest), digest)
    }

    /// Whether the payload is here.
    pub fn exists(&self, digest: Digest) -> Result<bool, PayloadError> {
        let path = self.shared.path(digest);
        path.try_exists().map_err(PayloadError::io("look for", &path))
    }

    /// Removes a payload that no row names any more, unless it was stored again within `untouched_for`: a message with
    /// the same octets may be about to be committed. `false` if it stays or was not there.
    pub fn remove(&self, digest: Digest, untouched_for: Duration) -> Result<bool, PayloadError> {
        let path = self.shared.path(digest);
        let _naming = self.shared.holds();
        let stored = match fs::metadata(&path).and_then(|found| found.modified()) {
            Ok(stored) => stored,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(PayloadError::io("look at", &path)(error)),
        };
        // A time ahead of the clock is no proof of age.
        if stored.elapsed().is_ok_and(|age| age >= untouched_for) {
            fs::remove_file(&path).map_err(PayloadError::io("remove", &path))?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Octets that may still be written before the reserve is touched.
    pub fn free_space(&self) -> Result<u64, PayloadError> {
        self.shared.free_space()
    }

    /// Writes, syncs and removes a few octets: whether payloads could be stored now (readiness, FR-129).
    pub fn probe(&self) -> Result<(), PayloadError> {
        self.shared.check_space()?;
        let mut file = self.shared.incoming()?;
        io::Write::write_all(&mut file, b"probe").map_err(PayloadError::io("write", file.path()))?;
        file.as_file().sync_data().map_err(PayloadError::io("sync", file.path()))
    }
}

fn lock(dir: &Path) -> Result<File, PayloadError> {
    let path = dir.join(".lock");
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let lock = opened.map_err(PayloadError::io("open", &path))?;
    match FileExt::try_lock_exclusive(&lock) {
        Ok(true) => Ok(lock),
        Ok(false) => Err(PayloadError::InUse { dir: dir.to_owned() }),
        Err(error) => Err(PayloadError::io("lock", &path)(error)),
    }
}

impl Shared {
    /// `ab/cdef…`
    pub(super) fn path(&self, digest: Digest) -> PathBuf {
        let name = digest.to_string();
        let (folder, file) = name.split_at(2);
        self.dir.join(folder).join(file)
    }

    /// A file that goes away by itself until it gets its name.
    pub(super) fn incoming(&self) -> Result<tempfile::NamedTempFile, PayloadError> {
        let folder = self.dir.join(INCOMING);
        tempfile::Builder::new()
            .prefix("")
            .suffix(".part")
            .rand_bytes(16)
            .tempfile_in(&folder)
            .map_err(PayloadError::io("make a file in", &folder))
    }

    pub(super) fn free_space(&self) -> Result<u64, PayloadError> {
        let free = fs4::available_space(&self.dir).map_err(PayloadError::io("ask for the free space of", &self.dir))?;
        Ok(free.saturating_sub(self.options.reserve))
    }

    pub(super) fn check_space(&self) -> Result<(), PayloadError> {
        if self.free_space()? == 0 { Err(PayloadError::NoSpace { dir: self.dir.clone() }) } else { Ok(()) }
    }

    /// Gives a synced file its name, durably. What has that name already is replaced by the same octets: its age
    /// begins anew, which protects it from [`PayloadStore::remove`]. The caller becomes a holder.
    pub(super) fn name(self: &Arc<Self>, file: tempfile::NamedTempFile, digest: Digest) -> Result<Hold, PayloadError> {
        let path = self.path(digest);
        let folder = path.parent().unwrap_or(&self.dir);
        match fs::create_dir(folder) {
            Ok(()) => sync_dir(&self.dir)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(PayloadError::io("make the folder", folder)(error)),
        }
        let hold = {
            let mut holds = self.holds();
            let there = path.exists();
            file.persist(&path).map_err(|failed| PayloadError::io("rename to", &path)(failed.error))?;
            holds.hold(digest, there);
            Hold::new(Arc::clone(self), digest)
        };
        sync_dir(folder)?;
        Ok(hold)
    }

    /// Who holds which file, for as long as nothing is named or removed.
    pub(super) fn holds(&self) -> MutexGuard<'_, Holds> {
        self.naming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes names in a folder durable.
fn sync_dir(dir: &Path) -> Result<(), PayloadError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(PayloadError::io("sync the folder", dir))
}
