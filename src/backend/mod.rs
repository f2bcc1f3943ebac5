//! Ring 2: producers and consumers: what business systems see of the gateway.
//!
//! A consumer is given each message at least once, with the same key every time; what makes that *once* is said by each
//! backend: a folder by the name of the delivery, a webhook by its `Idempotency-Key`.

mod delivery;
pub mod folder;
pub mod pickup;
pub mod webhook;

pub use delivery::{Delivery, DeliveryPart, OpenPart};
