//! Ring 2: what the process tells about itself.
//!
//! [`event`] is the one catalogue: a log line, a timeline entry and an alert are views of the same event. [`metrics`]
//! declares every number with its help text. [`log`] sends lines to standard error.

pub mod event;
pub mod log;
pub mod metrics;
