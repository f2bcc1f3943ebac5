//! A folder as producer: files that appear in it are submitted.
//!
//! A file is taken when it has not changed for a while, is moved to `.taken/` and submitted under a key made of its
//! name and content; then it moves to `sent/`, or to `refused/` with a `.reason.txt` beside it. A crash between any two
//! of these steps submits the same content under the same key again: that is the same message.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const TAKEN: &str = ".taken";

/// A file that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Where it is now.
    pub path: PathBuf,
    /// Its name when it appeared.
    pub name: String,
}

/// Takes what is ready: files of an earlier run first, then those that have settled. Blocking.
pub fn take(dir: &Path, settle: Duration, now: SystemTime) -> io::Result<Vec<Taken>> {
    let taken = dir.join(TAKEN);
    fs::create_dir_all(&taken)?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let metadata = entry.metadata()?;
        if !metadata.is_file() || name.to_string_lossy().starts_with('.') {
            continue;
        }
        let still = now.duration_since(metadata.modified()?).unwrap_or_default();
        let target = taken.join(name);
        // A file of that name that is not submitted yet is not written over: the new one waits.
        if still >= settle && !target.exists() {
            fs::rename(entry.path(), target)?;
        }
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(&taken)? {
        let entry = entry?;
        if entry.metadata()?.is_file() {
            all.push(Taken { path: entry.path(), name: entry.file_name().to_string_lossy().into_owned() });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// Puts a submitted file away.
pub fn sent(dir: &Path, taken: &Taken) -> io::Result<()> {
    put(dir, "sent", taken).map(drop)
}

/// Puts a refused file away, with the reason beside it.
pub fn refused(dir: &Path, taken: &Taken, reason: &str) -> io::Result<()> {
    let path = put(dir, "refused", taken)?;
    let mut beside = path.into_os_string();
    beside.push(".reason.txt");
    fs::write(beside, format!("{reason}\n"))
}

/// Moves into a subfolder; a name that stands there already gets a number.
fn put(dir: &Path, folder: &str, taken: &Taken) -> io::Result<PathBuf> {
    let folder = dir.join(folder);
    fs::create_dir_all(&folder)?;
    let mut target = folder.join(&taken.name);
    let mut number = 1;
    while target.exists() {
        number += 1;
        target = folder.join(format!("{number}-{}", taken.name));
    }
    fs::rename(&taken.path, &target)?;
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_once_settled_and_put_away() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.xml"), "a").unwrap();
        fs::write(dir.path().join(".hidden"), "h").unwrap();
        let now = SystemTime::now();
        assert_eq!(take(dir.path(), Duration::from_mins(1), now).unwrap(), []);
        let later = now + Duration::from_secs(61);
        let taken = take(dir.path(), Duration::from_mins(1), later).unwrap();
        assert_eq!(taken.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["a.xml"]);
        assert_eq!(take(dir.path(), Duration::from_mins(1), later).unwrap(), taken, "a crash takes it again");
        refused(dir.path(), &taken[0], "no P-Mode").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("refused/a.xml.reason.txt")).unwrap(), "no P-Mode\n");
        assert_eq!(take(dir.path(), Duration::ZERO, later).unwrap(), []);
    }

    #[test]
    fn a_file_that_waits_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let later = SystemTime::now() + Duration::from_secs(1);
        fs::write(dir.path().join("a.xml"), "first").unwrap();
        let first = take(dir.path(), Duration::ZERO, later).unwrap();
        fs::write(dir.path().join("a.xml"), "second").unwrap();
        assert_eq!(take(dir.path(), Duration::ZERO, later).unwrap(), first);
        assert_eq!(fs::read_to_string(&first[0].path).unwrap(), "first");
        sent(dir.path(), &first[0]).unwrap();
        let second = take(dir.path(), Duration::ZERO, later).unwrap();
        assert_eq!(fs::read_to_string(&second[0].path).unwrap(), "second");
    }

    #[test]
    fn a_second_file_of_one_name_gets_a_number() {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            fs::write(dir.path().join("a.xml"), "a").unwrap();
            let taken = take(dir.path(), Duration::ZERO, SystemTime::now() + Duration::from_secs(1)).unwrap();
            sent(dir.path(), &taken[0]).unwrap();
        }
        assert!(dir.path().join("sent/a.xml").exists() && dir.path().join("sent/2-a.xml").exists());
    }
}
