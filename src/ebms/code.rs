//! The `EBMS:nnnn` table (ebMS3 Core §6.7, AS4 §3, Part 2).

/// `@severity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The message goes on.
    Warning,
    /// The message failed.
    Failure,
}

/// An error code as on the wire, known or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Code(pub String);
