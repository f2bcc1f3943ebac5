//! Sending requests out.
