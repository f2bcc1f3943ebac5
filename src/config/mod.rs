//! Ring 2: `postrider.toml`.
//!
//! Layers, weakest first: the defaults (a TOML text too), `postrider.toml`, `postrider.d/*.toml` in order of name, the
//! environment (`POSTRIDER__SECTION__KEY`), flags. The layers are laid over each other as one tree in which every value
//! remembers where it came from; the tree then becomes a [`Config`]. Every fault is reported at once, with its file,
//! line and remedy. [`parse`] is pure; [`load`] reads files and the environment.

mod decode;
mod fault;
mod layer;
mod load;
mod model;
mod parse;
mod path;
mod print;
mod secret;
mod tree;
mod unit;
mod validate;

pub use fault::{ConfigError, Problem, nearest};
pub use layer::Layer;
pub use load::{ENV_PREFIX, load};
pub use model::*;
pub use parse::{Effective, Loaded, parse};
pub use path::FilePath;
pub use print::{DEFAULT_FILE, default_file};
pub use secret::{Secret, SecretError, SecretText, StoreUrl};
pub use tree::Origin;

#[cfg(test)]
mod tests;
