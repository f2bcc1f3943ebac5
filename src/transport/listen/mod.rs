//! Taking requests in.
//!
//! ```text
//! listener    accepts, within the slots
//!   wire      screens each head (framing), counts each body, times both, lets early answers be read
//!     hyper   HTTP/1
//!       connection   the listener's own rules, then the Endpoint
//! ```

mod connection;
mod drain;
mod exchange;
mod framing;
mod listener;
mod proxy;
mod rules;
mod slots;
mod wire;

pub use exchange::{Answer, Endpoint, Exchange, Refusal, RequestHead};
pub use framing::HeadFault;
pub use listener::{ListenError, ListenOptions, Listener};
pub use proxy::ProxyTrust;

#[cfg(test)]
mod tests;
