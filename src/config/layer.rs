//! One layer of the configuration, as text, and how it becomes a tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::de::DeTable;

use super::fault::Problem;
use super::tree::{Node, Origin, Value, from_toml};

/// A layer, as it was read.
#[derive(Clone, Debug)]
pub enum Layer {
    /// A TOML file.
    File {
        /// How it is named; relative paths in it are relative to its folder.
        path: PathBuf,
        /// What it holds.
        text: String,
    },
    /// Environment variables: name and value.
    Environment(Vec<(String, String)>),
    /// `--set key=value`: key with dots, and value.
    Flags(Vec<(String, String)>),
}

impl Layer {
    /// The layer as a tree, and what is wrong with its syntax.
    pub(super) fn tree(&self) -> (Node, Vec<Problem>) {
        match self {
            Self::File { path, text } => file_tree(path, text),
            Self::Environment(variables) => pairs_tree(variables.iter().filter_map(|(name, value)| {
                let path = name.strip_prefix(super::load::ENV_PREFIX)?;
                let steps = path.split("__").map(str::to_lowercase).collect();
                Some((steps, value.clone(), Origin::Environment(name.clone())))
            })),
            Self::Flags(flags) => pairs_tree(flags.iter().map(|(key, value)| {
                let steps = key.split('.').map(str::to_owned).collect();
                (steps, value.clone(), Origin::Flag(format!("--set {key}")))
            })),
        }
    }
}

fn file_tree(path: &Path, text: &str) -> (Node, Vec<Problem>) {
    let file: Arc<Path> = Arc::from(path);
    let origin = |at: usize| {
        let (line, column) = place(text, at);
        Origin::File { file: Arc::clone(&file), line, column }
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    let problems = errors
        .iter()
        .map(|e| Problem {
            origin: Some(origin(e.span().map_or(0, |s| s.start))),
            key: String::new(),
            message: format!("this is not TOML: {}", e.message()),
            remedy: Some("mend that line; `postrider generate config` shows every key in its form".to_owned()),
        })
        .collect();
    (Node { value: Value::Table(from_toml(table.get_ref(), &origin)), origin: origin(0) }, problems)
}

/// Line and column, from 1, of an octet.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    (line, before.get(line_start..).unwrap_or_default().chars().count() + 1)
}

fn pairs_tree(pairs: impl Iterator<Item = (Vec<String>, String, Origin)>) -> (Node, Vec<Problem>) {
    let mut root = Node::empty_table(Origin::Default);
    for (steps, value, origin) in pairs {
        let leaf = Node { value: Value::Text(value), origin };
        let nested = steps.into_iter().rev().fold(leaf, |inner, key| {
            let origin = inner.origin.clone();
            Node { value: Value::Table(BTreeMap::from([(key, inner)])), origin }
        });
        root.overlay(nested);
    }
    (root, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters() {
        let text = "a = 1\nö = \"ä\" # x\n";
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, text.find('=').unwrap()), (1, 3));
        assert_eq!(place(text, text.find('#').unwrap()), (2, 9));
    }
}
