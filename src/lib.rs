//! Postrider: an AS4 / ebMS3 message service handler.

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
