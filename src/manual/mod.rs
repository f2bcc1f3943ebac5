//! The manual: prose that is compiled with the code, so that its links are checked.
//!
//! Start with [`architecture`]; operators read [`operating`] and [`security`], partners' engineers [`pmodes`] and
//! [`protocol`].

#[doc = include_str!("architecture.md")]
pub mod architecture {}

#[doc = include_str!("operating.md")]
pub mod operating {}

#[doc = include_str!("pmodes.md")]
pub mod pmodes {}

#[doc = include_str!("protocol.md")]
pub mod protocol {}

#[doc = include_str!("security.md")]
pub mod security {}
