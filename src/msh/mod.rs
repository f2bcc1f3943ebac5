//! Ring 1: the MSH decides, and performs nothing.

pub mod reliability;
