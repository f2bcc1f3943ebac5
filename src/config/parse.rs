//! Layers in, [`Config`] out: pure.

use std::path::Path;

use serde_path_to_error::Segment;

use super::decode::Source;
use super::fault::{ConfigError, DecodeFault, Problem};
use super::layer::Layer;
use super::model::Config;
use super::secret::masked;
use super::tree::{Node, Origin, Step, Value};
use super::validate::validate;

/// The defaults: the weakest layer.
const DEFAULTS: &str = include_str!("default.toml");

/// Lists of tables at the top level that may be written as one table.
const LISTS: [&[&str]; 5] = [&["msh"], &["party"], &["folder"], &["backend"], &["admin", "token"]];

/// A configuration and where its values came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// Every value in effect, in order of its key.
    pub effective: Vec<Effective>,
}

impl Loaded {
    /// Where the value of a key such as `msh[0].listen` came from; of a table, its first value.
    #[must_use]
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        origin_of(&self.effective, key)
    }
}

fn origin_of<'a>(effective: &'a [Effective], key: &str) -> Option<&'a Origin> {
    let under =
        |e: &&Effective| e.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    effective.iter().find(under).map(|e| &e.origin)
}

/// One value in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The key, such as `msh[0].listen`.
    pub key: String,
    /// The value as TOML. Secrets are references, so this can be shown.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
}

/// Lays the layers over the defaults, weakest first, and reads the configuration out of them. `base` is the folder
/// that the defaults' paths are relative to. On failure every fault is in the error.
pub fn parse(base: &Path, layers: &[Layer]) -> Result<Loaded, ConfigError> {
    let mut problems = Vec::new();
    let (mut tree, each) = defaults();
    for layer in layers {
        let (over, faults) = layer.tree();
        problems.extend(faults);
        tree.overlay(over);
    }
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    complete_lists(&mut tree, &each);
    let effective = effective(&tree);
    let config = decode(tree, &each, base, &mut problems);
    if let Some(config) = &config {
        let origin = |key: &str| origin_of(&effective, key).cloned();
        problems.extend(validate(config, &origin));
    }
    problems.sort_by(|a, b| (&a.origin, &a.key).cmp(&(&b.origin, &b.key)));
    match config {
        Some(config) if problems.is_empty() => Ok(Loaded { config, effective }),
        _ => Err(ConfigError { problems }),
    }
}

/// The default tree, and the defaults of each list's elements.
fn defaults() -> (Node, Node) {
    let layer = Layer::File { path: "default".into(), text: DEFAULTS.to_owned() };
    let (mut tree, faults) = layer.tree();
    debug_assert!(faults.is_empty(), "the defaults are TOML: {faults:?}");
    set_origin(&mut tree, &Origin::Default);
    let each = tree.remove(&[key("each")]).unwrap_or(Node::empty_table(Origin::Default));
    (tree, each)
}

fn key(name: &str) -> Step {
    Step::Key(name.to_owned())
}

fn set_origin(node: &mut Node, origin: &Origin) {
    node.origin = origin.clone();
    match &mut node.value {
        Value::List(list) => list.iter_mut().for_each(|n| set_origin(n, origin)),
        Value::Table(table) => table.values_mut().for_each(|n| set_origin(n, origin)),
        _ => {}
    }
}

/// Makes a list of one out of a single table, adds the listener that is there when none is named, and lays every
/// element over its defaults.
fn complete_lists(tree: &mut Node, each: &Node) {
    if let Value::Table(root) = &mut tree.value {
        root.entry("msh".to_owned()).or_insert_with(|| Node::empty_table(Origin::Default));
    }
    for names in LISTS {
        let path: Vec<Step> = names.iter().copied().map(key).collect();
        let Some(node) = tree.at_mut(&path) else { continue };
        if let Value::Table(table) = &mut node.value {
            let table = std::mem::take(table);
            let origin = node.origin.clone();
            node.value = Value::List(if super::tree::is_indexed(&table) {
                table.into_values().collect()
            } else {
                vec![Node { value: Value::Table(table), origin }]
            });
        }
        let (Value::List(list), Some(default)) = (&mut node.value, each.at(&path)) else { continue };
        for element in list {
            let over = std::mem::replace(element, default.clone());
            let origin = over.origin.clone();
            element.overlay(over);
            element.origin = origin;
        }
    }
}

/// Decodes the tree. After a fault the value gives way to its default and decoding goes on, so that one run tells all.
fn decode(mut tree: Node, each: &Node, base: &Path, problems: &mut Vec<Problem>) -> Option<Config> {
    let (fallback, _) = defaults();
    let mut gone: Vec<Vec<Step>> = Vec::new();
    loop {
        let source = Source { node: &tree, base };
        let error = match serde_path_to_error::deserialize::<_, Config>(source) {
            Ok(config) => return Some(config),
            Err(error) => error,
        };
        let mut path = steps(error.path());
        let fault: DecodeFault = error.into_inner();
        // A missing field stands under the table that lacks it, and has no node of its own.
        if let Some(field) = fault.missing
            && path.last() == Some(&key(field))
            && tree.at(&path).is_none()
        {
            path.pop();
        }
        let follows = fault.missing.is_some_and(|field| {
            let mut missing = path.clone();
            missing.push(key(field));
            gone.contains(&missing)
        });
        if !follows {
            let origin = tree.at(&path).map(|node| node.origin.clone());
            problems.push(Problem { origin, key: written(&path), message: fault.message, remedy: fault.remedy });
        }
        if path.is_empty() || gone.contains(&path) {
            return None;
        }
        give_way(&mut tree, &path, &fallback, each);
        gone.push(path);
    }
}

/// Puts the default in the place of a value that could not be read, or nothing.
fn give_way(tree: &mut Node, path: &[Step], fallback: &Node, each: &Node) {
    let default = match path {
        [Step::Key(list), Step::Index(_), rest @ ..] if !rest.is_empty() => {
            let inner: Vec<Step> = std::iter::once(key(list)).chain(rest.iter().cloned()).collect();
            each.at(&inner)
        }
        _ => fallback.at(path),
    };
    match (default, tree.at_mut(path)) {
        (Some(default), Some(node)) => *node = default.clone(),
        _ => drop(tree.remove(path)),
    }
}

fn steps(path: &serde_path_to_error::Path) -> Vec<Step> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

/// A path as people write it: `msh[0].listen`.
fn written(path: &[Step]) -> String {
    path.iter().fold(String::new(), |mut text, step| {
        match step {
            Step::Index(n) => {
                text.push('[');
                text.push_str(&n.to_string());
                text.push(']');
            }
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
        }
        text
    })
}

fn effective(tree: &Node) -> Vec<Effective> {
    let mut all = Vec::new();
    collect(tree, &mut Vec::new(), &mut all);
    all
}

fn collect(node: &Node, path: &mut Vec<Step>, all: &mut Vec<Effective>) {
    match &node.value {
        Value::Table(table) => {
            for (name, inner) in table {
                path.push(key(name));
                collect(inner, path, all);
                path.pop();
            }
        }
        Value::List(list) if list.iter().any(|n| matches!(n.value, Value::Table(_))) => {
            for (n, inner) in list.iter().enumerate() {
                path.push(Step::Index(n));
                collect(inner, path, all);
                path.pop();
            }
        }
        value => all.push(Effective { key: written(path), value: toml_text(value), origin: node.origin.clone() }),
    }
}

fn toml_text(value: &Value) -> String {
    match value {
        Value::Text(text) => toml::Value::String(masked(text).into_owned()).to_string(),
        Value::Integer(n) => n.to_string(),
        Value::Float(n) => toml::Value::Float(*n).to_string(),
        Value::Boolean(b) => b.to_string(),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(|n| toml_text(&n.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(_) => "{}".to_owned(),
    }
}
