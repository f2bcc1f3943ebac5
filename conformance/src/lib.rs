//! Black-box tools for AS4 gateways: a load generator with the cryptographic floor beside it, and a crash run that kills
//! two gateways while documents move between them.
//!
//! What they know of the gateway is its wire, its configuration files and its process; the verdicts rest on nothing else.
#![expect(clippy::cast_precision_loss, reason = "counts and octets become figures for people")]

pub mod agreement;
pub mod consumer;
pub mod crash;
pub mod hostile;
pub mod load;
pub mod site;
pub mod wire;
