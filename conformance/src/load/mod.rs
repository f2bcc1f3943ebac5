//! The load generator.

mod floor;

pub use floor::Floor;
