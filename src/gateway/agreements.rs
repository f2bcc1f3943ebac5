//! The P-Modes in force: loaded from a folder, all or none, and swapped as one when files change.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use time::OffsetDateTime;

use crate::pmode::{Files, PModeError, PModeSet, PinnedCertificate, Place, Problem};
use crate::trust::published;
use crate::wire::xml::encoding;

/// A P-Mode file is small.
const LARGEST: u64 = 4 << 20;

/// Reads the certificates that P-Modes name, relative to the P-Mode's file.
pub struct FolderFiles;

impl Files for FolderFiles {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|e| e.to_string())
    }
}

/// Why P-Modes are not loaded.
#[derive(Debug, thiserror::Error)]
pub enum AgreementsError {
    /// The folder itself.
    #[error("cannot read the P-Mode folder `{}`: {source}", dir.display())]
    Folder {
        /// The folder.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is in it.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    PModes(Vec<PModeError>),
}

/// Loads every `*.xml` of the folder and of its subfolder `profiles`, in the order of their names.
///
/// # Errors
/// When the folder cannot be read; or every fault of every file, those that cannot be read too.
pub fn load(dir: &Path, now: OffsetDateTime) -> Result<PModeSet, AgreementsError> {
    let failed = |source| AgreementsError::Folder { dir: dir.to_owned(), source };
    let mut paths = Vec::new();
    collect(dir, &mut paths).map_err(failed)?;
    let profiles = dir.join("profiles");
    if profiles.is_dir() {
        collect(&profiles, &mut paths).map_err(failed)?;
    }
    paths.sort();
    load_files(&paths, now).map_err(AgreementsError::PModes)
}

/// Loads files.
///
/// # Errors
/// Every fault of every file, those that cannot be read too.
pub fn load_files(paths: &[PathBuf], now: OffsetDateTime) -> Result<PModeSet, Vec<PModeError>> {
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for path in paths {
        match text(path) {
            Ok(text) => files.push((path.clone(), text)),
            Err(reason) => {
                let place = Place { file: path.as_path().into(), line: 1, column: 1 };
                unread.push(PModeError { place, problem: Problem::Xml(reason) });
            }
        }
    }
    let loaded = PModeSet::load(&files, &FolderFiles, now);
    if unread.is_empty() {
        return loaded;
    }
    unread.extend(loaded.err().into_iter().flatten());
    Err(unread)
}

/// The text of a P-Mode file, in whichever encoding XML has it.
fn text(path: &Path) -> Result<String, String> {
    let unreadable = |e: io::Error| format!("the file cannot be read: {e}; let the user that runs postrider read it");
    let about = fs::metadata(path).map_err(unreadable)?;
    if about.len() > LARGEST {
        return Err(format!("the file has more than {} MiB: it is no P-Mode; move it out of here", LARGEST >> 20));
    }
    let octets = fs::read(path).map_err(unreadable)?;
    encoding::decode(&octets, None).map(Cow::into_owned).map_err(|e| format!("{e}; save it as UTF-8"))
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        // What looks like a P-Mode and is none, such as a link that leads nowhere, is told: never passed over.
        if path.extension().is_some_and(|e| e == "xml") && !path.is_dir() {
            paths.push(path);
        }
    }
    Ok(())
}

/// Refuses certificates whose private key everybody has: whoever pins one takes anybody for that partner.
fn refuse_published(set: &PModeSet) -> Result<(), AgreementsError> {
    let refused = |pinned: &PinnedCertificate| {
        let reason = published(pinned.certificate.public_key())?;
        let problem = Problem::File { file: pinned.file.clone(), reason: format!("{reason}; get the partner's own") };
        Some(PModeError { place: pinned.place.clone(), problem })
    };
    let faults: Vec<_> = set.iter().flat_map(|pmode| pmode.certificates().filter_map(refused)).collect();
    if faults.is_empty() { Ok(()) } else { Err(AgreementsError::PModes(faults)) }
}

/// The set in force.
#[derive(Debug)]
pub struct Agreements {
    dir: PathBuf,
    current: ArcSwap<PModeSet>,
}

impl Agreements {
    /// Loads the folder for the first time.
    pub fn open(dir: &Path, now: OffsetDateTime) -> Result<Self, AgreementsError> {
        let set = load(dir, now)?;
        refuse_published(&set)?;
        Ok(Self { dir: dir.to_owned(), current: ArcSwap::from_pointee(set) })
    }

    /// The set in force; whoever holds it keeps it whole while it is replaced.
    pub fn current(&self) -> Arc<PModeSet> {
        self.current.load_full()
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Loads the folder again. On failure the old set stays in force.
    pub fn reload(&self, now: OffsetDateTime) -> Result<usize, AgreementsError> {
        let set = load(&self.dir, now)?;
        refuse_published(&set)?;
        let count = set.len();
        self.current.store(Arc::new(set));
        Ok(count)
    }
}
