//! The verdict, by what lies in the consumers' folders: each message once, octet for octet.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::documents::Document;

/// Deliveries of a consumer: the folders of each MessageId.
pub(super) fn deliveries(inbox: &Path) -> HashMap<String, Vec<PathBuf>> {
    let mut found: HashMap<String, Vec<PathBuf>> = HashMap::new();
    for entry in fs::read_dir(inbox).into_iter().flatten().flatten() {
        let path = entry.path();
        let text = fs::read_to_string(path.join("message.json")).unwrap_or_default();
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(id) = value["id"].as_str() {
            found.entry(id.to_owned()).or_default().push(path);
        }
    }
    found
}

/// Whether a folder holds exactly that document.
pub(super) fn holds(folder: &Path, document: &Document) -> bool {
    let payloads: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("part-"))
        .collect();
    matches!(payloads.as_slice(), [one] if fs::read(one.path()).is_ok_and(|octets| octets == document.octets))
}
