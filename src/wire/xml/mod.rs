//! XML: limits, names, a namespace-aware tree, canonical escapes.

pub mod c14n;
pub mod c14n_stream;
pub mod encoding;
mod limits;
pub mod names;
mod read;
mod tree;
pub mod write;

pub use limits::Limits;
pub use read::{Problem, XmlError, allowed, position};
pub(crate) use read::{attribute_value, checked, declaration_allowed, qualified};
pub use tree::{Attribute, Document, Element, Kind, Node, NodeData, NodeId};
