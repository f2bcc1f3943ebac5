//! The P-Modes in force: loaded from a folder, all or none, and swapped as one when files change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use time::OffsetDateTime;

use crate::pmode::{Files, PModeError, PModeSet};

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
    #[error("cannot read the P-Mode folder `{}`: {source}; set `[pmodes] dir`", dir.display())]
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
pub fn load(dir: &Path, now: OffsetDateTime) -> Result<PModeSet, AgreementsError> {
    let failed = |source| AgreementsError::Folder { dir: dir.to_owned(), source };
    let mut files = Vec::new();
    collect(dir, &mut files).map_err(failed)?;
    let profiles = dir.join("profiles");
    if profiles.is_dir() {
        collect(&profiles, &mut files).map_err(failed)?;
    }
    files.sort();
    PModeSet::load(&files, &FolderFiles, now).map_err(AgreementsError::PModes)
}

fn collect(dir: &Path, files: &mut Vec<(PathBuf, String)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "xml") && path.is_file() {
            let text =
                fs::read_to_string(&path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
            files.push((path, text));
        }
    }
    Ok(())
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
        Ok(Self { dir: dir.to_owned(), current: ArcSwap::from_pointee(load(dir, now)?) })
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
        let count = set.len();
        self.current.store(Arc::new(set));
        Ok(count)
    }
}
