//! Inputs that made other gateways fail, and attacks, replayed byte for byte. What is right for each stands in
//! `tests/fixtures/cases/expected.toml`; what Postrider cannot do yet, in `conformance/exceptions.toml`.

mod answers;
mod documents;
mod expected;
mod requests;
