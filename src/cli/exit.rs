//! Exit codes: public, and never renumbered.

/// Done; the answer is yes.
pub const OK: u8 = 0;
/// Ran well, and the answer is no: nothing found, `check` found errors, evidence does not verify.
pub const NO: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// The configuration or a P-Mode is invalid.
pub const CONFIG: u8 = 3;
/// No gateway, database or partner is there.
pub const UNREACHABLE: u8 = 4;
/// Not authorised.
pub const DENIED: u8 = 5;
/// The state does not allow it.
pub const CONFLICT: u8 = 6;
/// `--wait` ran out.
pub const TIMEOUT: u8 = 7;
/// The partner or the gateway refused the message; its code is on standard error.
pub const REJECTED: u8 = 8;
/// A fault of Postrider itself; standard error says what to attach to a report.
pub const BUG: u8 = 70;
