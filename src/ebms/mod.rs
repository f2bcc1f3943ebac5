//! Ring 0: the ebMS3 header: model, reading, writing, error codes.

mod code;
mod model;

pub use code::{Code, Severity};
pub use model::*;
