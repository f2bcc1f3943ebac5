//! What a consumer got: the folder backend's deliveries.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

/// One delivery.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// `message.json`.
    pub message: Value,
    /// File name and content of each part, in order.
    pub parts: Vec<(String, Vec<u8>)>,
}

impl Delivery {
    /// A message property.
    pub(crate) fn property(&self, name: &str) -> Option<&str> {
        let all = self.message["header"]["properties"].as_array()?;
        all.iter().find(|p| p["name"] == name)?["value"].as_str()
    }

    /// The content of a part, counted from one.
    pub(crate) fn part(&self, number: usize) -> &[u8] {
        &self.parts[number - 1].1
    }
}

/// The folder, and what the test has looked at.
pub(crate) struct Inbox {
    dir: PathBuf,
    taken: Mutex<BTreeSet<String>>,
}

impl Inbox {
    /// The folder of a backend.
    pub(crate) fn new(dir: PathBuf) -> Self {
        fs::create_dir_all(&dir).expect("the inbox can be made");
        Self { dir, taken: Mutex::default() }
    }

    fn all(&self) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir).expect("the inbox is a folder").filter_map(Result::ok) {
            let key = entry.file_name().to_string_lossy().into_owned();
            if key.starts_with('.') {
                continue;
            }
            let json = fs::read(entry.path().join("message.json")).expect("a delivery is complete when it is seen");
            found.push((key, serde_json::from_slice(&json).expect("message.json is JSON")));
        }
        found
    }

    /// How many deliveries there are of a message. They count as looked at.
    pub(crate) fn count(&self, id: &str) -> usize {
        let found: Vec<_> = self.all().into_iter().filter(|(_, message)| message["id"] == id).collect();
        let mut taken = self.taken.lock().expect("no test panicked in here");
        taken.extend(found.iter().map(|(key, _)| key.clone()));
        found.len()
    }

    /// Waits for the one delivery of a message.
    pub(crate) fn take(&self, id: &str) -> Delivery {
        super::wait(&format!("a delivery of {id}"), Duration::from_secs(20), || (self.count(id) > 0).then_some(()));
        assert_eq!(self.count(id), 1, "{id} is delivered once");
        let (key, message) = self.all().into_iter().find(|(_, m)| m["id"] == id).expect("it is there");
        let names = message["payloads"].as_array().expect("payloads are listed").iter();
        let parts = names.map(|p| p["name"].as_str().expect("a part has a name").to_owned()).map(|name| {
            let content = fs::read(self.dir.join(&key).join(&name)).expect("a listed part is there");
            (name, content)
        });
        Delivery { parts: parts.collect(), message }
    }

    /// Every delivery that no test has looked at, by message id.
    pub(crate) fn untaken(&self) -> Vec<String> {
        let taken = self.taken.lock().expect("no test panicked in here").clone();
        let new = self.all().into_iter().filter(|(key, _)| !taken.contains(key));
        new.map(|(_, message)| message["id"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Files of the whole folder tree, relative.
    pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for entry in fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() { files.extend(Self::files(&path)) } else { files.push(path) }
        }
        files
    }
}
