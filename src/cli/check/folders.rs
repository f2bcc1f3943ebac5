//! Folders that must be there, writable, and with room. Nothing is written to find out.

use std::path::Path;

use rustix::fs::Access;

use super::{Context, Finding, Severity};
use crate::config::BackendKind;
use crate::store::payload::PayloadOptions;

/// Below this share of the disk, in per cent, free space is worth a word.
const LOW: u64 = 10;

/// The data folder, and those of producers and consumers.
pub(super) fn folders(context: &Context<'_>) -> Vec<Finding> {
    let config = &context.loaded.config;
    let mut found = Vec::new();
    let mut look = |key: &str, what: &str, path: &Path, made: bool| {
        if let Some((wrong, next)) = unusable(path, made) {
            let message = format!("{what} {}: {wrong}", path.display());
            found.push(Finding::at(Severity::Error, context.loaded, key, message).next(next));
        }
    };
    // What does not exist yet is made when serving begins, in a folder that does.
    look("data.dir", "the data folder", &config.data.dir, true);
    for (n, folder) in config.folder.iter().enumerate() {
        look(&format!("folder[{n}].watch"), "the watched folder", &folder.watch, false);
    }
    for (n, backend) in config.backend.iter().enumerate() {
        let BackendKind::Folder { dir } = &backend.kind else { continue };
        look(&format!("backend[{n}].dir"), &format!("the folder of backend `{}`", backend.name), dir, true);
    }
    found
}

/// Why a folder cannot be written into, and what to do. `made` when it is made on demand.
fn unusable(path: &Path, made: bool) -> Option<(String, String)> {
    let shown = path.display();
    if path.is_dir() {
        return writable(path).map(|why| (format!("it cannot be written: {why}"), format!("chown postrider {shown}")));
    }
    if path.symlink_metadata().is_ok() {
        return Some(("it is a file, not a folder".to_owned(), format!("name another folder, or move {shown} away")));
    }
    if !made {
        return Some(("it is not there".to_owned(), format!("mkdir -p {shown}")));
    }
    let Some(above) = path.ancestors().skip(1).map(here).find(|above| above.exists()) else {
        return Some(("no folder above it is there".to_owned(), format!("mkdir -p {shown}")));
    };
    if !above.is_dir() {
        return Some((format!("{} is a file, not a folder", above.display()), "name another folder".to_owned()));
    }
    let why = writable(above)?;
    Some((format!("it cannot be made, for {} cannot be written: {why}", above.display()), format!("mkdir -p {shown}")))
}

/// The empty path is the working directory.
fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn writable(folder: &Path) -> Option<std::io::Error> {
    rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).err().map(Into::into)
}

/// Room for payloads, beyond what is kept free for the database.
pub(super) fn room(context: &Context<'_>) -> Vec<Finding> {
    let dir = &context.loaded.config.data.dir;
    let Some(there) = dir.ancestors().map(here).find(|path| path.is_dir()) else { return Vec::new() };
    let (Ok(free), Ok(total)) = (fs4::available_space(there), fs4::total_space(there)) else { return Vec::new() };
    scarce(free, total, PayloadOptions::default().reserve)
        .map(|(severity, message)| {
            let message = format!("{message} on the disk of the data folder {}", dir.display());
            let next = "free some, or move [data] dir to a larger disk";
            Finding::at(severity, context.loaded, "data.dir", message).next(next)
        })
        .into_iter()
        .collect()
}

fn scarce(free: u64, total: u64, reserve: u64) -> Option<(Severity, String)> {
    let mib = |octets: u64| format!("{} MiB", octets >> 20);
    if free <= reserve {
        let what = format!("{} are free, and {} are kept free: every message is refused", mib(free), mib(reserve));
        return Some((Severity::Error, what));
    }
    let low = free.saturating_mul(100) < total.saturating_mul(LOW);
    low.then(|| (Severity::Warning, format!("{} of {} are free, less than {LOW} %", mib(free), mib(total))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_judged_by_the_reserve_and_by_share() {
        let reserve = 64 << 20;
        assert!(matches!(scarce(reserve, 1 << 40, reserve), Some((Severity::Error, _))));
        assert!(matches!(scarce(1 << 30, 1 << 40, reserve), Some((Severity::Warning, _))));
        assert_eq!(scarce(1 << 39, 1 << 40, reserve), None);
    }

    #[test]
    fn a_folder_is_there_or_can_be_made() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(unusable(dir.path(), false), None);
        assert_eq!(unusable(&dir.path().join("a/b"), true), None);
        assert!(unusable(&dir.path().join("a"), false).unwrap().0.contains("not there"));
        assert!(unusable(&file, true).unwrap().0.contains("is a file"));
        assert!(unusable(&file.join("a"), true).unwrap().0.contains("is a file"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was made");
    }
}
