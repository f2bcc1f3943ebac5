//! Postrider: an AS4 / ebMS3 message service handler (MSH).
//!
//! It sends and receives business documents between organisations, and promises **one business effect for one message**,
//! whatever crashes, repeats or gets lost in between.
//!
//! - *Transactional Inbox*: the message key is inserted in the same transaction as its effect ([`store::inbox`]). A
//!   repeat is answered with the stored receipt and does nothing.
//! - *Idempotent Sender*: a stable key is stored with a payload hash before any attempt ([`store::sender_log`]). Every
//!   retry, on any node, after any crash, carries the same id and the same signature.
//!
//! # The two journeys
//!
//! Incoming: [`transport::listen`] → [`wire`] → [`msh::open`] → [`msh::judge`] → [`store::payload`] → [`msh::reply`] →
//! [`store::inbox`] → answer → [`gateway::deliver`]. Read [`gateway::receive`].
//!
//! Outgoing: [`api`] → [`gateway::submit`] → [`store::sender_log`] → [`gateway::send`] → [`msh::package`] →
//! [`transport::post`] → [`msh::conclude`] → [`store::sender_log`].
//!
//! # The rings
//!
//! Imports point inwards; rings 0 and 1 do no I/O, read no clock and draw no ids.
//!
//! ```text
//! ring 4  faces      api · cli
//! ring 3  journeys   gateway
//! ring 2  adapters   store · transport · trust · backend · config · telemetry
//! ring 1  decisions  msh
//! ring 0  formats    wire · ebms · pmode · wss · edi
//! ```
//!
//! The whole map, with both walks step by step, is [`manual::architecture`].

pub mod manual;

pub mod ebms;
pub mod edi;
pub mod pmode;
pub mod wire;
pub mod wss;

pub mod msh;

pub mod backend;
pub mod config;
pub mod store;
pub mod telemetry;
pub mod transport;
pub mod trust;

pub mod gateway;

pub mod api;
pub mod cli;
