//! Ring 0: P-Modes: what two partners agreed.

mod model;

pub use model::*;
