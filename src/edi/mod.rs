//! Ring 0: what business documents say of themselves.

mod sbdh;

pub use sbdh::{Sbdh, SbdhError, Scope, Typed as SbdhIdentifier};
