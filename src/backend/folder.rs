//! A folder as consumer: one folder a message, which appears under its name only when it is complete (FR-128).
//!
//! ```text
//! in/2f6c…e1/message.json
//! in/2f6c…e1/part-1.xml
//! ```
//!
//! The folder's name is the delivery key. Where it stands already, the message was delivered before: nothing is done.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::delivery::Delivery;

/// Where unfinished deliveries are written; a leading dot hides it from those who list the folder.
const UNFINISHED: &str = ".unfinished";

/// Why a delivery to a folder failed; it is tried again.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}; check that the folder exists, has room and may be written", path.display())]
pub struct FolderError {
    path: PathBuf,
    source: io::Error,
}

/// Whether this call delivered, or found that an earlier one had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The folder is there now.
    Now,
    /// The folder was there before.
    Before,
}

/// Writes a message below `dir`. Blocking.
pub fn deliver(dir: &Path, delivery: &Delivery) -> Result<Written, FolderError> {
    let target = dir.join(&delivery.key);
    if target.exists() {
        return Ok(Written::Before);
    }
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| FolderError { path, source }
    };
    let unfinished = dir.join(UNFINISHED).join(&delivery.key);
    // What a crash left behind is written anew.
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(at(&unfinished))?;
    }
    fs::create_dir_all(&unfinished).map_err(at(&unfinished))?;
    for part in &delivery.parts {
        let path = unfinished.join(&part.name);
        write(&path, |file| io::copy(&mut (part.open)()?, file).map(drop)).map_err(at(&path))?;
    }
    let path = unfinished.join("message.json");
    let json = serde_json::to_vec_pretty(&delivery.message).map_err(io::Error::other).map_err(at(&path))?;
    write(&path, |file| file.write_all(&json)).map_err(at(&path))?;
    sync(&unfinished).map_err(at(&unfinished))?;
    match fs::rename(&unfinished, &target) {
        Ok(()) => sync(dir).map_err(at(dir)).map(|()| Written::Now),
        // Another worker, or the same one before a crash, was first.
        Err(_) if target.exists() => fs::remove_dir_all(&unfinished).map_err(at(&unfinished)).map(|()| Written::Before),
        Err(source) => Err(FolderError { path: target, source }),
    }
}

fn write(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::create(path)?;
    fill(&mut file)?;
    file.sync_all()
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{DeliveryPart, OpenPart};

    fn delivery(content: &'static [u8]) -> Delivery {
        let open: OpenPart = Box::new(move || Ok(Box::new(content)));
        let part = DeliveryPart { name: "part-1.xml".into(), media_type: "application/xml".into(), size: 3, open };
        Delivery {
            key: "2f6c".into(),
            message_id: "m@x".into(),
            message: serde_json::json!({"id": "m@x"}),
            parts: vec![part],
        }
    }

    #[test]
    fn a_message_appears_whole_and_once() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(deliver(dir.path(), &delivery(b"one")).unwrap(), Written::Now);
        assert_eq!(deliver(dir.path(), &delivery(b"two")).unwrap(), Written::Before);
        assert_eq!(fs::read(dir.path().join("2f6c/part-1.xml")).unwrap(), b"one");
        let visible: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(visible.iter().filter(|n| !n.to_string_lossy().starts_with('.')).count(), 1);
    }

    #[test]
    fn what_a_crash_left_is_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".unfinished/2f6c")).unwrap();
        fs::write(dir.path().join(".unfinished/2f6c/part-1.xml"), b"ha").unwrap();
        deliver(dir.path(), &delivery(b"one")).unwrap();
        assert_eq!(fs::read(dir.path().join("2f6c/part-1.xml")).unwrap(), b"one");
    }

    #[test]
    fn an_error_names_the_place() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), b"").unwrap();
        let error = deliver(&dir.path().join("file"), &delivery(b"one")).unwrap_err();
        assert!(error.to_string().starts_with("cannot write `") && error.to_string().contains("2f6c"));
    }
}
