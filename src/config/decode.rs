//! The tree as a serde source. It resolves paths against the file that names them, and reads the numbers, switches and
//! comma-separated lists that the environment can only give as text.

use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserializer, Error, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::fault::DecodeFault;
use super::path::FilePath;
use super::secret::StoreUrl;
use super::tree::{Node, Origin, Value};

/// A node to decode, with the folder that defaults are relative to.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) node: &'a Node,
    pub(super) base: &'a Path,
}

impl<'a> Source<'a> {
    fn untyped(self) -> Option<&'a str> {
        match (&self.node.value, &self.node.origin) {
            (Value::Text(text), Origin::Environment(_) | Origin::Flag(_)) => Some(text.trim()),
            _ => None,
        }
    }

    /// Paths in files are relative to the file, defaults to the main file, those of the command line to where it runs.
    fn resolve(self, path: &str) -> std::path::PathBuf {
        match &self.node.origin {
            Origin::Default => self.base.join(path),
            Origin::File { file, .. } => file.parent().unwrap_or(Path::new("")).join(path),
            Origin::Environment(_) | Origin::Flag(_) => path.into(),
        }
    }

    fn path(self) -> Result<std::path::PathBuf, DecodeFault> {
        match &self.node.value {
            Value::Text(path) if path.is_empty() => Err(DecodeFault::custom("the path is empty")),
            Value::Text(path) => Ok(self.resolve(path)),
            Value::Table(table) if table.len() == 1 => match table.get("file") {
                Some(node) => Self { node, base: self.base }.path(),
                None => Err(DecodeFault::custom("a path is expected: write \"…\" or { file = \"…\" }")),
            },
            _ => Err(DecodeFault::custom("a path is expected: write \"…\" or { file = \"…\" }")),
        }
    }

    fn number<T: std::str::FromStr>(self) -> Option<T> {
        self.untyped()?.parse().ok()
    }
}

impl<'de> IntoDeserializer<'de, DecodeFault> for Source<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Numbers are read out of untyped text where a number is asked for.
macro_rules! numbers {
    ($($method:ident $visit:ident $number:ty,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeFault> {
            match self.number::<$number>() {
                Some(n) => visitor.$visit(n),
                None => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Source<'de> {
    type Error = DecodeFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeFault> {
        let base = self.base;
        match &self.node.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(n) => visitor.visit_i64(*n),
            Value::Float(n) => visitor.visit_f64(*n),
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::List(list) => visitor.visit_seq(SeqDeserializer::new(list.iter().map(|node| Source { node, base }))),
            Value::Table(table) => visitor
                .visit_map(MapDeserializer::new(table.iter().map(|(key, node)| (key.as_str(), Source { node, base })))),
        }
    }

    numbers! {
        deserialize_bool visit_bool bool,
        deserialize_i64 visit_i64 i64,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeFault> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeFault> {
        match self.untyped() {
            Some(text) => {
                let origin = &self.node.origin;
                let items: Vec<Node> = text
                    .split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty())
                    .map(|item| Node { value: Value::Text(item.to_owned()), origin: origin.clone() })
                    .collect();
                visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Owned)))
            }
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeFault> {
        match (name, &self.node.value) {
            (FilePath::NAME, _) => visitor.visit_byte_buf(self.path()?.into_os_string().into_vec()),
            (StoreUrl::NAME, Value::Text(url)) => match url.strip_prefix("sqlite:") {
                Some(path) if !path.starts_with('/') && !path.is_empty() => {
                    visitor.visit_str(&format!("sqlite:{}", self.resolve(path).display()))
                }
                _ => visitor.visit_str(url),
            },
            (StoreUrl::NAME, _) => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeFault> {
        match &self.node.value {
            Value::Text(text) => visitor.visit_enum(IntoDeserializer::<DecodeFault>::into_deserializer(text.as_str())),
            _ => Err(DecodeFault::custom("a word is expected: write it in quotes")),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// An item of a list that was written as text.
struct Owned(Node);

impl IntoDeserializer<'_, DecodeFault> for Owned {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> de::Deserializer<'de> for Owned {
    type Error = DecodeFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeFault> {
        match self.0.value {
            Value::Text(text) => visitor.visit_string(text),
            _ => Err(DecodeFault::custom("a text is expected")),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeFault> {
        if name == FilePath::NAME {
            let path = Source { node: &self.0, base: Path::new("") }.path()?;
            return visitor.visit_byte_buf(path.into_os_string().into_vec());
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeFault> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}
