//! Folders that must be there.

use std::path::Path;

use super::{Context, Finding, Severity};
use crate::config::BackendKind;

/// The data folder, the P-Modes, and the folders of producers and consumers.
pub(super) fn folders(context: &Context<'_>) -> Vec<Finding> {
    let config = &context.loaded.config;
    let mut found = Vec::new();
    let mut missing = |severity, key: &str, what: &str, path: &Path| {
        let finding = Finding::at(severity, context.loaded, key, format!("{what} {} is not there", path.display()));
        found.push(finding.next(format!("mkdir -p {}", path.display())));
    };
    if !config.pmodes.dir.is_dir() {
        missing(Severity::Error, "pmodes.dir", "the P-Mode folder", &config.pmodes.dir);
    }
    // What does not exist yet is made when serving begins, in a folder that does.
    if !makeable(&config.data.dir) {
        missing(Severity::Error, "data.dir", "the folder above the data folder", &config.data.dir);
    }
    for (n, folder) in config.folder.iter().enumerate() {
        if !folder.watch.is_dir() {
            missing(Severity::Error, &format!("folder[{n}].watch"), "the watched folder", &folder.watch);
        }
    }
    for (n, backend) in config.backend.iter().enumerate() {
        let BackendKind::Folder { dir } = &backend.kind else { continue };
        if !makeable(dir) {
            missing(Severity::Error, &format!("backend[{n}].dir"), "the folder above the backend's", dir);
        }
    }
    found
}

fn makeable(path: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.is_dir() || (!path.exists() && parent.is_dir())
}
