//! The tree that the layers are laid into: TOML values, each with the place it came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Built in.
    Default,
    /// A file.
    File {
        /// The file, as it was named.
        file: Arc<Path>,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A flag of the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line, column } => write!(f, "{}:{line}:{column}", file.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// A value with its origin.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// A TOML value. Text from the environment and from flags is untyped: the decoder reads numbers and lists out of it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<Node>),
    Table(BTreeMap<String, Node>),
}

/// One step of a path through the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl Node {
    pub(super) fn empty_table(origin: Origin) -> Self {
        Self { value: Value::Table(BTreeMap::new()), origin }
    }

    /// The node at the end of a path.
    pub(super) fn at(&self, path: &[Step]) -> Option<&Self> {
        path.iter().try_fold(self, |node, step| match (&node.value, step) {
            (Value::Table(table), Step::Key(key)) => table.get(key),
            (Value::List(list), Step::Index(n)) => list.get(*n),
            _ => None,
        })
    }

    /// The node at the end of a path, to change it.
    pub(super) fn at_mut(&mut self, path: &[Step]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, step| match (&mut node.value, step) {
            (Value::Table(table), Step::Key(key)) => table.get_mut(key),
            (Value::List(list), Step::Index(n)) => list.get_mut(*n),
            _ => None,
        })
    }

    /// Takes the node at the end of a path out of the tree.
    pub(super) fn remove(&mut self, path: &[Step]) -> Option<Self> {
        let (last, parents) = path.split_last()?;
        match (&mut self.at_mut(parents)?.value, last) {
            (Value::Table(table), Step::Key(key)) => table.remove(key),
            (Value::List(items), Step::Index(n)) if *n < items.len() => Some(items.remove(*n)),
            _ => None,
        }
    }

    /// `name` of a table.
    fn name(&self) -> Option<&str> {
        match &self.value {
            Value::Table(table) => match &table.get("name")?.value {
                Value::Text(name) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether this is `{ file = … }` and the like: replaced as a whole by a later layer.
    fn is_reference(&self) -> bool {
        matches!(&self.value, Value::Table(table)
            if !table.is_empty() && table.keys().all(|k| matches!(k.as_str(), "file" | "env" | "credential")))
    }

    /// Lays a stronger layer over this one.
    ///
    /// Tables are merged key by key. Lists of tables grow; an element whose `name` is there already is merged into it.
    /// A table over a list of one is merged with that one, and `{ "0" = … }` (from the environment) with the n-th.
    /// Everything else is replaced.
    pub(super) fn overlay(&mut self, over: Self) {
        if self.is_reference() && over.is_reference() {
            *self = over;
            return;
        }
        match (&mut self.value, over.value) {
            (Value::Table(below), Value::Table(above))
                if is_indexed(&above) && !below.is_empty() && !is_indexed(below) =>
            {
                let only = std::mem::replace(self, Self { value: Value::List(Vec::new()), origin: over.origin });
                let mut list = vec![only];
                overlay_indexed(&mut list, above);
                self.value = Value::List(list);
            }
            (Value::Table(below), Value::Table(above)) => {
                for (key, node) in above {
                    match below.get_mut(&key) {
                        Some(old) => old.overlay(node),
                        None => drop(below.insert(key, node)),
                    }
                }
            }
            (Value::List(below), Value::Table(above)) if is_indexed(&above) => overlay_indexed(below, above),
            (Value::List(below), Value::Table(above)) if is_tables(below) => match below.as_mut_slice() {
                [only] => only.overlay(Self { value: Value::Table(above), origin: over.origin }),
                _ => below.push(Self { value: Value::Table(above), origin: over.origin }),
            },
            (Value::Table(_), Value::List(above)) if is_tables(&above) => {
                let only = std::mem::replace(self, Self { value: Value::List(Vec::new()), origin: over.origin });
                let mut list = vec![only];
                overlay_named(&mut list, above);
                self.value = Value::List(list);
            }
            (Value::List(below), Value::List(above)) if is_tables(below) && is_tables(&above) => {
                overlay_named(below, above);
            }
            (_, value) => *self = Self { value, origin: over.origin },
        }
    }
}

fn is_tables(list: &[Node]) -> bool {
    !list.is_empty() && list.iter().all(|n| matches!(n.value, Value::Table(_)))
}

/// Whether every key of a table is a number.
pub(super) fn is_indexed(table: &BTreeMap<String, Node>) -> bool {
    !table.is_empty() && table.keys().all(|key| key.parse::<usize>().is_ok())
}

fn overlay_named(below: &mut Vec<Node>, above: Vec<Node>) {
    let known = below.len();
    for node in above {
        let same = below.iter_mut().take(known).find(|old| old.name().is_some() && old.name() == node.name());
        match same {
            Some(old) => old.overlay(node),
            None => below.push(node),
        }
    }
}

fn overlay_indexed(below: &mut Vec<Node>, above: BTreeMap<String, Node>) {
    let mut numbered: Vec<_> = above.into_iter().filter_map(|(k, n)| Some((k.parse::<usize>().ok()?, n))).collect();
    numbered.sort_by_key(|(n, _)| *n);
    for (n, node) in numbered {
        match below.get_mut(n) {
            Some(old) => old.overlay(node),
            None => below.push(node),
        }
    }
}

/// Turns a parsed TOML table into nodes.
pub(super) fn from_toml(table: &DeTable<'_>, origin: &dyn Fn(usize) -> Origin) -> BTreeMap<String, Node> {
    table
        .iter()
        .map(|(key, value)| {
            // The key's place is where a reader looks, for unknown keys and wrong values alike.
            let node = Node { value: value_from_toml(value, origin), origin: origin(key.span().start) };
            (key.get_ref().to_string(), node)
        })
        .collect()
}

fn value_from_toml(value: &Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> Origin) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => {
            i64::from_str_radix(n.as_str(), n.radix()).map_or(Value::Text(n.to_string()), Value::Integer)
        }
        DeValue::Float(n) => n.as_str().parse().map_or(Value::Text(n.to_string()), Value::Float),
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::Datetime(d) => Value::Text(d.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node { value: value_from_toml(item, origin), origin: origin(item.span().start) })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(from_toml(table, origin)),
    }
}
